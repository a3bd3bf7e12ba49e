"""Verdicts: from paired values to an estimate, its p values, corrected within families, and one of four words."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from h123.analysis.comparisons import Comparison
from h123.analysis.estimate import CONFIDENCE, Estimate, hodges_lehmann
from h123.analysis.families import adjust, blocks_needed, smallest_adjusted
from h123.analysis.remedy import Remedy
from h123.analysis.signflip import attainable, equivalence, sign_flip
from h123.results import METRICS

FASTER, SLOWER, EQUIVALENT, INCONCLUSIVE = "faster", "slower", "equivalent", "inconclusive"
ENOUGH_FOR_INTERVAL = 6
MOSTLY = 0.5
"""Share of its values above which a comparison may be of the machine and not of the levels."""
_NAMES = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


@dataclass(frozen=True)
class Rule:
    """How strictly the study judges."""

    margin: float
    alpha: float
    seed: int
    remedy: Remedy = field(default_factory=Remedy)
    """How the campaign gets more blocks, said in notes."""


@dataclass(frozen=True)
class Tested:
    """A comparison with its estimate (of the log-ratio) and its p values; None where there is nothing to test."""

    comparison: Comparison
    estimate: Estimate | None
    mean: float
    """Mean log-ratio: the statistic of the tests."""
    p: float | None
    p_equivalent: float | None
    p_adjusted: float | None = None
    p_equivalent_adjusted: float | None = None
    family_size: int = 0


def judge(comparisons: Sequence[Comparison], rule: Rule) -> list[dict[str, Any]]:
    """The `comparisons` of verdicts.json, in the same order."""
    return [_document(tested, rule) for tested in _correct(_test(comparisons, rule))]


def twin_rate(judged: Iterable[dict[str, Any]], alpha: float) -> dict[str, Any]:
    """How often the A/A comparisons reject, beside how often they should.

    Expected is not alpha but the largest share of rejections below it that the number of blocks allows: with 6 blocks p
    is a multiple of 1/32, so 3.1 % of tests with nothing to find reject at 5 %.
    """
    twins = [c for c in judged if c["twin"] and c["p"] is not None]
    rejected = sum(c["p"] <= alpha for c in twins)
    sizes = [math.floor(alpha / c["p_attainable"] + 1e-9) * c["p_attainable"] for c in twins]
    return {
        "comparisons": len(twins),
        "rejected": rejected,
        "rate": rejected / len(twins) if twins else None,
        "expected": sum(sizes) / len(sizes) if sizes else None,
    }


def _test(comparisons: Sequence[Comparison], rule: Rule) -> list[Tested]:
    """Tests of the same number of pairs are computed together: that is what makes thousands of them quick."""
    tested = [Tested(c, None, 0.0, None, None) for c in comparisons]
    by_pairs: dict[int, list[int]] = defaultdict(list)
    for place, comparison in enumerate(comparisons):
        by_pairs[len(comparison.pairs)].append(place)
    for pairs, places in by_pairs.items():
        if pairs == 0:
            continue
        differences = np.array([[pair.log_ratio for pair in comparisons[place].pairs] for place in places])
        # One pair has no p below 1, and the permutation test none at all.
        p = sign_flip(differences, rule.seed) if pairs > 1 else np.ones(len(places))
        p_equivalent = equivalence(differences, rule.margin, rule.seed) if pairs > 1 else np.ones(len(places))
        for row, place in enumerate(places):
            tested[place] = Tested(
                comparisons[place],
                hodges_lehmann(differences[row]),
                float(differences[row].mean()),
                float(p[row]),
                float(p_equivalent[row]),
            )
    return tested


def _correct(tested: list[Tested]) -> list[Tested]:
    """Adjust p values within families; the twins' stay as they are. A comparison without data is in no family."""
    families: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(tested):
        if one.p is not None:
            families[one.comparison.family.name].append(place)
    corrected = list(tested)
    for places in families.values():
        correction = tested[places[0]].comparison.family.correction
        p, p_equivalent = [tested[i].p or 0.0 for i in places], [tested[i].p_equivalent or 0.0 for i in places]
        if correction != "none":
            p, p_equivalent = adjust(p, correction), adjust(p_equivalent, correction)
        for row, place in enumerate(places):
            corrected[place] = replace(
                tested[place],
                p_adjusted=p[row],
                p_equivalent_adjusted=p_equivalent[row],
                family_size=len(places),
            )
    return corrected


def _verdict(tested: Tested, rule: Rule) -> str:
    if tested.estimate is None or tested.p_adjusted is None or tested.p_equivalent_adjusted is None:
        return INCONCLUSIVE
    if _machines(tested.comparison):
        return INCONCLUSIVE
    if tested.p_equivalent_adjusted <= rule.alpha:
        return EQUIVALENT
    if tested.p_adjusted > rule.alpha or not _agree(tested):
        return INCONCLUSIVE
    better = (tested.estimate.centre < 0) == METRICS[tested.comparison.metric].lower_is_better
    return FASTER if better else SLOWER


