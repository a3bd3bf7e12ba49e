"""Judges comparisons: turns paired values into an estimate, p values that are corrected within families, and one of
four verdicts.

A comparison with an exclusion (exclusions.py) is not judged, but keeps its place in its family.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from h123.analysis.audits.exclusions import Exclusion, Exclusions
from h123.analysis.comparisons.comparison import PairedComparison
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.machines.without_one import without_one
from h123.analysis.statistics.families import adjust, smallest_adjusted
from h123.analysis.statistics.rule import Rule
from h123.analysis.statistics.signedrank import CONFIDENCE, IntervalEstimate, SignedRank, attainable, ratio_of
from h123.analysis.statistics.symmetry import LEVEL, SignTest, symmetry
from h123.base.units import counted
from h123.study import ENOUGH_FOR_INTERVAL, METRICS

EQUIVALENT, INCONCLUSIVE = "equivalent", "inconclusive"
_NAMES = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


@dataclass(frozen=True)
class ComparisonTest:
    """A comparison with its estimate (of the log ratio) and its p values, which are None if there is nothing to
    test."""

    comparison: PairedComparison
    estimate: IntervalEstimate | None
    p: float | None
    p_equivalent: float | None
    blocks: int = 0
    """The number of blocks behind p; with several machines, the smallest number that remains without one of them
    (without_one.py)."""
    p_whole: float | None = None
    """The p value of all blocks. `p` is the largest of this value and those without one of the machines."""
    symmetric: float | None = None
    """The p value of the test for symmetry; None if unknown."""
    test: str | None = None
    """`signed-rank`, or `sign` if the differences are asymmetric."""
    exclusion: Exclusion | None = None
    qualified: Mapping[str, int] = field(default_factory=dict)
    """Failed audits that do not prevent a verdict, with the number of trials that failed each; 0 for audits of the
    whole campaign."""
    p_adjusted: float | None = None
    p_equivalent_adjusted: float | None = None
    family_size: int = 0


def judge(
    comparisons: Sequence[PairedComparison], rule: Rule, exclusions: Exclusions | None = None
) -> list[JudgedComparison]:
    """Return the `comparisons` part of verdicts.json, in the same order. Excluded comparisons are not judged."""
    tested = [_test(comparison, rule) for comparison in comparisons]
    if exclusions:
        tested = [
            replace(
                test, exclusion=exclusions.against(test.comparison), qualified=exclusions.qualified(test.comparison)
            )
            for test in tested
        ]
    return [_document(test, rule) for test in _correct(tested)]


def _test(comparison: PairedComparison, rule: Rule) -> ComparisonTest:
    if not comparison.pairs:
        return ComparisonTest(comparison, None, None, None)
    differences = {pair.block: pair.log_ratio for pair in comparison.pairs}
    symmetric = symmetry(list(differences.values()))
    lopsided = symmetric is not None and symmetric <= LEVEL
    homes = {} if comparison.twin else rule.homes
    method = without_one(SignTest if lopsided else SignedRank, differences, homes)
    return ComparisonTest(
        comparison,
        method.estimate(rule.confidence),
        method.p(),
        method.p_equivalent(rule.margin),
        method.blocks,
        method.whole.p(),
        symmetric,
        "sign" if lopsided else "signed-rank",
    )


def _correct(tested: list[ComparisonTest]) -> list[ComparisonTest]:
    """Adjust p values within families. A/A comparisons are not adjusted. A comparison without data is in no family.

    A comparison that repeats another's observation is corrected as if it replaced the other, and its adjusted p is
    never smaller than the other's.
    """
    counted, repeats = (_families(tested, repeating) for repeating in (False, True))
    corrected = list(tested)
    for places in counted.values():
        for place, test in zip(places, _adjusted([tested[i] for i in places]), strict=True):
            corrected[place] = test
    originals = {_observed(corrected[place]): place for places in counted.values() for place in places}
    for name, places in repeats.items():
        instead = {originals.get(_observed(tested[place])): place for place in places}
        others = [tested[i] for i in counted.get(name, []) if i not in instead]
        for place, test in zip(places, _adjusted([*(tested[i] for i in places), *others]), strict=False):
            original = originals.get(_observed(test))
            corrected[place] = test if original is None else _no_surer(test, corrected[original])
    return corrected


def _families(tested: Sequence[ComparisonTest], repeating: bool) -> dict[str, list[int]]:
    """Return the indices of comparisons by family. If `repeating`, include only those that restate what another
    comparison observed; otherwise, only the rest."""
    families: dict[str, list[int]] = defaultdict(list)
    for place, test in enumerate(tested):
        if test.p is not None and bool(test.comparison.repeats) is repeating:
            families[test.comparison.family.name].append(place)
    return families


def _adjusted(family: Sequence[ComparisonTest]) -> list[ComparisonTest]:
    correction = family[0].comparison.family.correction
    p, p_equivalent = [test.p or 0.0 for test in family], [test.p_equivalent or 0.0 for test in family]
    if correction != "none":
        p, p_equivalent = adjust(p, correction), adjust(p_equivalent, correction)
    return [
        replace(test, p_adjusted=p[row], p_equivalent_adjusted=p_equivalent[row], family_size=len(family))
        for row, test in enumerate(family)
    ]


def _observed(test: ComparisonTest) -> tuple[Any, ...]:
    """Return a key that is the same for a comparison and for one that repeats it with another metric."""
    c = test.comparison
    return (tuple(c.cell.items()), c.repeats or c.metric, c.a, c.b, c.twin)


def _no_surer(test: ComparisonTest, original: ComparisonTest) -> ComparisonTest:
    p, p_equivalent = (
        max(mine or 0.0, other or 0.0)
        for mine, other in (
            (test.p_adjusted, original.p_adjusted),
            (test.p_equivalent_adjusted, original.p_equivalent_adjusted),
        )
    )
    return replace(test, p_adjusted=p, p_equivalent_adjusted=p_equivalent)


def _verdict(tested: ComparisonTest, rule: Rule) -> str:
    if tested.exclusion or tested.p_adjusted is None or tested.p_equivalent_adjusted is None:
        return INCONCLUSIVE
    if tested.p_equivalent_adjusted <= rule.level and tested.blocks >= ENOUGH_FOR_INTERVAL:
        return EQUIVALENT
    return _direction(tested, rule) or INCONCLUSIVE


def _direction(tested: ComparisonTest, rule: Rule) -> str | None:
    """Return the verdict that one level is better, such as `faster` or `slower`, however small the difference. None if
    the direction is not certain."""
    if tested.exclusion or tested.estimate is None or tested.p_adjusted is None or tested.p_adjusted > rule.level:
        return None
    metric = METRICS[tested.comparison.metric]
    better, worse = metric.verdicts
    return better if (tested.estimate.centre < 0) == (metric.better == "lower") else worse


def _warning(qualified: Mapping[str, int]) -> str:
    """Return a sentence about audits that failed without preventing a verdict: "its trials are valid and count, but an
    audit warns: `machine-saturated` (3 trials) ..."."""
    named = [f"`{name}` ({counted(n, 'trial') if n else 'the campaign'})" for name, n in qualified.items()]
    warn = "an audit warns" if len(named) == 1 else "audits warn"
    means = f"`h123 explain {next(iter(qualified))}` says what that means"
    return f"its trials are valid and count, but {warn}: {', '.join(named)}; {means}"


