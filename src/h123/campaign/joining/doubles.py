"""A block that was run twice: under the virtual clock both must be the same, and in real time there can be only one."""

from collections.abc import Mapping

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.campaign.joining.blocks import RunBlock, machines
from h123.documents import read_document
from h123.documents.campaign_file import MachineFacts, Seal
from h123.documents.events import AttemptFacts
from h123.study import PlannedTrial

_OF_THE_MACHINE = ("event.json", "report.json", "trial.json")
"""Files that name the machine and its processors, their time, and when the trial ran."""
_LOGS = "logs/"
"""What programs print, such as the time of day outside."""


def require_same(one: RunBlock, other: RunBlock) -> None:
    """Raises UserError where the two runs of a block did not do the same, or could not be expected to."""
    if not (one.virtual and other.virtual):
        raise UserError(
            f"block {one.number} was measured twice in real time: in {one.folder.path} by {_names(one)}, and in "
            f"{other.folder.path} by {_names(other)}",
            remedy="leave out one of the two folders, by a rule that does not depend on what was measured",
        )
    verify = [f"h123 verify {typed(block.folder.path)}" for block in (one, other)]
    for trial in one.trials:
        if fault := _difference(one, other, trial):
            raise UserError(
                f"block {one.number} was run twice under the virtual clock, and {trial.id} did not do the same: {fault}"
                f"\n  {_description(one, trial)}\n  {_description(other, trial)}",
                remedy="a virtual trial does the same on every machine. See which of the two repeats itself there:\n"
                f"  {verify[0]} {trial.id}\n  {verify[1]} {trial.id}",
                status=1,
            )


def _difference(one: RunBlock, other: RunBlock, trial: PlannedTrial) -> str | None:
    counted = [_counted(block, trial) for block in (one, other)]
    if not all(counted):
        return None if not any(counted) else "one of the two has no valid attempt"
    left, right = (_digests(block, event) for block, event in zip((one, other), counted, strict=True) if event)
    if different := sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name)):
        return f"{', '.join(different[:4])}{', ...' if len(different) > 4 else ''} differ"
    return None


def _counted(block: RunBlock, trial: PlannedTrial) -> AttemptFacts | None:
    """The attempt that the analysis takes: nothing disturbs a virtual one, so the last valid one."""
    return next((event for event in reversed(block.standing(trial)) if event["valid"]), None)


def _digests(block: RunBlock, event: AttemptFacts) -> Mapping[str, str]:
    """Of the files that say what the trial did."""
    files = read_document(block.folder.attempt(event) / "seal.json", Seal).files
    return {n: digest for n, digest in files.items() if n not in _OF_THE_MACHINE and not n.startswith(_LOGS)}


def _names(block: RunBlock) -> str:
    return " and ".join(sorted({event.get("place", "an unnamed machine") for event in block.attempts}))


def _description(block: RunBlock, trial: PlannedTrial) -> str:
    """Where a trial ran, and on what: kernel, processor and build."""
    event = _counted(block, trial)
    place = event.get("place", "") if event else ""
    facts: MachineFacts = machines(block.folder.events()).get(place, block.folder.machine)
    system = f"{place or 'an unnamed machine'}, Linux {facts.get('kernel')} on {facts.get('cpu')}"
    build = f"lab {facts.get('lab_build')} and virtual kernel {facts.get('virtual_kernel_build')}"
    return f"{block.folder.path}: {system}, h123 {block.folder.version} with {build}"