def _machines(comparison: Comparison) -> bool:
    """Whether in half of the blocks or more most of what was measured may be the machine's (docs/disturbances.md)."""
    return bool(comparison.pairs) and float(np.median([pair.share for pair in comparison.pairs])) > MOSTLY


def _agree(tested: Tested) -> bool:
    """Whether the estimate points where the tests' statistic does; an outlying block can turn one and not the other."""
    return tested.estimate is not None and tested.estimate.centre * tested.mean > 0


def _notes(tested: Tested, verdict: str, rule: Rule) -> list[str]:
    comparison, blocks = tested.comparison, len(tested.comparison.pairs)
    notes = []
    if comparison.one_sided:
        notes.append(f"left out because only one side has a value: {_count(comparison.one_sided)}")
    if tested.estimate is None:
        return [*notes, f"no block has a value of {comparison.metric} for both sides"]
    if blocks < ENOUGH_FOR_INTERVAL:
        notes.append(
            f"the interval holds with {100 * tested.estimate.confidence:.3g} % confidence from {_count(blocks)}: "
            f"{100 * CONFIDENCE:.0f} % needs {ENOUGH_FOR_INTERVAL}"
        )
    if verdict != INCONCLUSIVE:
        return notes
    if _machines(comparison):
        return [*notes, "not decided: the machine was so busy that most of these values may be its doing"]
    size, correction = tested.family_size, comparison.family.correction
    if smallest_adjusted(blocks, size, correction) > rule.alpha:
        notes.append(_too_few(blocks, size, correction, rule))
    elif tested.p_adjusted is not None and tested.p_adjusted <= rule.alpha:
        notes.append("the mean and the median ratio point in opposite directions: an outlying block decides")
    elif not comparison.twin and tested.p is not None and tested.p <= attainable(blocks) * (1 + 1e-9):
        notes.append(_as_clear_as_can_be(blocks, size, correction, rule))
    return notes


def _count(blocks: int) -> str:
    return f"{blocks} block" if blocks == 1 else f"{blocks} blocks"


def _too_few(blocks: int, size: int, correction: str, rule: Rule) -> str:
    needed = blocks_needed(size, correction, rule.alpha)
    reached = f"{_count(blocks)}: p cannot fall below {attainable(blocks):.2g}"
    over = f"{_NAMES[correction]} over {size}" if correction == "holm" else f"alpha {rule.alpha:g}"
    if needed is None:
        return f"{reached}; {over} needs a p smaller than any number of blocks can give: declare smaller families"
    return f"{reached}; {over} needs {needed} blocks{_cure(needed, blocks, rule)}"


def _as_clear_as_can_be(blocks: int, size: int, correction: str, rule: Rule) -> str:
    """The data could not speak more clearly, but too few of the family's other comparisons are as clear."""
    enough = blocks_needed(size, "holm", rule.alpha)
    more = f"; {enough} blocks would do{_cure(enough, blocks, rule)}" if enough else ""
    above = f"{_NAMES[correction]} over {size} puts it above {rule.alpha:g}"
    return f"no p from {_count(blocks)} is smaller, but {above}{more}"


def _cure(needed: int, have: int, rule: Rule) -> str:
    cure = rule.remedy.enough(needed, have)
    return f": {cure}" if cure else ""


def _document(tested: Tested, rule: Rule) -> dict[str, Any]:
    comparison, estimate = tested.comparison, tested.estimate
    verdict = _verdict(tested, rule)
    notes = _notes(tested, verdict, rule)
    return {
        "cell": comparison.cell,
        "workload": comparison.workload,
        "metric": comparison.metric,
        "a": comparison.a,
        "b": comparison.b,
        "twin": comparison.twin,
        "blocks": len(comparison.pairs),
        "a_median": float(np.median([pair.a for pair in comparison.pairs])) if estimate else None,
        "b_median": float(np.median([pair.b for pair in comparison.pairs])) if estimate else None,
        "ratio": math.exp(estimate.centre) if estimate else None,
        "low": math.exp(estimate.low) if estimate else None,
        "high": math.exp(estimate.high) if estimate else None,
        "confidence": estimate.confidence if estimate else None,
        "p": tested.p,
        "p_attainable": attainable(len(comparison.pairs)),
        "p_adjusted": tested.p_adjusted,
        "p_equivalent": tested.p_equivalent,
        "p_equivalent_adjusted": tested.p_equivalent_adjusted,
        "family": comparison.family.name,
        "family_size": tested.family_size,
        "correction": comparison.family.correction,
        "verdict": verdict,
        "withheld": _machines(comparison),
        "note": "; ".join(notes) or None,
        "pairs": [{"block": p.block, "a": p.a, "b": p.b, "ratio": p.a / p.b} for p in comparison.pairs],
    }
