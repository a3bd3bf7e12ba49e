"""Describes a ladder: the whole ratio as the product of its steps."""

from collections.abc import Sequence

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.verdicts.ladder import Factor, LadderRow
from h123.report.text.words import cell_name, level, percent, ratio
from h123.study import metric

NOTABLE = 0.03
"""The share by which a geometric mean may differ from the comparison's estimate without a note."""


def terminal_lines(rows: Sequence[LadderRow], answers: Sequence[JudgedComparison]) -> list[str]:
    """Return a line that lists the steps, then a line for each cell and each metric of `answers`. Empty if the study
    has no ladder."""
    metrics = {c["metric"] for c in answers}
    answer_rows = [row for row in rows if row["metric"] in metrics]
    if not answer_rows:
        return []
    steps = ", ".join(level(step["a"]) for step in answer_rows[0]["steps"])
    whole = answer_rows[0]["whole"]
    head = f"Steps from {level(whole['b'])} to {level(whole['a'])}: {steps}. Geometric means, which multiply:"
    return [
        head,
        *(f"  {metric(row['metric']).title}, {where(row)}: {product(row)}{caveat(row)}" for row in answer_rows),
    ]


def where(row: LadderRow) -> str:
    """Return the row's cell, or the workload if nothing else varies."""
    return cell_name(row["cell"]) or str(row["workload"])


def product(row: LadderRow) -> str:
    """Format the product: `0.63 = 0.78 × 0.81`."""
    if row["whole"]["factor"] is None:
        return "a side lost blocks, or none has all steps"
    return f"{factor(row['whole'])} = {' × '.join(factor(step) for step in row['steps'])}"


def factor(of: Factor) -> str:
    """Format the factor of one step, or of the whole."""
    return ratio(of["factor"], of["low"], of["high"])


def caveat(row: LadderRow) -> str:
    """Return a note if a few blocks move the means away from the comparisons' estimates; otherwise an empty string."""
    if row["apart"] is None or row["apart"] <= NOTABLE:
        return ""
    return f"; a few outlying blocks change one of these means by {percent(row['apart'])}"
