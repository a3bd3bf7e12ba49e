"""The looks at a campaign: those that were taken, and when the next one is due."""

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import headline
from h123.analysis.provenance.counts import BlocksPart
from h123.analysis.section import Section
from h123.analysis.statistics.looks import LooksTaken
from h123.analysis.verdicts.judgement import JudgedPart


class LooksPart(TypedDict):
    looks: LooksTaken


class LooksAndVerdicts(LooksPart, BlocksPart, JudgedPart):
    """What of verdicts.json decides about the next look."""


def next_look(verdicts: LooksAndVerdicts, *, undecided: bool | None = None) -> int | None:
    """The number of blocks at which to look next; None where what is asked is decided, or more blocks cannot help.

    `undecided` says so of whatever is asked; None: the study's question, its first family, in which all comparisons
    have a verdict, or none is possible.
    """
    if undecided is None:
        answers = headline(verdicts["comparisons"])
        undecided = any(c["verdict"] == "inconclusive" and not c["withheld"] for c in answers)
    further = [blocks for blocks in verdicts["looks"]["planned"] if blocks > verdicts["blocks"]["planned"]]
    return further[0] if undecided and further else None


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
