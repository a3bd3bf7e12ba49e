"""Reads published/*.yaml: the values that a published work gives for its cells, to be compared with a campaign's
values."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, model_validator

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.strict import Strict
from h123.base.units import parse_change, parse_duration, parse_size
from h123.study.claims.ledger import Publication
from h123.study.metrics.table import PRINTED, PrintedName
from h123.study.quantities import BitRate, Duration, Size
from h123.study.registry import list_published
from h123.study.study import split_pair
from h123.study.yaml_document import YamlDocument

FORMAT = "published/1"

Kind = Literal["value", "change", "effect"]
Cell = dict[str, str]
Figure = Annotated[str, Field(coerce_numbers_to_str=True, min_length=1)]
"""A figure as printed, with its unit, if any: `2472.8ms`, `5.33MB/s`, `-31.2%`, `-0.422`."""
Figures = dict[str, Figure | Annotated[list[Figure], Field(min_length=2, max_length=2)]]
"""The printed figure or range for each level or pair of levels."""


class LevelFacts(Strict):
    """What the published work says about a level. A field is None if the work does not give the value, or says that
    there is no limit."""

    size: Annotated[Size, Field(gt=0)] | None = None
    users: Annotated[StrictInt, Field(ge=1)] | None = None
    rate: BitRate | None = None
    round_trip: Duration | None = None


class Statement(Strict):
    """The figures that a sentence in the published work gives for one cell and metric."""

    where: str
    """The place in the work: section, figure or table."""
    quotation: Annotated[str, Field(min_length=1)]
    note: str | None = None
    """A remark on how h123 reads the sentence, or on what the sentence leaves open."""
    metric: PrintedName
    statistic: Literal["mean", "median"]
    cell: Cell
    """The levels that the sentence names, by factor. Other factors may have any level."""
    printed: Figures = Field(default={})
    """The value for each level of the compared factor."""
    change: Figures = Field(default={})
    """The value of a / b - 1 for each pair `a/b`."""
    effect: Figures = Field(default={})
    """The rank-biserial correlation for each pair."""

    @model_validator(mode="after")
    def _prints_something(self) -> "Statement":
        if not (self.printed or self.change or self.effect):
            raise ValueError("this entry has no figures: write `printed`, `change` or `effect`")
        return self


@dataclass(frozen=True)
class PrintedValue:
    """One figure or range of a statement. A value is in seconds or bytes per second, a change is a fraction, and an
    effect is a correlation."""

    statement: Statement
    kind: Kind
    of: str
    """A level of the compared factor, or a pair of levels for a change or an effect."""
    written: tuple[str, ...]
    low: float
    high: float


class PrintedValues(Strict):
    """The printed values of one file."""

    source: Publication
    compared: str
    """The compared factor."""
    factors: dict[str, dict[str, LevelFacts]]
    studies: dict[str, dict[str, str]] = Field(min_length=1)
    """For each study whose campaigns have these cells, maps the names of factors in the work to their names in the
    study, if they differ."""
    values: list[Statement] = Field(min_length=1)

    def all(self) -> list[PrintedValue]:
        return [_read(statement, kind, of) for statement in self.values for kind, of in _figures(statement)]

    def facts(self, cell: Cell) -> list[LevelFacts]:
        """Return the facts about each combination of levels that `cell` allows."""
        levels_by_factor = ([cell[name]] if name in cell else list(levels) for name, levels in self.factors.items())
        return [self._merge(levels) for levels in itertools.product(*levels_by_factor)]

    def _merge(self, levels: tuple[str, ...]) -> LevelFacts:
        facts = [self.factors[factor][level] for factor, level in zip(self.factors, levels, strict=True)]
        return LevelFacts.model_construct(
            **{k: v for level_facts in facts for k, v in level_facts.model_dump(exclude_none=True).items()}
        )


def load_printed(path: Path) -> PrintedValues:
    """Read a file of printed values. Raises UserError with the file, the line and what is allowed there."""
    document = YamlDocument.read(path, FORMAT)
    values = document.validate(PrintedValues, document.data)
    if values.compared not in values.factors:
        raise document.error(
            ["compared"], f"there is no factor {values.compared!r}; {choose(values.compared, values.factors)}"
        )
    for study, names in values.studies.items():
        _choose(document, ["studies", study], names, values.factors, "factor")
    for index, statement in enumerate(values.values):
        _check(document, values, ["values", index], statement)
    return values


def printed_values_of(study: str) -> PrintedValues | None:
    """Return the printed values for campaigns of `study`, or None. Raises UserError."""
    matches = [(path, values) for path in list_published() if study in (values := load_printed(path)).studies]
    if len(matches) > 1:
        names = " and ".join(str(path) for path, _ in matches)
        raise UserError(f"study {study!r} is named in both {names}", remedy="remove it from one of them")
    return matches[0][1] if matches else None


def _figures(statement: Statement) -> Iterator[tuple[Kind, str]]:
    kinds: tuple[tuple[Kind, Figures], ...] = (
        ("value", statement.printed),
        ("change", statement.change),
        ("effect", statement.effect),
    )
    for kind, figures in kinds:
        yield from ((kind, of) for of in figures)


def _check(document: YamlDocument, values: PrintedValues, at: list[str | int], statement: Statement) -> None:
    """Raise UserError if a level or a figure of the statement is not valid."""
    other_factors = {name: levels for name, levels in values.factors.items() if name != values.compared}
    _choose(document, [*at, "cell"], statement.cell, other_factors, "factor")
    for factor, level in statement.cell.items():
        _choose(document, [*at, "cell"], [level], other_factors[factor], f"level of {factor}")
    for kind, of in _figures(statement):
        field = "printed" if kind == "value" else kind
        try:
            levels = [of] if kind == "value" else list(split_pair(of))
            _choose(document, [*at, field], levels, values.factors[values.compared], f"level of {values.compared}")
            _read(statement, kind, of)
        except ValueError as error:
            raise document.error([*at, field, of], str(error)) from None


def _choose(
    document: YamlDocument,
    at: list[str | int],
    names: Mapping[str, Any] | list[str],
    allowed: Mapping[str, Any],
    kind: str,
) -> None:
    for name in names:
        if name not in allowed:
            raise document.error([*at, name], f"there is no {kind} {name!r}; {choose(name, allowed)}")


def _read(statement: Statement, kind: Kind, of: str) -> PrintedValue:
    """Return one figure as numbers. Raises ValueError if it cannot be read."""
    figures = {"value": statement.printed, "change": statement.change, "effect": statement.effect}[kind][of]
    texts = tuple(figures) if isinstance(figures, list) else (figures,)
    numbers = [_number(text, statement.metric, kind) for text in texts]
    if numbers != sorted(numbers):
        raise ValueError(f"a range must go from the smaller to the larger figure, found {' to '.join(texts)}")
    return PrintedValue(statement, kind, of, texts, numbers[0], numbers[-1])


def _number(text: str, metric: str, kind: Kind) -> float:
    if kind == "effect":
        return _effect(text)
    if kind == "change":
        return parse_change(text)
    if PRINTED[metric].unit == "s":
        return parse_duration(text) / 1e9
    if not text.endswith("/s"):
        raise ValueError(f"{text!r} cannot be read; write a rate in bytes, such as 5.33MB/s")
    return float(parse_size(text.removesuffix("/s")))


def _effect(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not -1 <= value <= 1:
        raise ValueError(f"{text!r} is not a rank-biserial correlation: those lie between -1 and 1")
    return value
