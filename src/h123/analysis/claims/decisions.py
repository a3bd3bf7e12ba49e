"""Decides the claims of a published work, which a ledger lists: by arithmetic, and by a campaign of the ledger's study.

A directional claim is confirmed if the exact signed-rank test rejects in the claimed direction, corrected with Holm's
method over the ledger's claims that the campaign's plan covers. If the claim includes a size, the interval must also
overlap the range from half of that size to twice that size. If the interval lies outside this range, only the direction
is confirmed. The claim is refuted if its interval lies inside the study's equivalence margin, or on the opposite side
of zero from the claim.

An equivalence is confirmed if, in all its cells, the interval lies inside the margin and both one-sided tests reject
after Holm's correction; it is refuted if in some cell the interval lies wholly outside. The same rule applies to a
claim of `not higher` or `not lower`, but only to one end of the margin and with one test. Intervals are not widened for
the number of claims or cells. A claim that is neither confirmed nor refuted is undecided, and so is a claim with fewer
than 6 blocks or with trials that an audit calls impossible.

Two claims with the same observation (the same levels, cells and metric, or latency and goodput in a closed loop) count
once in the correction: the later claim takes the earlier one's place, and its adjusted p is at least as large as the
earlier one's. If one claim is about a margin and the other about a direction, the later one keeps its own p. Both
claims can be false only if the difference is at least as large as the margin, and opposite to the claimed direction. In
that case, neither claim can be confirmed unless a one-sided test at the margin rejects. So the chance of confirming one
of the two is no larger than the chance that this test errs.
"""

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from h123.analysis.claims.arithmetic import check
from h123.study import (
    ALL_LEVELS,
    ARITHMETIC,
    BOUNDED,
    ENOUGH_FOR_INTERVAL,
    METRICS,
    Claim,
    Ledger,
    MeasurableClaim,
    Plan,
    WordedClaim,
)

if TYPE_CHECKING:  # modules that only measured claims need, which take long to load
    from h123.analysis.case import Case
    from h123.analysis.claims.measurement import ClaimEstimate, ClaimMeasurement
    from h123.analysis.claims.rows import ClaimAnswered, ClaimFigure, ClaimQuestion, ClaimRow, LedgerDecided
    from h123.analysis.statistics.rule import Rule
    from h123.analysis.statistics.signedrank import IntervalEstimate

CONFIRMED, DIRECTION, REFUTED, UNDECIDED = "confirmed", "direction only", "refuted", "undecided"
IMPOSSIBLE, OPEN = "impossible", "open"
HOLDS, UNTESTABLE = "holds", "untestable"
Ruling = tuple[str, str | None]
"""A verdict, and its reason in words."""


def decide(ledger: Ledger, case: "Case | None" = None) -> "LedgerDecided":
    """Return one element of `claims` in verdicts.json. Without a campaign, only arithmetic decides."""
    measured = _measure(ledger, case) if case else {}
    same = _repeats(ledger, measured, case.plan) if case else {}
    # A claim with too few blocks keeps its place: when it gets them, other claims must not lose their verdicts.
    p_by_claim = {
        name: 1.0 if measurement.p is None else measurement.p
        for name, measurement in measured.items()
        if measurement.planned
    }
    family = {name: p for name, p in p_by_claim.items() if name not in same}
    adjusted = _adjusted(family) if family else {}
    bounded = {claim.id for claim in ledger.claims if isinstance(claim, MeasurableClaim) and claim.margin is not None}
    for name, first in same.items():
        own = _adjusted({**family, first: p_by_claim[name]})[first]
        adjusted[name] = own if (name in bounded) != (first in bounded) else max(own, adjusted[first])
    rows: list[ClaimRow] = []
    for claim in ledger.claims:
        row = _by_arithmetic(claim)
        if isinstance(claim, MeasurableClaim):
            row = {**row, **_question(claim, ledger)}
            if case:
                answer = _answer(claim, measured[claim.id], adjusted.get(claim.id, 1.0), len(family), case)
                row = {**row, **answer, "repeats": same.get(claim.id)}
        rows.append(row)
    return {
        "title": ledger.source.title,
        "where": ledger.source.where,
        "study": ledger.study,
        "scale": case.plan.study.scale if case else None,
        "family_size": len(family),
        "claims": rows,
    }


def _adjusted(family: dict[str, float]) -> dict[str, float]:
    from h123.analysis.statistics.families import adjust

    return dict(zip(family, adjust(list(family.values()), "holm"), strict=True))


def _repeats(ledger: Ledger, measured: "Mapping[str, ClaimMeasurement]", plan: Plan) -> dict[str, str]:
    """Return, for each planned claim with the same observation as an earlier claim, the name of the earlier claim."""
    first, first_claims = dict[Hashable, str](), dict[str, str]()
    for claim in ledger.claims:
        if isinstance(claim, MeasurableClaim) and measured[claim.id].planned:
            name = first.setdefault(_observation(claim, plan), claim.id)
            if name != claim.id:
                first_claims[claim.id] = name
    return first_claims


