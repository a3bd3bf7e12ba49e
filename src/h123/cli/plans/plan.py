"""`h123 plan`: shows what a run would do, and how precise its results would be."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from h123.base.terminal.console import out_console, print_json, write
from h123.base.terminal.tables import plain_table
from h123.base.units import counted, format_bytes, format_span
from h123.cli.answer_form import JsonOption
from h123.cli.options import (
    ADVANCED,
    BlocksOption,
    ClockOption,
    FilterOption,
    JobsOption,
    ScaleOption,
    SeedOption,
    StudyArgument,
    TransportOption,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from h123.execution import Jobs
    from h123.study import Estimate, Plan

_LISTED = 40
"""The largest number of trials per block that are listed one by one."""
_ORDERED = 8


def command(
    study: StudyArgument,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    levels: FilterOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    jobs: JobsOption = None,
    spread: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            parser=share,
            help="Assumed standard deviation of a ratio from block to block, such as 10%. [default: from published "
            "campaigns]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            parser=share,
            help="Difference to detect, such as 10%. [default: the study's margin]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    machines: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            metavar="N",
            help="Also show the time, machine hours and bytes on N machines (`h123 run --shard`), and "
            "the number of machines beyond which the campaign gets no shorter.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Also show the number of blocks that `h123 run --precision W` would need.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what `run` would do, without running it: treatments, trials, order, estimated time and bytes.

    Also predict how narrow the intervals will be, and how likely each family of comparisons is to find a difference of
    a given size. The prediction uses the spread between blocks in published campaigns (docs/statistics.md).

    Examples:

    `h123 plan quick`

    `h123 plan rest-api --blocks 20 --effect 5%`
    """
    from h123.campaign import cast_of, lacking, likeness
    from h123.cli.campaigns.verification_gate import proof_lines, proofs_of
    from h123.cli.plans.power_preview import print_power_preview
    from h123.cli.shards.machines import print_machines
    from h123.execution import Jobs, this_machine
    from h123.study import find_study, load_study, make_plan, parse_filter

    study_asked = load_study(find_study(study)).scaled(1.0 if scale is None else scale)
    study_asked = study_asked.settled(clock=clock, transport=transport)
    planned = make_plan(study_asked, blocks=blocks, seed=seed, level_filter=parse_filter(levels or []))
    cast = cast_of(planned)  # refuses everything that `run` would refuse
    if as_json:
        print_json(_document(planned))
        return
    rule = Jobs.at(planned, jobs, this_machine())
    _print_plan(planned, rule, out_console)
    if machines is not None:
        print_machines(planned, rule, machines, out_console)
    for line in proof_lines(proofs_of(cast)):
        write(out_console, line)
    for sentence in likeness(planned):
        write(out_console, f"Transport {sentence.text}")
    for condition in planned.study.require:
        write(out_console, f"Required: {condition}")
    print_power_preview(planned, out_console, effect=effect, spread=spread, width=precision)
    if first := lacking(planned):
        out_console.print(f"Note: {first.message}; {first.remedy}", soft_wrap=True)


def _document(plan: "Plan") -> "Mapping[str, object]":
    """Return the plan as JSON content: each trial in the order of execution, with its estimated cost."""
    estimates = plan.estimates()
    seconds, size = (sum(getattr(each, what) for each in estimates.values()) for what in ("seconds", "bytes"))
    trials = [
        {
            "id": trial.id,
            "block": trial.block,
            "position": trial.position,
            "cell": trial.cell,
            "twin": trial.twin,
            "seconds": estimates[trial.id].seconds,
            "bytes": estimates[trial.id].bytes,
        }
        for trial in plan.trials()
    ]
    return {
        "study": plan.study.name,
        "seed": plan.seed,
        "blocks": len(plan.blocks),
        "seconds": seconds,
        "bytes": size,
        "require": [str(condition) for condition in plan.study.require],
        "notes": plan.notes,
        "trials": trials,
    }


def _print_plan(plan: "Plan", lanes: "Jobs", console: "Console") -> None:
    """Print the estimated time, a row for each treatment (or each slice, if there are many), and the first block's
    order."""
    estimates = plan.estimates()
    seconds, size = (sum(getattr(e, what) for e in estimates.values()) for what in ("seconds", "bytes"))
    write(
        console,
        f"{counted(len(plan.blocks), 'block')}, {counted(len(estimates), 'trial')}, seed {plan.seed}: "
        f"about {format_span(seconds)} and {format_bytes(size)} over the links (an estimate, which a run corrects as "
        "it proceeds)",
    )
    write(console, _at_once(plan, lanes))
    for note in plan.notes:
        write(console, f"Note: {note}")
    console.print()
    first = plan.blocks[0]
    console.print(_treatments(plan) if len(first) <= _LISTED else _slices(plan, estimates))
    if len(first) > _LISTED:
        write(console, f"To list each treatment, select at most {_LISTED} per block with --filter.")
    more = f", and {len(first) - _ORDERED} more" if len(first) > _ORDERED else ""
    write(console, f"\nOrder of block 1: {', '.join(t.id for t in first[:_ORDERED])}{more}")


def _treatments(plan: "Plan") -> Table:
    from h123.study import estimate

    table = plain_table(*plan.trials()[0].cell, "trials", "s per trial", "bytes per trial")
    count = Counter((tuple(t.cell.values()), t.twin) for t in plan.trials())
    for trial in sorted(plan.blocks[0], key=lambda t: (*t.cell.values(), t.twin)):
        expected = estimate(trial, plan.study.networks)
        runs = str(count[tuple(trial.cell.values()), trial.twin])
        marked = f"{runs} (A/A twin)" if trial.twin else runs
        table.add_row(*trial.cell.values(), marked, f"{expected.seconds:.1f}", format_bytes(expected.bytes))
    return table


def _slices(plan: "Plan", estimates: "Mapping[str, Estimate]") -> Table:
    """Return a table of the trials that `--filter FACTOR=LEVEL` would keep, for each level of each factor."""
    table = plain_table("slice", "trials", "time", "bytes")
    trials = plan.trials()
    for factor, declared in plan.study.factors.items():
        present = {trial.cell[factor] for trial in trials}
        for level in (name for name in declared if name in present and len(present) > 1):
            part = [estimates[trial.id] for trial in trials if trial.cell[factor] == level]
            time, size = sum(trial.seconds for trial in part), sum(trial.bytes for trial in part)
            table.add_row(f"{factor}={level}", str(len(part)), format_span(time), format_bytes(size))
    return table


def _at_once(plan: "Plan", lanes: "Jobs") -> str:
    most = max(lanes.width(trial) for trial in plan.blocks[0])
    if most == 1:
        return "One trial at a time (--jobs N runs N trials over emulated links at once)"
    if lanes.most is None:
        limit = "as many as this machine's measured headroom allows"
    elif lanes.most < lanes.virtual:
        limit = "one per processor, under the virtual clock only"
    else:
        limit = "as set by --jobs"
    span = lanes.span(lanes.order(plan.blocks), lambda trial: lanes.estimates[trial.id])
    return f"Up to {most} trials at once, {limit}: about {format_span(span)}"
