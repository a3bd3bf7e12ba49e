"""Tables for the terminal: plans, networks, studies, checks."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from h123.base.terminal.console import wrap, write
from h123.base.units import format_bytes, format_seconds, format_span
from h123.study import list_networks, list_studies, load_network, question_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from h123.cli.doctor import Check
    from h123.execution import Jobs
    from h123.measures import Repetition
    from h123.study import Estimate, Plan


_LISTED = 40
"""Trials of a block: of more, nobody reads a line each."""
_ORDERED = 8


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def print_plan(plan: "Plan", lanes: "Jobs", console: Console) -> None:
    """How long it takes, each treatment, or where they are many each slice, and the order of the first block."""
    estimates = plan.estimates()
    seconds, size = (sum(getattr(e, what) for e in estimates.values()) for what in ("seconds", "bytes"))
    blocks = "1 block" if len(plan.blocks) == 1 else f"{len(plan.blocks)} blocks"
    write(
        console,
        f"{blocks}, {len(estimates)} trials, seed {plan.seed}: about {format_span(seconds)} and "
        f"{format_bytes(size)} over the links (an estimate; a run corrects it as it goes)",
    )
    write(console, _lanes(plan, lanes))
    for note in plan.notes:
        write(console, f"Note: {note}")
    console.print()
    first = plan.blocks[0]
    console.print(_treatments(plan) if len(first) <= _LISTED else _slices(plan, estimates))
    if len(first) > _LISTED:
        write(console, f"Each treatment is listed where --filter leaves at most {_LISTED} a block.")
    more = f", and {len(first) - _ORDERED} more" if len(first) > _ORDERED else ""
    write(console, f"\nOrder of block 1: {', '.join(t.id for t in first[:_ORDERED])}{more}")


def _treatments(plan: "Plan") -> Table:
    from h123.study import estimate

    table = _table(*plan.trials()[0].cell, "trials", "s a trial", "bytes a trial")
    count = Counter((tuple(t.cell.values()), t.twin) for t in plan.trials())
    for trial in sorted(plan.blocks[0], key=lambda t: (*t.cell.values(), t.twin)):
        expected = estimate(trial, plan.study.networks)
        runs = str(count[tuple(trial.cell.values()), trial.twin])
        marked = f"{runs} (A/A twin)" if trial.twin else runs
        table.add_row(*trial.cell.values(), marked, f"{expected.seconds:.1f}", format_bytes(expected.bytes))
    return table


def _slices(plan: "Plan", estimates: "Mapping[str, Estimate]") -> Table:
    """What `--filter FACTOR=LEVEL` would leave, for each level of what varies."""
    table = _table("slice", "trials", "time", "bytes")
    trials = plan.trials()
    for factor, declared in plan.study.factors.items():
        present = {trial.cell[factor] for trial in trials}
        for level in (name for name in declared if name in present and len(present) > 1):
            part = [estimates[trial.id] for trial in trials if trial.cell[factor] == level]
            time, size = sum(one.seconds for one in part), sum(one.bytes for one in part)
            table.add_row(f"{factor}={level}", str(len(part)), format_span(time), format_bytes(size))
    return table


def _lanes(plan: "Plan", lanes: "Jobs") -> str:
    most = max(lanes.width(trial) for trial in plan.blocks[0])
    if most == 1:
        return "One trial at a time (--jobs N runs N trials over emulated links at once)"
    if lanes.most is None:
        limit = "as far as the machine's measured headroom allows"
    elif lanes.most < lanes.virtual:
        limit = "one per processor, under the virtual clock only"
    else:
        limit = "as --jobs says"
    span = lanes.span(lanes.order(plan.blocks), lambda trial: lanes.estimates[trial.id])
    return f"Up to {most} trials at once, {limit}: about {format_span(span)}"


_NARROW = 10
"""Columns of prose in a table, however narrow the terminal is."""


def print_networks(console: Console) -> None:
    """All networks of the project."""
    names = list_networks()
    width = max((console.width - max(map(len, names))) // 2 - 2, _NARROW)
    table = _table("name", "what", "what the link does")
    for name in names:
        network = load_network(name)
        up, down = network.describe()
        ways = f"each way: {up}" if up == down else f"up: {up}; down: {down}"
        link = "; ".join(filter(None, [ways, network.describe_moves(), network.describe_cross()]))
        table.add_row(name, *(wrap(text, width) for text in (network.title, link)))
    console.print(table)
    write(console, "\nDelays are one-way, per direction: 15 ms up and 15 ms down add 30 ms to the round trip.")


def print_studies(console: Console) -> None:
    """All studies of the project."""
    table = _table("name", "question")
    for path in list_studies():
        table.add_row(path.stem, question_of(path))
    console.print(table)


def print_checks(checks: "list[Check]", console: Console) -> None:
    """The doctor's findings; a remedy under each that failed."""
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("missing", "red") if check.needed else ("limited", "yellow")
        write(console, f"{check.name}: {check.detail}", lead=f"{mark:8}", lead_style=style)
        if check.remedy and not check.ok:
            write(console, check.remedy, lead=f"{'':8}-> ")


def print_repetition(trial: str, found: "Repetition", console: Console) -> None:
    """Whether a trial repeated, and every figure that did not."""
    verdict = "identical" if found.identical else "repeated" if found.repeated else "did NOT repeat"
    lines = [f"{trial}: {verdict}", _links_line(found)]
    lines += [f"    {d.name}: {d.first} and {d.second}" for d in (*found.packets, *found.bytes)]
    lines.append(f"  samples: {found.samples}, {found.outcomes or 'none'} with another outcome; {_times(found)}")
    if found.repeated and not found.identical:
        lines.append(
            f"  this can be TLS randomness: signatures of different length change up to {found.random_bytes} B per "
            f"direction, and times by up to {format_seconds(found.random_ns * 1e-9)}"
        )
    for line in lines:
        console.print(line, soft_wrap=True)


def _links_line(found: "Repetition") -> str:
    packets = f"{len(found.packets)} differ" if found.packets else "identical"
    sizes = f"{len(found.bytes)} differ" if found.bytes else "identical"
    return f"  links: counts of packets and drop sets {packets}; counts of bytes {sizes}"


def _times(found: "Repetition") -> str:
    if not found.moved:
        return "all times identical"
    return f"times of {found.moved} differ, by at most {format_seconds(found.furthest_ns * 1e-9)}"