def _observation(claim: MeasurableClaim, plan: Plan) -> Hashable:
    """Return a key that is the same for all claims that are decided by the same values, whatever the order in which
    they name the levels."""
    from h123.analysis.claims.measurement import claimed_cells
    from h123.analysis.comparisons.repeats import repeated

    cells = claimed_cells(claim, plan)
    levels = [level for level in (claim.a, claim.b) if level]
    sides = [{**cell, plan.study.compare.factor: level} for cell in cells for level in levels]
    metric = repeated(claim.metric, [*METRICS], map(plan.study.parameters, sides)) or claim.metric
    cell_pairs = ((cell, claim.counterpart(cell)) for cell in cells)
    return (
        metric,
        frozenset(levels),
        frozenset(frozenset(tuple(levels_of_cell.items()) for levels_of_cell in both) for both in cell_pairs),
    )


def _measure(ledger: Ledger, case: "Case") -> "dict[str, ClaimMeasurement]":
    from h123.analysis.claims.measurement import ClaimMeasurement, measure

    study = case.plan.study.name
    foreign = ClaimMeasurement(
        [], f"this is a campaign of study {study}; the claim needs one of {ledger.study}", planned=False
    )
    measurable = [claim for claim in ledger.claims if isinstance(claim, MeasurableClaim)]
    return {claim.id: measure(claim, case) if study == ledger.study else foreign for claim in measurable}


def _by_arithmetic(claim: Claim) -> "ClaimRow":
    """Return the row of a claim without a campaign. The claim is impossible if one of its figures is. Otherwise,
    `_in_words` decides a claim that is stated in words alone, and any other claim stays open."""
    arithmetic = [check(result) for result in claim.checks]
    possible = all(result.passed for result in arithmetic)
    worded = claim if isinstance(claim, WordedClaim) else None
    verdict, reason = _in_words(worded) if worded else (OPEN, None)
    return {
        "id": claim.id,
        "quotation": claim.quotation,
        "summary": claim.summary,
        "source": claim.source,
        "where": claim.where,
        "metric": claim.metric,
        "a": claim.a,
        "b": claim.b,
        "direction": claim.direction,
        "estimand": worded.estimand if worded else None,
        "condition": worded.condition if worded else {},
        "against": {},
        "size": worded.size if worded else None,
        "note": None,
        "repeats": None,
        "arithmetic": [{"possible": result.passed, "shown": result.text} for result in arithmetic],
        "possible": possible,
        "verdict": verdict if possible else IMPOSSIBLE,
        "reason": reason if possible else None,
        "requests": [],
        "blocks": None,
        "p": None,
        "p_adjusted": None,
        "figures": [],
    }


def _in_words(claim: WordedClaim) -> Ruling:
    """Return the verdict on a claim in words whose figures are possible."""
    if claim.known:
        return claim.known.verdict, claim.known.by
    if claim.untestable:
        return UNTESTABLE, claim.untestable
    return (HOLDS, None) if claim.rule == ARITHMETIC else (OPEN, claim.rule)


def _question(claim: MeasurableClaim, ledger: Ledger) -> "ClaimQuestion":
    size = _bound(claim) if claim.margin is not None else None
    return {
        "estimand": _estimand(claim),
        "condition": _levels_by_factor(claim.cells),
        "against": _levels_by_factor(claim.against or {}),
        "size": f"{100 * claim.size:+.3g} %" if claim.size is not None else size,
        "note": claim.note,
        "reason": f"a campaign of study {ledger.study} with {ENOUGH_FOR_INTERVAL} blocks or more",
    }


def _levels_by_factor(cells: Mapping[str, list[str]]) -> dict[str, object]:
    return {factor: levels[0] if len(levels) == 1 else levels for factor, levels in cells.items()}


def _bound(claim: MeasurableClaim) -> str:
    assert claim.margin is not None  # the caller has checked
    return f"{'within' if claim.direction == 'equivalent' else 'by more than'} {100 * claim.margin:g} %"


def _estimand(claim: MeasurableClaim) -> str:
    sides = f"{claim.a} / {claim.b}" if claim.b else claim.a
    ratio = f"{sides} of the trials' {claim.metric}, paired within blocks"
    if claim.against is not None:
        ratio += ": its ratio to that in the cells of `against`"
    several = any(len(levels) > 1 or levels == [ALL_LEVELS] for levels in claim.cells.values())
    if not several:
        return ratio
    return f"{ratio}, in each cell" if claim.direction in BOUNDED else f"{ratio}, mean of the cells' logarithms"