def _notes(tested: ComparisonTest, verdict: str, rule: Rule) -> list[str]:
    comparison, blocks = tested.comparison, tested.blocks
    same = [f"in a closed loop one observation with {comparison.repeats}, counted once"] if comparison.repeats else []
    notes = same + [
        f"{level} failed in {_count(len(where))}, and loses there"
        for level, where in zip((comparison.a, comparison.b), comparison.failed.values(), strict=True)
        if where
    ]
    if comparison.one_sided:
        notes.append(f"left out because only one side has a value: {_count(comparison.one_sided)}")
    if tested.estimate is None:
        return [*notes, f"no block has a value of {comparison.metric} for both sides"]
    if blocks < ENOUGH_FOR_INTERVAL:
        notes.append(
            f"the interval has {100 * tested.estimate.confidence:.3g} % confidence with {_count(blocks)}: "
            f"{100 * CONFIDENCE:.0f} % needs {ENOUGH_FOR_INTERVAL}"
        )
    if tested.test == "sign":
        notes.append("some blocks lie far to one side, so the answer is about the median block (sign test)")
    if tested.exclusion:
        return [*notes, f"not judged: {tested.exclusion.why}"]
    if verdict != INCONCLUSIVE:
        return [*notes, _warning(tested.qualified)] if tested.qualified else notes
    if tested.p is not None and tested.p_whole is not None and tested.p_whole <= rule.level < tested.p:
        notes.append(
            "the levels differ on all machines together, but not without one of them: no answer rests on one machine"
        )
    size, correction = tested.family_size, comparison.family.correction
    if smallest_adjusted(blocks, size, correction) > rule.level:
        notes.append(_too_few(blocks, size, correction, rule))
    elif not comparison.twin and tested.p is not None and tested.p <= attainable(blocks) * (1 + 1e-9):
        notes.append(_as_clear_as_can_be(blocks, size, correction, rule))
    return notes


