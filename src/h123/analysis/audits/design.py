"""Audits the whole campaign: it must have enough blocks to show a difference, and the machine must have disturbed the
compared levels equally."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from h123.analysis.audits.disturbances import DISTURBED_UNLIKE, disturbed_unlike
from h123.analysis.audits.finding import CampaignAudit, Finding
from h123.analysis.comparisons.projection import BEYOND, LIMIT, blocks_for_question, of_question
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.statistics.power import can_find_one, power
from h123.analysis.statistics.precision import FEWEST, spread
from h123.analysis.statistics.rule import Rule
from h123.analysis.statistics.signedrank import attainable
from h123.measures import Attempt
from h123.study import Plan

BLOCKS_TOO_FEW, DRAWS_MIXED = "blocks-too-few", "draws-mixed"
MEANINGS = {
    BLOCKS_TOO_FEW: "Each family of comparisons has enough blocks to find one more true difference, if it is large. "
    "If the family finds nothing else, the correction multiplies this difference's p by the family's size.",
    DISTURBED_UNLIKE: "If the machine disturbed trials, it disturbed the compared levels equally, so their ratio does "
    "not come from the machine.",
    DRAWS_MIXED: "The links of all trials drew the fates of packets in the same way, so the trials of a block had the "
    "same losses.",
}
_FIRST_DRAWS = 1
_NAMED = 2
"""The largest number of families that a sentence names."""


def of_campaign(
    attempts: Sequence[Attempt],
    comparisons: Sequence[JudgedComparison],
    *,
    plan: Plan,
    rule: Rule,
) -> list[CampaignAudit]:
    unlike = disturbed_unlike(attempts, plan)
    worst = max((finding for finding in unlike if not finding.passed), key=lambda f: f.value or 0.0, default=None)
    return [
        CampaignAudit(
            BLOCKS_TOO_FEW,
            MEANINGS[BLOCKS_TOO_FEW],
            _too_few(comparisons, rule),
            blocks_too_few(comparisons, rule),
        ),
        CampaignAudit(
            DISTURBED_UNLIKE,
            MEANINGS[DISTURBED_UNLIKE],
            "The machine disturbed one of the compared levels more than the other, so it may have caused their ratio "
            f"({worst.detail if worst else ''}). Run the disturbed trials again on a quieter machine: `h123 run --out "
            "DIR --retry`.",
            unlike,
        ),
        CampaignAudit(
            DRAWS_MIXED,
            MEANINGS[DRAWS_MIXED],
            "Trials ran with versions of h123 that draw the fates of packets in different ways. Trials of one block "
            "may therefore have had different losses, so pairs are noisier than they seem. Begin a new campaign with "
            "one version.",
            draws_mixed(attempts),
        ),
    ]


def draws_mixed(attempts: Iterable[Attempt]) -> list[Finding]:
    """Check that all emulated links draw their random values with the same version of the algorithm. Returns nothing if
    there are no emulated links."""
    links = [link for attempt in attempts if not attempt.imported for link in attempt.report.links]
    versions = sorted({link.draws or _FIRST_DRAWS for link in links if link.directions})
    versions_line = f"version {' and '.join(map(str, versions))} of the draws"
    return [Finding(len(versions) == 1, len(versions), 1, versions_line)] if versions else []


def blocks_too_few(comparisons: Sequence[JudgedComparison], rule: Rule) -> list[Finding]:
    """Check that each family has enough blocks to reach a corrected p below the significance level of the current look
    at the data."""
    findings = []
    for name, members in _families(comparisons).items():
        blocks, size = max(c["blocks"] for c in members), len(members)
        smallest = min(1.0, attainable(blocks) * _times(members))
        detail = f"family {name}: {blocks} blocks, {size} comparison(s), p of one difference at least {smallest:.2g}"
        able = can_find_one(blocks, _times(members), rule.level)
        chances = _chances(members, blocks, rule) if able else f"{_needed(members, rule)} blocks needed"
        findings.append(Finding(able, smallest, rule.level, f"{detail}; {chances}"))
    return findings


def _chances(family: Sequence[JudgedComparison], blocks: int, rule: Rule) -> str:
    """Describe the power to find differences as large as the margin. The power is unknown if an interval is unbounded
    or comes from few blocks, because the intervals determine the assumed spread."""
    spreads = [
        spread(low, high, c["blocks"], rule.level)
        for c in family
        if (low := c["low"]) and (high := c["high"]) and c["blocks"] >= FEWEST
    ]
    if len(spreads) < len(family):
        return "power not known"
    preview = power(spreads, blocks, rule.margin, correction=family[0]["correction"], level=rule.level)
    shares = f"{preview.single:.0%}, {preview.half:.0%} or {preview.all:.0%}"
    of_margin = f"true differences of {100 * rule.margin:g} %"
    return f"finds {shares} of {of_margin} if one, half or all of its comparisons differ"


def _times(family: Sequence[JudgedComparison]) -> float:
    """Return the factor by which the correction multiplies the p value of a further difference, given those already
    found."""
    size, decided = len(family), sum(c["verdict"] != "inconclusive" for c in family)
    return max(1.0, size - decided if family[0]["correction"] == "holm" else size / (decided + 1))


def _needed(family: Sequence[JudgedComparison], rule: Rule) -> int:
    return rule.blocks_needed(_times(family), "holm")


def _too_few(comparisons: Sequence[JudgedComparison], rule: Rule) -> str:
    families = _families(comparisons)
    short = {
        name: members
        for name, members in families.items()
        if not can_find_one(max(c["blocks"] for c in members), _times(members), rule.level)
    }
    if not short:
        return ""
    needed = max(_needed(members, rule) for members in short.values())
    have = min(max(c["blocks"] for c in members) for members in short.values())
    blocks, more = "1 block" if have == 1 else f"{have} blocks", len(short) - _NAMED
    names = ", ".join([*list(short)[:_NAMED], *([f"{more} more"] if more > 0 else [])])
    return (
        f"In {len(short)} of {len(families)} families of comparisons ({names}) {blocks} cannot find one more true "
        f"difference, however large. That takes at least {needed} blocks{_advice(comparisons, needed, have, rule)}"
    )


def _advice(comparisons: Sequence[JudgedComparison], needed: int, have: int, rule: Rule) -> str:
    """Return advice on how many more blocks to run, without a number if the answer already advises enough blocks."""
    blocks, cure = blocks_for_question(comparisons), rule.remedy.enough(needed, have)
    if blocks is not None and blocks >= needed:
        same = ", as many as would decide the question."
        return same if blocks == needed else f"; the {blocks} that would decide the question are enough."
    if any(projection["basis"] == BEYOND for projection in of_question(comparisons)):
        return f", and deciding the question takes more than {LIMIT}."
    if blocks is not None:
        return f", more than the {blocks} that would decide the question" + (f": {cure}." if cure else ".")
    return f": {cure}." if cure else "."


def _families(comparisons: Iterable[JudgedComparison]) -> dict[str, list[JudgedComparison]]:
    families: dict[str, list[JudgedComparison]] = defaultdict(list)
    for comparison in comparisons:
        if not comparison["twin"] and not comparison["repeats"] and comparison["p"] is not None:
            families[comparison["family"]].append(comparison)
    return families