def _answer(
    claim: MeasurableClaim, measured: "ClaimMeasurement", p_adjusted: float, family: int, case: "Case"
) -> "ClaimAnswered":
    if measured.lack:
        ruling: Ruling = UNDECIDED, measured.lack
    elif claim.margin is not None:
        ruling = _bounded(claim, claim.margin, measured, p_adjusted, family, case.rule)
    else:
        ruling = _direction(claim, measured, p_adjusted, family, case.rule)
    verdict, reason = ruling
    return {
        "verdict": verdict,
        "reason": reason,
        "requests": _requests(claim, case) if measured.figures else [],
        "blocks": measured.blocks,
        "p": measured.p,
        "p_adjusted": p_adjusted if measured.p is not None else None,
        "figures": [_figure(figure) for figure in measured.figures if figure.estimate],
    }


def _direction(
    claim: MeasurableClaim, measured: "ClaimMeasurement", p_adjusted: float, family: int, rule: "Rule"
) -> Ruling:
    (figure,) = measured.figures
    estimate, sign = figure.estimate, -1 if claim.direction == "lower" else 1
    assert estimate is not None  # it has blocks, otherwise there would be no p
    if _inside(estimate, rule.margin):
        return REFUTED, f"the interval lies inside the equivalence margin of {100 * rule.margin:g} %"
    if max(sign * estimate.low, sign * estimate.high) < 0:
        return REFUTED, "the whole interval lies on the other side"
    if p_adjusted > rule.level:
        return UNDECIDED, _not_rejected(measured.blocks, p_adjusted, family, rule, sides=2)
    if claim.size is None or _overlaps(estimate, claim.size):
        return CONFIRMED, None
    half, twice = (f"{100 * share * claim.size:+.3g} %" for share in (0.5, 2))
    return DIRECTION, f"the interval does not overlap the range from half to twice the claimed size: {half} to {twice}"


def _bounded(
    claim: MeasurableClaim, margin: float, measured: "ClaimMeasurement", p_adjusted: float, family: int, rule: "Rule"
) -> Ruling:
    """Return the verdict on a claim with a margin. In each cell, the ratio must be inside the margin, or for `not
    higher` and `not lower`, not beyond one end of it."""
    most = math.inf if claim.direction == "not lower" else math.log1p(margin)
    least = -math.inf if claim.direction == "not higher" else -math.log1p(margin)
    estimates = [figure.estimate for figure in measured.figures if figure.estimate]
    outside = [e for e in estimates if e.low > most or e.high < least]
    beyond = [e for e in estimates if e.high > most or e.low < least]
    margin_text = f"the margin of {100 * margin:g} %"
    if outside:
        return REFUTED, f"the interval lies outside {margin_text} in {len(outside)} of {len(estimates)} cells"
    if beyond:
        return UNDECIDED, f"the interval reaches beyond {margin_text} in {len(beyond)} of {len(estimates)} cells"
    if p_adjusted > rule.level:
        return UNDECIDED, _not_rejected(measured.blocks, p_adjusted, family, rule, sides=1)
    return CONFIRMED, None


def _inside(estimate: "IntervalEstimate", margin: float) -> bool:
    bound = math.log1p(margin)
    return -bound <= estimate.low and estimate.high <= bound


def _overlaps(estimate: "IntervalEstimate", size: float) -> bool:
    """Return whether the interval, as a relative change, overlaps the range from half of `size` to twice `size`."""
    least, most = (math.log1p(change) if change > -1 else -math.inf for change in sorted((0.5 * size, 2 * size)))
    return estimate.low <= most and least <= estimate.high


def _not_rejected(blocks: int, p_adjusted: float, family: int, rule: "Rule", *, sides: int) -> str:
    from h123.analysis.statistics.signedrank import attainable

    if attainable(blocks, sides) * family <= rule.level:
        return f"adjusted p {p_adjusted:.2g} is above {rule.level:.3g}"
    needed = rule.blocks_needed(family, "holm")
    cure = rule.remedy.enough(needed, blocks)
    return f"no p from {blocks} blocks can be small enough after Holm over {family} claims" + (
        f": {cure}" if cure else ""
    )


def _figure(figure: "ClaimEstimate") -> "ClaimFigure":
    from h123.analysis.statistics.signedrank import ratio_of

    estimate = figure.estimate
    assert estimate is not None
    return {
        "cell": figure.cell,
        "blocks": figure.blocks,
        "ratio": ratio_of(estimate.centre),
        "low": ratio_of(estimate.low),
        "high": ratio_of(estimate.high),
        "confidence": estimate.confidence,
        "p": figure.p,
    }


def _requests(claim: MeasurableClaim, case: "Case") -> list[int]:
    """Return the numbers of requests per user in the claim's cells of this campaign."""
    from h123.analysis.claims.measurement import claimed_cells

    plan = case.plan
    cells = [{**cell, plan.study.compare.factor: claim.a} for cell in claimed_cells(claim, plan)]
    return sorted({plan.study.parameters(cell).requests for cell in cells})
