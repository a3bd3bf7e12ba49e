"""`h123 diff`: prints the differences between two campaigns from different days or machines, and checks conditions."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from h123.base.errors import UserError
from h123.base.relative import signed
from h123.base.terminal.console import out_console, print_json, write
from h123.base.units import counted
from h123.cli.answer_form import JsonOption
from h123.cli.campaigns.damage import complain_of_damage, require_writable
from h123.cli.options import ByOption, ForceOption

if TYPE_CHECKING:
    from rich.table import Table

    from h123.diff import Diff, DiffRow
    from h123.study import Condition

PAIR = "after/before"
_ENDS: "Sequence[Literal['low', 'high']]" = ("low", "high")
_NOTABLE = 0.03
"""The fraction by which the estimated ratio and the ratio of the medians may differ without a remark from diff."""
_NAMED = 5
"""The maximum number of left-out treatments to print; diff.json lists all."""


def command(
    before: Annotated[Path, typer.Argument(metavar="BEFORE_DIR", help="First campaign folder.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="AFTER_DIR", help="Second campaign folder.", show_default=False)],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with status 99 if a ratio meets this condition, 98 if the condition is undecided, and 0 if no "
            "ratio meets it. Examples of conditions: 'latency after/before > 1.05' and 'latency after/before > +5%'. "
            "Can be repeated.",
            show_default=False,
        ),
    ] = None,
    by: ByOption = "interval",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: AFTER_DIR/diff]", show_default=False),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two campaigns from different days or machines, with one ratio (after/before) for each treatment.

    The two campaigns are not paired. The ratios therefore include effects of the day or the machine, and the intervals
    are wider than within one campaign. If you can, measure both builds in one campaign instead (`h123 compare` with two
    --server options). diff lists what differs between the campaigns, and refuses to compare them if they have no
    treatment in common. It writes diff.json, and with --fail-if also the files that `h123 gate` writes.

    Examples:

    `h123 diff campaigns/monday campaigns/friday`

    `h123 diff campaigns/monday campaigns/friday --fail-if 'latency after/before > +5%'`
    """
    from h123.cli.campaigns import requirements

    raise typer.Exit(
        _diff(before, after, requirements.forbidding(fail_if or [], by), out, force=force, as_json=as_json)
    )


def _diff(
    before: Path, after: Path, conditions: "Sequence[Condition]", out: Path | None, *, force: bool, as_json: bool
) -> int:
    """Compute, print and write the difference, and return the exit status. Raises UserError."""
    from h123.base.files.durable import write_atomically
    from h123.base.files.output import check_output
    from h123.diff import differ
    from h123.gate import GATE_FILES
    from h123.store import CampaignFolder

    if wrong := [condition for condition in conditions if condition.subject != PAIR]:
        raise UserError(
            f"--fail-if: {wrong[0].subject!r}: here the levels are after and before",
            remedy="--fail-if 'latency after/before > 1.05'",
        )
    folders = CampaignFolder.open(before), CampaignFolder.open(after)
    require_writable(folders[1], out, "--out DIR")
    where = out or folders[1].path / "diff"
    for name in ["diff.json", *(GATE_FILES if conditions else ())]:
        check_output(where / name, force=force or out is None)
    diff = differ(*folders)
    where.mkdir(parents=True, exist_ok=True)
    write_atomically(where / "diff.json", json.dumps(diff, indent=1, allow_nan=False) + "\n")
    if as_json:
        print_json(diff)
    else:
        _print(diff)
        out_console.print(f"Diff: {where / 'diff.json'}", soft_wrap=True)
    status = _gate_status(diff, conditions, where, is_quiet=as_json) if conditions else 0
    for folder in folders:
        complain_of_damage(folder)
    return status


def _gate_status(diff: "Diff", conditions: "Sequence[Condition]", where: Path, *, is_quiet: bool) -> int:
    """Check the difference against the conditions and return the exit status."""
    from h123.cli.campaigns.requirements import report_outcomes
    from h123.gate import judge, unpaired_figures

    unfinished = "; ".join(diff.get("unfinished", [])) or None
    outcomes = [judge(condition, unpaired_figures(diff, condition), unfinished=unfinished) for condition in conditions]
    return report_outcomes(
        where, f"{diff['before']['campaign']} and {diff['after']['campaign']}", outcomes, is_quiet=is_quiet
    )


