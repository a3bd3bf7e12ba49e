"""Writes sentences about machines of a campaign that differ, and about how much ratios vary between machines."""

from collections.abc import Mapping

from h123.analysis.machines.section import MachinesPart
from h123.analysis.selected_trials import MachineDifference
from h123.base.units import format_share
from h123.report.text.words import level, place
from h123.study import metric


def machine_lines(verdicts: MachinesPart) -> list[str]:
    """Return sentences for the summary about machines that differ. Empty if one machine ran all trials, or if all
    trials used the virtual clock."""
    row = verdicts.get("machines")
    if not row:
        return []
    lines = [_difference(difference) for difference in row["differences"]]
    if row["spreads"]:
        widest = max(row["spreads"], key=lambda spread: spread["between"])
        text = (
            f"between the {row['machines']} machines, {_ratio(widest)} varies by {format_share(widest['between'])}, "
            f"and from block to block on one machine by {format_share(widest['within'])}"
        )
        lines.append(f"{text} (the answer that varies most)" if len(row["spreads"]) > 1 else text)
    return lines


def _difference(row: MachineDifference) -> str:
    if row["by"] == "level":
        slow = (row["ratio"] > 1) == (metric(row["metric"]).better == "lower")
        return (
            f"machine {row['machine']} is {'slow' if slow else 'fast'}: its {metric(row['metric']).title.lower()}"
            f"{_where(row['cell'])} is {_off(row['ratio'])} than on the other machines. Its ratios count"
        )
    if row["by"] == "twin":
        what = f"two runs of {level(row['a'])} differ by {format_share(abs(row['ratio'] - 1))} there (A/A pair)"
    else:
        what = f"{_ratio(row)} is {_off(row['ratio'])} there than on the other machines"
    if row["left_out"]:
        return f"machine {row['machine']} is left out: {what}"
    return (
        f"machine {row['machine']} differs from the rest, and too few machines are left to say which is right: {what}"
    )


def _ratio(row: Mapping[str, object]) -> str:
    """Describe the comparison: `the ratio HTTP/3 / HTTP/2 of latency on poor`."""
    name = metric(str(row["metric"])).title.lower()
    return f"the ratio {level(str(row['a']))} / {level(str(row['b']))} of {name}{_where(row['cell'])}"


def _where(cell: object) -> str:
    words = place(cell) if isinstance(cell, Mapping) else ""
    return f" {words}" if words else ""


def _off(ratio: float) -> str:
    return f"{format_share(abs(ratio - 1))} {'higher' if ratio > 1 else 'lower'}"
