"""Reports the size of the campaign: its blocks and trials."""

from collections import Counter

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.gathering import complete_blocks
from h123.analysis.section import Section
from h123.analysis.statistics.signedrank import attainable
from h123.analysis.trials import treated


class Blocks(TypedDict):
    planned: int
    complete: int


class TrialCounts(TypedDict):
    planned: int
    valid: int
    invalid: int
    missing: int
    """The number of trials that have no valid attempt, or whose files are damaged or missing."""


class BlocksPart(TypedDict):
    blocks: Blocks
    """The number of planned blocks, and of blocks in which every trial was measured."""


class CountsPart(BlocksPart):
    attainable_p: float
    """The smallest p that is possible with the complete blocks."""
    trials: TrialCounts


def _compute(case: Case) -> CountsPart:
    complete = complete_blocks(case.measured.attempts, case.plan)
    return {
        "blocks": {"planned": len(case.plan.blocks), "complete": complete},
        "attainable_p": attainable(complete),
        "trials": _trials(case),
    }


def _trials(case: Case) -> TrialCounts:
    by_validity = Counter(bool(event["valid"]) for event in case.facts.events if event["event"] == "trial")
    attempts = case.measured.attempts
    missing = len({treated(trial) for trial in case.plan.trials()} - {treated(attempt) for attempt in attempts})
    valid = len(attempts)
    return {"planned": valid + missing, "valid": valid, "invalid": by_validity[False], "missing": missing}


SECTION = Section(CountsPart, _compute)