def _count(blocks: int) -> str:
    return f"{blocks} block" if blocks == 1 else f"{blocks} blocks"


def _too_few(blocks: int, size: int, correction: str, rule: Rule) -> str:
    least = f"{_count(blocks)}: p cannot fall below {attainable(blocks):.2g}"
    over = f"{_NAMES[correction]} over {size}" if correction == "holm" else f"a level of {rule.level:.3g}"
    return f"{least}, too much for {over}"


def _as_clear_as_can_be(blocks: int, size: int, correction: str, rule: Rule) -> str:
    """Return a note for a comparison whose p is the smallest possible, but too large after the correction."""
    above = f"{_NAMES[correction]} over {size} raises it above {rule.level:.3g}"
    return f"no p from {_count(blocks)} is smaller, but {above}"


def _undecided(tested: ComparisonTest, verdict: str, rule: Rule) -> str | None:
    """Return why there is no verdict although the interval lies on one side of equality, or None."""
    estimate, blocks = tested.estimate, tested.blocks
    if verdict != INCONCLUSIVE or tested.exclusion or estimate is None or estimate.low <= 0 <= estimate.high:
        return None
    if attainable(blocks) > rule.level:
        return f"{_count(blocks)} {'is' if blocks == 1 else 'are'} too few to rule out chance"
    bound = f"p = {tested.p_adjusted:.2g}; the limit is {rule.level:.2g}"
    if tested.family_size > 1:
        return f"one of {tested.family_size} comparisons may differ by chance (adjusted {bound})"
    return f"that may be chance ({bound})"


def _document(tested: ComparisonTest, rule: Rule) -> JudgedComparison:
    comparison, estimate = tested.comparison, tested.estimate
    verdict, direction = _verdict(tested, rule), _direction(tested, rule)
    notes, whole = _notes(tested, verdict, rule), [pair for pair in comparison.pairs if pair.whole]
    return {
        "cell": comparison.cell,
        "workload": comparison.workload,
        "metric": comparison.metric,
        "a": comparison.a,
        "b": comparison.b,
        "twin": comparison.twin,
        "repeats": comparison.repeats,
        "blocks": len(comparison.pairs),
        "a_median": float(np.median([pair.a for pair in whole])) if whole else None,
        "b_median": float(np.median([pair.b for pair in whole])) if whole else None,
        "ratio": ratio_of(estimate.centre) if estimate else None,
        "low": ratio_of(estimate.low) if estimate else None,
        "high": ratio_of(estimate.high) if estimate else None,
        "confidence": estimate.confidence if estimate else None,
        "test": tested.test,
        "symmetric": tested.symmetric,
        "p": tested.p,
        "p_attainable": attainable(tested.blocks),
        "p_adjusted": tested.p_adjusted,
        "p_equivalent": tested.p_equivalent,
        "p_equivalent_adjusted": tested.p_equivalent_adjusted,
        "family": comparison.family.name,
        "family_size": tested.family_size,
        "correction": comparison.family.correction,
        "verdict": verdict,
        "small": direction if verdict == EQUIVALENT else None,
        "withheld": {"kind": tested.exclusion.kind, "why": tested.exclusion.why} if tested.exclusion else None,
        "undecided": _undecided(tested, verdict, rule),
        "note": "; ".join(notes) or None,
        "qualified": list(tested.qualified),
        "failed": comparison.failed,
        "pairs": [{"block": p.block, "a": p.a, "b": p.b, "ratio": ratio_of(p.log_ratio)} for p in whole],
    }
