"""Says how much of each difference is protocol and how much is processing, from trials under both clocks."""

from collections.abc import Sequence

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.verdicts.decomposition import CostRow, PartsOfTime, PartsRow
from h123.report.text.difference import unfit
from h123.report.text.words import cell_name, interval, level, ratio


def product(row: PartsRow) -> str:
    """Format a row as `1.10 ≈ 1.02 × 1.08`: total, protocol part, processing part. Each is a separate estimate, so the
    product is only approximate."""
    total, protocol, processing = (
        ratio(part["ratio"], part["low"], part["high"]) for part in (row["total"], row["protocol"], row["processing"])
    )
    return f"{total} ≈ {protocol} × {processing}"


def cpu_cost(split: PartsOfTime, row: PartsRow) -> CostRow:
    """Return the processor time per request under the wall clock, for the same levels in the same cell."""
    same = row["cell"], row["a"], row["b"]
    (cost_row,) = [cost for cost in split["cpu"] if (cost["cell"], cost["a"], cost["b"]) == same]
    return cost_row


def terminal_lines(split: PartsOfTime, answers: Sequence[JudgedComparison]) -> list[str]:
    """Return a line for each of the answer's comparisons that was divided into parts. Empty if there are none."""
    keys = {(c["metric"], c["a"], c["b"]) for c in answers}
    rows = [row for row in split["rows"] if (row["metric"], row["a"], row["b"]) in keys]
    lines = [f"  {_subject(row)}: {_parts_words(split, row)}" for row in rows]
    return ["Total ≈ protocol × processing (interval of the last):", *lines] if lines else []


def _parts_words(split: PartsOfTime, row: PartsRow) -> str:
    """Describe the parts of a row, or say that the ratio is not judged under one of the clocks."""
    if any(unfit(part) for part in (row["total"], row["protocol"])):
        return "not judged"
    return f"{product(row)} ({interval(row['processing'])}); {_cpu(split, row)}"


def _subject(row: PartsRow) -> str:
    where = cell_name(row["cell"])
    return f"{level(row['a'])} / {level(row['b'])}" + (f" on {where}" if where else "")


def _cpu(split: PartsOfTime, row: PartsRow) -> str:
    cost = cpu_cost(split, row)
    return f"CPU {ratio(cost['ratio'], cost['low'], cost['high'])} times"