def _print(diff: "Diff") -> None:
    for word in ("before", "after"):
        side = diff[word]
        began = f"{side['study']}, begun {side['created']}, {counted(side['blocks'], 'block')}"
        write(out_console, f"{side['campaign']}: {began}", lead=f"{word}: ")
    for line in diff.get("unfinished", []):
        write(out_console, line, lead="Note: ")
    for line in _cost(diff):
        write(out_console, line)
    write(out_console, "\nWhat differs:" if diff["changes"] else "\nNothing in the folders differs.")
    for change in diff["changes"]:
        write(out_console, f"{change['what']}: {change['before'] or 'none'} -> {change['after'] or 'none'}", lead="  ")
    for treatment in diff["left_out"][:_NAMED]:
        write(out_console, f"Left out, {' '.join(treatment['cell'].values())}: {treatment['why']}")
    if more := diff["left_out"][_NAMED:]:
        write(out_console, f"Left out: {len(more)} more, in diff.json")
    out_console.print()
    out_console.print(_table(diff["rows"]))
    for line in _trust(diff["rows"]):
        write(out_console, line)


def _cost(diff: "Diff") -> Iterator[str]:
    yield (
        "Not paired: the campaigns ran at different times. The ratios also contain whatever else changed, such as the "
        "machine or its load, and no interval can separate that from the build."
    )
    if (wider := diff["wider"]) and wider > 1:
        yield (
            f"Pairs within one campaign would have intervals {wider:.1f} times narrower, without such effects: "
            "`h123 compare --server before=... --server after=...`"
        )


def _table(rows: "Sequence[DiffRow]") -> "Table":
    from h123.base.terminal.tables import plain_table
    from h123.diff import CONFIDENCE

    interval = f"{CONFIDENCE:.0%} interval"
    table = plain_table("treatment", "metric", "before", "after", "after/before", interval, "blocks")
    for row in rows:
        table.add_row(
            " ".join(row["cell"].values()) or "all",
            row["metric"],
            *(_value(row["metric"], row[end]) for end in ("before_median", "after_median")),
            "not judged" if row["withheld"] else _change(row["ratio"]),
            ""
            if row["withheld"] or row["ratio"] is None
            else f"{_change(row['low'], row['ratio'])} to {_change(row['high'], row['ratio'])}",
            f"{len(row['before'])}, {len(row['after'])}",
        )
    return table


def _value(metric: str, value: float | None) -> str:
    from h123.base.units import format_value
    from h123.study import METRICS

    return "-" if value is None else format_value(value, METRICS[metric].unit)


def _change(ratio: float | None, like: float | None = None) -> str:
    return "?" if ratio is None else signed(ratio, like=like)


def _parts(row: "DiffRow") -> bool:
    """Return whether the ratio of the two medians differs notably from the estimated ratio."""
    before, after, ratio = row["before_median"], row["after_median"], row["ratio"]
    if row["withheld"] or not (before and after and ratio):
        return False
    return abs(math.log(after / before / ratio)) > _NOTABLE


def _trust(rows: "Sequence[DiffRow]") -> Iterator[str]:
    from h123.diff import CONFIDENCE, FEWEST

    for row in rows:
        if row["withheld"]:
            yield f"Not judged, {' '.join(row['cell'].values())}, {row['metric']}: {row['withheld']}"
    if parted := [row for row in rows if _parts(row)]:
        names = [f"{' '.join(row['cell'].values()) or 'all'}, {row['metric']}" for row in parted[:_NAMED]]
        more = f"; and {len(parted) - _NAMED} more" if len(parted) > _NAMED else ""
        yield (
            f"Ratios and medians differ: {'; '.join(names)}{more}. after/before compares geometric means over all "
            "blocks; a median is the value of the middle block."
        )
    if any(min(len(row["before"]), len(row["after"])) < FEWEST for row in rows):
        yield f"Do not rely on the interval of a row with fewer than {FEWEST} blocks before or after."
    concluded = sum(row["ratio"] is not None and not row["withheld"] for row in rows)
    chance = round(1 / (1 - CONFIDENCE))
    yield f"By chance, one interval in {chance} misses the true value; this table has {concluded}."
