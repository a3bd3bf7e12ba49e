"""`h123 what-if --losses-of`: shows which lost packets of a trial cost most."""

from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.terminal.console import out_console, say
from h123.base.units import counted, format_seconds

if TYPE_CHECKING:
    from h123.campaign import LossCosts

_MOST = 10
"""The largest number of packets to list."""


def show_losses(folder: Path, trial: str, jobs: int | None) -> None:
    """Rerun a trial once for each lost packet, without that one loss, and print the losses that cost the most time.
    Raises UserError."""
    from h123.campaign import find_trial, measure_losses
    from h123.execution import LocalPool, this_machine

    which = find_trial(folder, trial)
    with LocalPool() as pool:
        found = measure_losses(which, pool, jobs or this_machine().cpus, say)
    for line in loss_lines(which.trial.id, found):
        out_console.print(line, soft_wrap=True, highlight=False)


def loss_lines(trial: str, found: "LossCosts") -> list[str]:
    costs, whole = found.costs, format_seconds(found.seconds)
    lines = [
        f"{trial}: the link lost {counted(len(costs), 'packet')}; the mean request takes {whole}.",
        "Without this one loss ...                         the mean request takes",
    ]
    for cost in costs[:_MOST]:
        saved = found.seconds - cost.seconds
        change = f"{format_seconds(abs(saved))} {'less' if saved > 0 else 'more'}" if saved else "the same"
        where = f"packet {cost.number} {cost.way}, at {format_seconds(cost.at_ns / 1e9)}"
        lines.append(f"  {where:<40}{format_seconds(cost.seconds):>12}  ({change})")
    better = sum(cost.seconds < found.seconds for cost in costs)
    return [
        *lines,
        f"{better} of {len(costs)} losses cost time. The others did not: without them, later losses hit more important "
        "packets.",
    ]
