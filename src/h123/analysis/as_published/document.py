"""Computes the `as_published` part of verdicts.json (docs/contracts/verdicts.md)."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.as_published import procedure
from h123.analysis.as_published.agreement import sound_comparison
from h123.analysis.as_published.bounds import bounds_of_cell
from h123.analysis.as_published.pooled import Floats, Pooled
from h123.analysis.as_published.printed_values import compare_with_printed
from h123.analysis.as_published.replications import replications
from h123.analysis.as_published.rows import (
    Agreement,
    AsPublished,
    FactorTest,
    Group,
    PooledSide,
    PublishedPair,
    PublishedRow,
    ReplicationsRow,
    Tests,
)
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import other_cells
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons
from h123.study import PRINTED, Plan, printed_values_of

Cell = dict[str, str]
Runs = dict[tuple[tuple[str, str], ...], list[Floats]]

STRATUM = "method"
"""The factor that the paper does not test. The paper tests each of the other factors at every level of this one."""


def as_published(case: Case, sound_rows: Sequence[JudgedComparison]) -> AsPublished:
    """Apply the paper's procedure to this campaign, and compare the outcome with h123's own comparisons (`sound_rows`).

    The result includes the replications of each treatment, which the paper plots, and the paper's printed values if
    published/ contains them. It leaves out throughput if the body size is unknown (imported samples).
    """
    plan, unknown = case.plan, case.unknown
    pooled = Pooled(case.evidence, plan.study)
    compared: list[PublishedPair] = []
    tests: list[FactorTest] = []
    replicated: list[ReplicationsRow] = []
    for metric in (name for name in PRINTED if name != "throughput" or "size" not in unknown):
        runs: Runs = {}
        for cell in _treatments(plan):
            cell_runs = pooled.runs(cell, metric)
            runs[_key(cell)] = [run.values for run in cell_runs]
            link = bounds_of_cell(metric, plan.study.parameters(cell), case.networks, unknown)
            replicated.append(replications(cell, metric, cell_runs, link))
        compared += _comparisons(plan, metric, runs, case.facts.seed)
        tests += factor_tests(plan, metric, runs)
    compare = plan.study.compare
    sound = {(_key(c["cell"]), c["metric"], c["a"], c["b"]): c for c in sound_rows if not c["twin"]}
    comparisons: list[PublishedRow] = []
    for row in compared:
        # Throughput per request is size / latency, so the sound verdict on latency applies to throughput too.
        counterpart = sound.get((_key(row["cell"]), PRINTED[row["metric"]].observation, row["a"], row["b"]))
        comparisons.append({**row, **sound_comparison(row, counterpart, compare.margin, compare.alpha)})
    printed = printed_values_of(plan.study.name)
    return {
        "comparisons": comparisons,
        "kruskal_wallis": tests,
        "agreement": _agreement(comparisons),
        "replications": replicated,
        "printed": compare_with_printed(printed, plan.study, replicated, comparisons) if printed else None,
    }


def _treatments(plan: Plan) -> list[Cell]:
    return list({_key(trial.cell): trial.cell for trial in plan.blocks[0]}.values())


def _key(cell: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(cell.items()))


def _comparisons(plan: Plan, metric: str, runs: Runs, seed: int) -> Iterator[PublishedPair]:
    """Compare each pair of levels in each cell in which both levels have requests."""
    factor = plan.study.compare.factor
    for cell, pair in itertools.product(other_cells(plan), plan.pairs):
        a, b = pair.split("/")
        first, second = runs[_key({**cell, factor: a})], runs[_key({**cell, factor: b})]
        if first and second:
            pooled = _compare(first, second, PRINTED[metric].better == "lower", seed)
            # For requests of one size, this test gives the same p: it is a single finding under two names.
            yield {**pooled, "cell": cell, "metric": metric, "a": a, "b": b, "repeats": PRINTED[metric].repeats}


def _compare(a: list[Floats], b: list[Floats], lower_is_better: bool, seed: int) -> Tests:
    first, second = np.concatenate(a), np.concatenate(b)
    test = procedure.mann_whitney(first, second)
    difference = float(np.median(first) / np.median(second)) - 1
    a_side, b_side = _side(a, seed), _side(b, seed)
    return {
        "a_side": a_side,
        "b_side": b_side,
        "u": test.u,
        "p": test.p,
        "r_rb": test.r_rb,
        "effect": procedure.effect_class(test.r_rb),
        "median_difference": difference,
        "verdict": procedure.decide(test, difference, lower_is_better),
        "note": _note([a_side, b_side]),
    }


def _side(runs: list[Floats], seed: int) -> PooledSide:
    """Return the paper's figures for one treatment, and the number of independent requests that would give as much
    information as the pooled ones."""
    values = np.concatenate(runs)
    cv, word = procedure.consistency(np.array([run.mean() for run in runs])) or (None, None)
    correlation = procedure.intra_run_correlation(runs)
    return {
        "n": len(values),
        "runs": len(runs),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "cv": cv,
        "consistency": word,
        "shapiro": procedure.shapiro_wilk(values, seed),
        "correlation": correlation,
        "independent": procedure.independent_requests(runs, correlation),
    }


def _note(sides: Sequence[PooledSide]) -> str | None:
    """Return a note if the paper would not test this data because the runs' coefficient of variation exceeds 20 %."""
    worst = max((cv for side in sides if (cv := side["cv"]) is not None), default=0.0)
    limit = procedure.CONSISTENCY[-1][0]
    if worst <= limit:
        return None
    return (
        f"runs vary by {100 * worst:.1f} %: above {100 * limit:.0f} % the paper calls data not reliable enough to test"
    )


def factor_tests(plan: Plan, metric: str, runs: Runs) -> Iterator[FactorTest]:
    """Apply the Kruskal-Wallis test to each factor of the study, pooling all other factors. If the study varies the
    method, test each method separately."""
    treatments, factors = _treatments(plan), plan.study.factors
    strata = [{STRATUM: level} for level in factors[STRATUM]] if STRATUM in factors else [{}]
    for within, factor in itertools.product(strata, (name for name in factors if name != STRATUM)):
        inside = [cell for cell in treatments if within.items() <= cell.items()]
        groups = {level: [r for c in inside if c[factor] == level for r in runs[_key(c)]] for level in factors[factor]}
        pools = {level: np.concatenate(test) for level, test in groups.items() if test}
        if test := procedure.kruskal_wallis(list(pools.values())):
            h, p = test
            levels: list[Group] = [
                {"level": name, "n": len(v), "median": float(np.median(v))} for name, v in pools.items()
            ]
            yield {
                "within": within,
                "factor": factor,
                "metric": metric,
                "h": h,
                "df": len(pools) - 1,
                "p": p,
                "groups": levels,
            }


def _agreement(comparisons: Sequence[PublishedRow]) -> Agreement:
    comparable = [row for row in comparisons if row["agrees"] is not None and not row["repeats"]]
    agree = sum(bool(row["agrees"]) for row in comparable)
    return {"compared": len(comparable), "agree": agree, "disagree": len(comparable) - agree}


class AsPublishedPart(TypedDict):
    as_published: AsPublished | None
    """Null unless the study sets `as_published: true`."""


def _compute(case: Case) -> AsPublishedPart:
    requested = case.plan.study.compare.as_published
    return {"as_published": as_published(case, comparisons(case)) if requested else None}


SECTION = Section(AsPublishedPart, _compute)
