"""Protocol and processing in words: what of each difference either clock explains."""

from collections.abc import Mapping, Sequence
from typing import Any

from h123.report.text.difference import unfit
from h123.report.text.words import cell_name, interval, level, ratio


def product(row: Mapping[str, Any]) -> str:
    """`1.10 ≈ 1.02 × 1.08`: total, protocol part, processing part, each with its own centre."""
    total, protocol, processing = (
        ratio(row[part]["ratio"], row[part]["low"], row[part]["high"]) for part in ("total", "protocol", "processing")
    )
    return f"{total} ≈ {protocol} × {processing}"


def cpu_beside(split: Mapping[str, Any], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """CPU per request under the wall clock, of the same levels in the same cell."""
    (found,) = [c for c in split["cpu"] if all(c[name] == row[name] for name in ("cell", "a", "b"))]
    return dict(found)


def terminal_lines(split: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each comparison that answers the question (`asked`); none without data."""
    wanted = {(c["metric"], c["a"], c["b"]) for c in asked}
    rows = [row for row in split["rows"] if (row["metric"], row["a"], row["b"]) in wanted]
    lines = [f"  {_subject(row)}: {_told(split, row)}" for row in rows]
    return ["Total ≈ protocol × processing (interval of the last):", *lines] if lines else []


def _told(split: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The parts; of a ratio that is not judged under either clock there are none."""
    if any(unfit(row[part]) for part in ("total", "protocol")):
        return "not judged"
    return f"{product(row)} ({interval(row['processing'])}); {_cpu(split, row)}"


def _subject(row: Mapping[str, Any]) -> str:
    where = cell_name(row["cell"])
    return f"{level(row['a'])} / {level(row['b'])}" + (f" on {where}" if where else "")


def _cpu(split: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    found = cpu_beside(split, row)
    return f"CPU {ratio(found['ratio'], found['low'], found['high'])} times"
