"""Prints the cost of a plan on several machines: time, machine hours, bytes, and the number of machines beyond which
more would not help."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from h123.base.terminal.console import write
from h123.base.units import format_bytes, format_span

if TYPE_CHECKING:
    from rich.console import Console

    from h123.execution import Jobs
    from h123.study import Plan

_LADDER = (1, 2, 5)


def print_machines(plan: "Plan", jobs: "Jobs", machines: int, console: "Console") -> None:
    """Print the plan's cost on the given number of machines like this one, and on fewer and more."""
    from h123.execution import kept_bytes

    blocks = plan.planned
    used = min(machines, blocks)
    time, hours = _cost(plan, jobs, used)
    moved = sum(estimate.bytes for estimate in plan.estimates().values())
    kept = kept_bytes(plan.trials(), plan.study.networks)
    write(
        console,
        f"\nOn {_machines(machines)} like this one: about {format_span(time)} and {_hours(hours)} of machine time, "
        f"{format_bytes(moved)} over the links, {format_bytes(kept)} to collect",
    )
    if (least := _least(blocks, used)) < machines:
        write(console, f"{_machines(least)} would take as long, because each block runs on one machine.")
    console.print(_table(plan, jobs, machines))
    write(
        console,
        f"More than {_machines(blocks)} cannot help, because no block is divided. The time to install subjects on each "
        "machine is not included.",
    )


def _cost(plan: "Plan", jobs: "Jobs", machines: int) -> tuple[float, float]:
    """Return the seconds until the last of `machines` machines has run its shard, and the sum of all machines'
    seconds."""
    spans = list[float]()
    for number in range(1, machines + 1):
        part = plan.part(range(number, plan.planned + 1, machines))
        spans.append(jobs.span(jobs.order(part.blocks), lambda trial: jobs.estimates[trial.id]))
    return max(spans), sum(spans)


def _least(blocks: int, machines: int) -> int:
    """Return the smallest number of machines that finish as early as `machines` machines."""
    return math.ceil(blocks / math.ceil(blocks / machines))


def _table(plan: "Plan", jobs: "Jobs", machines: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("machines", "blocks each", "time", "machine time"):
        table.add_column(column, justify="right")
    for number in sorted({*_ladder(plan.planned), min(machines, plan.planned), plan.planned}):
        time, hours = _cost(plan, jobs, number)
        each = f"up to {math.ceil(plan.planned / number)}"
        table.add_row(str(number), each, format_span(time), _hours(hours))
    return table


def _ladder(blocks: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50, ..., each reduced to the fewest machines that are just as fast."""
    tens = 1
    while tens <= blocks:
        yield from (_least(blocks, digit * tens) for digit in _LADDER if digit * tens <= blocks)
        tens *= 10


def _machines(count: int) -> str:
    return "1 machine" if count == 1 else f"{count} machines"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 360 else format_span(seconds)
