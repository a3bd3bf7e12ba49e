"""A ladder in words: the whole ratio beside the product of its steps."""

from collections.abc import Sequence

from h123.analysis.document import Judged, LadderRow, Side
from h123.report.words import cell_name, level, percent, ratio
from h123.study import metric


def terminal_lines(rows: Sequence[LadderRow], asked: Sequence[Judged]) -> list[str]:
    """The steps, then a line for each cell by the metrics that answer the question (`asked`); none without a ladder."""
    wanted = {c["metric"] for c in asked}
    shown = [row for row in rows if row["metric"] in wanted]
    if not shown:
        return []
    steps = ", ".join(level(step["a"]) for step in shown[0]["steps"])
    whole = shown[0]["whole"]
    said = f"Steps from {level(whole['b'])} to {level(whole['a'])}: {steps}. Whole ≈ product of the steps:"
    return [
        said,
        *(f"  {metric(row['metric']).title}, {where(row)}: {product(row)}; {agreement(row)}" for row in shown),
    ]


def where(row: LadderRow) -> str:
    """The row's cell, or the workload where nothing else varies."""
    return cell_name(row["cell"]) or str(row["workload"])


def product(row: LadderRow) -> str:
    """`0.63 ≈ 0.78 × 0.81`."""
    return f"{side(row['whole'])} ≈ {' × '.join(side(step) for step in row['steps'])}"


def side(c: Side) -> str:
    """The ratio of one step, or of the whole."""
    return ratio(c["ratio"], c["low"], c["high"])


def agreement(row: LadderRow) -> str:
    """Whether the steps multiply to the whole."""
    if row["agrees"] is None or row["off"] is None:
        return "a step has no value"
    off = f"the product is {row['product']:.3g}"
    if row["agrees"]:
        return off
    return f"{off}, {percent(abs(row['off']))} off: too much for the steps to be told apart{_means(row)}"


def _means(row: LadderRow) -> str:
    """Of blocks that differ so much only these multiply; nothing, if no block has all."""
    whole, *steps = (ratio(c["mean"]) for c in (row["whole"], *row["steps"]))
    return f"; geometric means: {whole} = {' × '.join(steps)}" if row["whole"]["mean"] is not None else ""
