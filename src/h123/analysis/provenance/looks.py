"""Reports how many blocks a campaign had at each look at its results, and at how many blocks the next look is due."""

from typing import NamedTuple

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import JudgedComparison, headline
from h123.analysis.provenance.counts import BlocksPart
from h123.analysis.section import Section
from h123.analysis.statistics.looks import FEWEST, FIXED, LooksTaken, level_of_next
from h123.analysis.verdicts.judgement import JudgedPart
from h123.analysis.verdicts.outlook import OutlookPart


class LooksPart(TypedDict):
    looks: LooksTaken


class LooksAndVerdicts(LooksPart, BlocksPart, JudgedPart):
    """The parts of verdicts.json that determine the next look."""


def undecided_answers(verdicts: JudgedPart) -> list[JudgedComparison]:
    """Return the comparisons of the study's first family that have no verdict, but may have one with more blocks."""
    answers = headline(verdicts["comparisons"])
    return [c for c in answers if c["verdict"] == "inconclusive" and not c["withheld"]]


def next_look(verdicts: LooksAndVerdicts, *, undecided: bool) -> int | None:
    """Return the number of blocks at the next look. None if the question is decided, or if no further look is
    planned."""
    further = [blocks for blocks in verdicts["looks"]["planned"] if blocks > verdicts["blocks"]["planned"]]
    return further[0] if undecided and further else None


class EarlyLook(NamedTuple):
    """An unplanned look at the results before the campaign was finished. It makes later verdicts harder to reach."""

    blocks: int
    level: float
    """The significance level of this look."""
    level_of_next: float


class LooksAndOutlook(LooksPart, BlocksPart, OutlookPart):
    """The parts of verdicts.json that show whether a look was early."""

    alpha: float


def early_look(verdicts: LooksAndOutlook) -> EarlyLook | None:
    """Return the current look if it is early, otherwise None. A look with too few blocks to find anything does not
    count as early."""
    looks, blocks = verdicts["looks"], verdicts["looks"]["blocks"][-1]
    early = verdicts["projection"]["waiting"] and FEWEST <= blocks < verdicts["blocks"]["planned"]
    if not early or looks["rule"] == FIXED:
        return None
    return EarlyLook(blocks, looks["level"], level_of_next(looks, verdicts["alpha"]))


def _compute(case: Case) -> LooksPart:
    looks_so_far, alpha = case.rule.looks, case.rule.alpha
    return {
        "looks": {
            "blocks": looks_so_far.blocks,
            "planned": looks_so_far.planned,
            "rule": looks_so_far.rule,
            "level": looks_so_far.level(alpha),
        }
    }


SECTION = Section(LooksPart, _compute)
