"""Audits of the campaign as a whole: are there blocks enough to say anything, and were levels disturbed alike?"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from h123.analysis.audits.disturbed import DISTURBED_UNLIKE, disturbed_unlike
from h123.analysis.audits.finding import CampaignAudit, Finding
from h123.analysis.families import blocks_needed, smallest_adjusted
from h123.analysis.remedy import Remedy
from h123.results import Attempt
from h123.study import Plan

BLOCKS_TOO_FEW = "blocks-too-few"


def of_campaign(
    attempts: Sequence[Attempt],
    comparisons: Sequence[dict[str, Any]],
    *,
    plan: Plan,
    alpha: float,
    remedy: Remedy,
) -> list[CampaignAudit]:
    """All audits of the campaign as a whole."""
    unlike = disturbed_unlike(attempts, plan)
    worst = max((finding for finding in unlike if not finding.passed), key=lambda f: f.value or 0.0, default=None)
    return [
        CampaignAudit(
            BLOCKS_TOO_FEW,
            "Each family of comparisons has blocks enough for a verdict, with its correction.",
            _too_few(comparisons, alpha, remedy),
            blocks_too_few(comparisons, alpha),
        ),
        CampaignAudit(
            DISTURBED_UNLIKE,
            "Where the machine disturbed trials, it disturbed the compared levels alike, so that their ratio is not "
            "its doing.",
            "The machine disturbed one of the compared levels more than the other, so their ratio may be its doing "
            f"({worst.detail if worst else ''}). Try the disturbed trials again on a quieter machine: "
            "`h123 run --out DIR --retry`.",
            unlike,
        ),
    ]


def blocks_too_few(comparisons: Sequence[dict[str, Any]], alpha: float) -> list[Finding]:
    """For each family: the smallest adjusted p that its blocks allow, at most alpha."""
    findings = []
    for name, members in _families(comparisons).items():
        blocks = max(c["blocks"] for c in members)
        smallest = smallest_adjusted(blocks, len(members), members[0]["correction"])
        detail = f"family {name}: {blocks} blocks, {len(members)} comparison(s), smallest adjusted p {smallest:.2g}"
        findings.append(Finding(smallest <= alpha, smallest, alpha, detail))
    return findings


def _too_few(comparisons: Sequence[dict[str, Any]], alpha: float, remedy: Remedy) -> str:
    families, findings = list(_families(comparisons).values()), blocks_too_few(comparisons, alpha)
    short = [members for members, finding in zip(families, findings, strict=True) if not finding.passed]
    if not short:
        return ""
    have = min(c["blocks"] for members in short for c in members)
    needed = [blocks_needed(len(members), members[0]["correction"], alpha) for members in short]
    fewest = max((number for number in needed if number), default=None)
    advice = remedy.enough(fewest, have) if fewest else "declare smaller families"
    cure = f"{fewest} are the fewest that can" if fewest else "no number of blocks can"
    return (
        f"In {len(short)} of {len(families)} families of comparisons {have} {'block' if have == 1 else 'blocks'} "
        f"cannot call anything faster or slower, however clear the data. {cure.capitalize()}"
        + (f": {advice}." if advice else ".")
    )


def _families(comparisons: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for comparison in comparisons:
        if not comparison["twin"] and not comparison["repeats"] and comparison["p"] is not None:
            families[comparison["family"]].append(comparison)
    return families
