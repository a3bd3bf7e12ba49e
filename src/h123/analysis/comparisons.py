"""Comparisons: which levels of the compared factor meet in which cells, and their values paired block by block."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from h123.analysis.families import Membership, membership
from h123.results import Attempt
from h123.study import Parameters, Plan, Study
from h123.units import format_bytes

TWINS = Membership("twins", "none")
"""The A/A comparisons are nobody's hypothesis: they show how often a test with nothing to find rejects."""

Cell = dict[str, str]
_Key = tuple[int, tuple[tuple[str, str], ...], bool]


@dataclass(frozen=True)
class Pair:
    """One block's two values of a metric."""

    block: int
    a: float
    b: float

    @property
    def log_ratio(self) -> float:
        """log(a / b)."""
        return math.log(self.a / self.b)


@dataclass(frozen=True)
class Comparison:
    """Level `a` against level `b` of the compared factor, in one cell of the other factors, by one metric."""

    cell: Cell
    workload: str
    metric: str
    a: str
    b: str
    twin: bool
    family: Membership
    pairs: Sequence[Pair]
    one_sided: int
    """Blocks in which one side has a value and the other has none; they are not among the pairs."""


def compare(attempts: Iterable[Attempt], plan: Plan) -> list[Comparison]:
    """All comparisons that the study's families name, then those of the twins, each with its values."""
    index = {(a.block, tuple(sorted(a.cell.items())), a.twin): a for a in attempts}
    return [_fill(comparison, index, plan) for comparison in _declared(plan)]


def _declared(plan: Plan) -> Iterator[Comparison]:
    study, cells = plan.study, _cells(plan)
    asked = study.compare
    metrics = list(dict.fromkeys(metric for family in asked.families for metric in family.metrics))
    pairs = [tuple(part.strip() for part in pair.split("/")) for pair in plan.pairs]
    for cell, metric, (a, b) in itertools.product(cells, metrics, pairs):
        if family := membership(asked.families, metric, (a, b), cell):
            yield Comparison(cell, _workload(study, cell, a, b), metric, a, b, False, family, [], 0)
    twin = asked.twin
    for cell, metric in itertools.product(cells if _has_twin(plan) else [], metrics):
        yield Comparison(cell, _workload(study, cell, twin, twin), metric, twin, twin, True, TWINS, [], 0)


def _cells(plan: Plan) -> list[Cell]:
    """The planned combinations of the other factors' levels, in the study's order."""
    compared, factors = plan.study.compare.factor, plan.study.factors
    planned = {tuple(sorted((f, v) for f, v in t.cell.items() if f != compared)) for t in plan.blocks[0]}
    others = [factor for factor in factors if factor != compared]
    crossed = (dict(zip(others, levels, strict=True)) for levels in itertools.product(*(factors[f] for f in others)))
    return [cell for cell in crossed if tuple(sorted(cell.items())) in planned]


def _has_twin(plan: Plan) -> bool:
    return any(trial.twin for trial in plan.blocks[0])


def _fill(comparison: Comparison, index: dict[_Key, Attempt], plan: Plan) -> Comparison:
    """The comparison with its values."""
    compared = plan.study.compare.factor
    first = tuple(sorted({**comparison.cell, compared: comparison.a}.items()))
    second = tuple(sorted({**comparison.cell, compared: comparison.b}.items()))
    pairs, one_sided = [], 0
    for block in range(1, len(plan.blocks) + 1):
        a = _value(index.get((block, first, False)), comparison.metric)
        b = _value(index.get((block, second, comparison.twin)), comparison.metric)
        if a is not None and b is not None:
            pairs.append(Pair(block, a, b))
        elif a is not None or b is not None:
            one_sided += 1
    return Comparison(**{**vars(comparison), "pairs": pairs, "one_sided": one_sided})


def _value(attempt: Attempt | None, metric: str) -> float | None:
    value = attempt.metrics[metric] if attempt else None
    # A ratio needs two positive numbers.
    return value if value is not None and value > 0 else None


def _workload(study: Study, cell: Cell, a: str, b: str) -> str:
    """`GET 100 kB`; both if the compared levels differ in it."""
    parameters = (study.parameters({**cell, study.compare.factor: level}) for level in (a, b))
    return " / ".join(dict.fromkeys(_label(p) for p in parameters))


def _label(parameters: Parameters) -> str:
    return f"{parameters.method} {format_bytes(parameters.size)}"
