"""Handles a block that was run twice. Under the virtual clock, both runs must agree; in real time, only one run is
allowed."""

from h123.base.errors import UserError
from h123.campaign.joining.blocks import RunBlock
from h123.campaign.sameness import counted, differences, executed, unlike


def require_same(one: RunBlock, other: RunBlock) -> None:
    """Raise UserError if two runs of a block differ, or if they are in real time, where two runs always differ."""
    if not (one.virtual and other.virtual):
        raise UserError(
            f"block {one.number} was measured twice in real time: in {one.folder.path} by {_names(one)}, and in "
            f"{other.folder.path} by {_names(other)}",
            remedy="leave out one of the two folders, by a rule that does not depend on what was measured",
        )
    for trial in one.trials:
        attempts = [counted(block.standing(trial)) for block in (one, other)]
        runs = [executed(block.folder, event) for block, event in zip((one, other), attempts, strict=True) if event]
        if len(runs) == 1:
            fault: str | None = "one of the two has no valid attempt"
        else:
            fault = differences(runs[0].files, runs[1].files) if runs else None
        if fault:
            raise unlike(f"block {one.number}", trial.id, fault, runs)


def _names(block: RunBlock) -> str:
    return " and ".join(sorted({event.get("place", "an unnamed machine") for event in block.attempts}))
