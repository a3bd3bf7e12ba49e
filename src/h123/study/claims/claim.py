"""One claim of a published work: in words alone, or by factor levels of a study whose campaigns can decide it."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from h123.base.strict import Strict
from h123.study.claims.checks import Check
from h123.study.metrics.table import MetricName
from h123.study.quantities import Change, Levels, Share

ALL_LEVELS = "all"
"""The word for all levels of a factor."""
BOUNDED = ("equivalent", "not higher", "not lower")
"""Directions that bound a difference. They must hold in each cell, within a margin."""


class Claim(Strict):
    """The fields of every claim."""

    id: Annotated[str, Field(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    """Such as C01 or C01a."""
    source: str | None = None
    """The source of this claim, if the file quotes several works."""
    quotation: Annotated[str, Field(min_length=1)] | None = None
    """A sentence of the source, verbatim; the content of a figure or table is in `condition` or `cells`."""
    where: Annotated[str, Field(min_length=1)] | None = None
    """The place in the source: a section, a table."""
    summary: Annotated[str, Field(min_length=1)] | None = None
    """The claim in our words, if several works make it in theirs."""
    metric: str
    """For a claim with `cells`, one that h123 measures."""
    a: str | None = None
    """A level of the compared factor."""
    b: str | None = None
    """The level that it is compared with."""
    direction: Literal["lower", "higher", "equivalent", "not higher", "not lower", "none"]
    """How the source compares a with b."""
    checks: list[Annotated[Check, Field(discriminator="check")]] = Field(default=[])
    """Figures that arithmetic or physics can judge."""

    @model_validator(mode="after")
    def _check_wording(self) -> "Claim":
        if (self.quotation is None) == (self.summary is None):
            raise ValueError("write either `quotation` or `summary`")
        return self


ARITHMETIC = "arithmetic"
"""The rule for a claim that only its checks decide."""


class DocumentEvidence(Strict):
    """A public document that decides a claim without a campaign."""

    verdict: Literal["confirmed", "refuted"]
    by: Annotated[str, Field(min_length=1)]
    """The document, its section, and what it says."""


class WordedClaim(Claim):
    """A claim that no campaign can decide alone. Its condition, size and rule are words for a person."""

    condition: dict[str, Any] = Field(default={})
    """Any keys."""
    estimand: str
    size: str | None = None
    """The figure as printed."""
    rule: Annotated[str, Field(min_length=1)] | None = None
    """The way to decide it. `arithmetic`: by its checks."""
    known: DocumentEvidence | None = None
    """A public document that decides it: `{verdict: confirmed, by: ...}`."""
    untestable: Annotated[str, Field(min_length=1)] | None = None
    """Why only its authors could decide it."""

    @model_validator(mode="after")
    def _is_decided_one_way(self) -> "WordedClaim":
        if sum(way is not None for way in (self.rule, self.known, self.untestable)) != 1:
            raise ValueError("write one of `rule`, `known` and `untestable`")
        if self.rule == ARITHMETIC and not self.checks:
            raise ValueError("a claim that arithmetic decides needs `checks`")
        return self

    @model_validator(mode="after")
    def _has_both_sides(self) -> "WordedClaim":
        if (self.a is None) != (self.b is None):
            raise ValueError("write both `a` and `b`, or neither")
        return self


class MeasurableClaim(Claim):
    """A claim about a metric in cells of the ledger's study. A campaign decides it by the rule of all such claims."""

    metric: MetricName
    """One that h123 measures."""
    a: str
    """A level of the study's compared factor."""
    b: str | None = None
    """Another one. Without it the claim is about a in `cells` over a in `against`."""
    direction: Literal["lower", "higher", "equivalent", "not higher", "not lower"]
    """The direction of a relative to b."""
    size: Change | None = None
    """a / b - 1 as claimed, if the claim gives a size."""
    margin: Annotated[Share, Field(gt=0, lt=1)] | None = None
    """For `equivalent`, ratios may lie within 1/(1 + margin) to 1 + margin. For `not higher` and `not lower`, only one
    end counts."""
    cells: dict[str, Levels] = Field(min_length=1)
    """The levels of every other factor. The claim is about their mean, or, with a margin, about each of these cells."""
    against: dict[str, Levels] | None = None
    """Levels of these factors to compare with: one for all of `cells`, or as many, in their order. With `b`, an
    interaction: a / b in `cells` over a / b there."""
    note: Annotated[str, Field(min_length=1)] | None = None
    """The part of the claim that a verdict does not cover."""

    @model_validator(mode="after")
    def _is_one_claim(self) -> "MeasurableClaim":
        if self.direction in BOUNDED:
            if self.margin is None or self.size is not None:
                raise ValueError(f"`{self.direction}` needs a `margin` and takes no `size`")
        elif self.margin is not None:
            raise ValueError(f"only {', '.join(BOUNDED)} take a `margin`; other claims use the study's")
        elif self.size is not None and (self.size < 0) != (self.direction == "lower"):
            raise ValueError(f"a `size` of {100 * self.size:+g} % is not {self.direction}")
        if self.a == self.b:
            raise ValueError("`a` and `b` are the same level")
        if self.b is None and not self.against:
            raise ValueError("`b` is missing; write it, or what a in `cells` is held `against`")
        return self

    def counterpart(self, cell: dict[str, str]) -> dict[str, str]:
        """The cell with which to compare one of `cells`."""
        return {
            **cell,
            **{factor: self._instead(factor, cell[factor], to) for factor, to in (self.against or {}).items()},
        }

    def _instead(self, factor: str, level: str, levels: list[str]) -> str:
        return levels[self.cells[factor].index(level)] if len(levels) > 1 else levels[0]


def _kind(value: object) -> str:
    has_cells = "cells" in value if isinstance(value, dict) else isinstance(value, MeasurableClaim)
    return "measurable" if has_cells else "worded"


AnyClaim = Annotated[
    Annotated[WordedClaim, Tag("worded")] | Annotated[MeasurableClaim, Tag("measurable")], Discriminator(_kind)
]
"""A claim with `cells` is measurable."""
