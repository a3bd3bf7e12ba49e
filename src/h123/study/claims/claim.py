"""Defines the claims of published works. A claim is either in words alone, or refers to cells of a study whose
campaigns can decide it."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from h123.base.strict import Strict
from h123.study.claims.checks import Check
from h123.study.metrics.table import MetricName
from h123.study.quantities import Change, Levels, Share

ALL_LEVELS = "all"
"""The value that means all levels of a factor."""
BOUNDED = ("equivalent", "not higher", "not lower")
"""The directions that limit a difference. A claim with one of them must hold in each cell, within a margin."""


class Claim(Strict):
    """The fields that all claims have."""

    id: Annotated[str, Field(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    """The claim's ID, such as C01 or C01a."""
    source: str | None = None
    """The source of this claim, if the file quotes several works."""
    quotation: Annotated[str, Field(min_length=1)] | None = None
    """A sentence of the source, word for word. For a figure or table, `condition` or `cells` gives what it shows."""
    where: Annotated[str, Field(min_length=1)] | None = None
    """The place in the source, such as a section or a table."""
    summary: Annotated[str, Field(min_length=1)] | None = None
    """The claim in h123's words, instead of a quotation, if several works word it differently."""
    metric: str
    """The metric. A claim with `cells` needs one that h123 measures."""
    a: str | None = None
    """A level of the compared factor."""
    b: str | None = None
    """The level that `a` is compared with."""
    direction: Literal["lower", "higher", "equivalent", "not higher", "not lower", "none"]
    """How `a` compares with `b` according to the source. none: the claim is not a comparison."""
    checks: list[Annotated[Check, Field(discriminator="check")]] = Field(default=[])
    """Checks of the claim's figures by arithmetic or physics."""

    @model_validator(mode="after")
    def _check_wording(self) -> "Claim":
        if (self.quotation is None) == (self.summary is None):
            raise ValueError("write either `quotation` or `summary`")
        return self


ARITHMETIC = "arithmetic"
"""The value of `rule` if a claim's checks decide it."""


class DocumentEvidence(Strict):
    """A public document that decides a claim without a campaign."""

    verdict: Literal["confirmed", "refuted"]
    by: Annotated[str, Field(min_length=1)]
    """The document, its section, and what it says."""


class WordedClaim(Claim):
    """A claim without `cells`, which h123 cannot decide from campaigns. Its condition, size and rule are text for
    people."""

    condition: dict[str, Any] = Field(default={})
    """The conditions to which the claim applies. The keys can be any words."""
    estimand: str
    size: str | None = None
    """The claimed size as printed."""
    rule: Annotated[str, Field(min_length=1)] | None = None
    """The rule that decides the claim. `arithmetic`: the claim's checks decide."""
    known: DocumentEvidence | None = None
    """A public document that decides the claim: `{verdict: confirmed, by: ...}`."""
    untestable: Annotated[str, Field(min_length=1)] | None = None
    """Why only the authors could decide the claim."""

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
    """A claim about a metric in cells of a study. Campaigns of this study decide the claim."""

    metric: MetricName
    """A metric that h123 measures."""
    a: str
    """A level of the study's compared factor."""
    b: str | None = None
    """The level that `a` is compared with. Without it, the claim compares `a` in `cells` with `a` in `against`."""
    direction: Literal["lower", "higher", "equivalent", "not higher", "not lower"]
    """How `a` compares with `b` according to the claim."""
    size: Change | None = None
    """The claimed value of a / b - 1, if the claim gives one."""
    margin: Annotated[Share, Field(gt=0, lt=1)] | None = None
    """For `equivalent`, the ratio may be from 1/(1 + margin) to 1 + margin. `not higher` and `not lower` use only one
    of these limits."""
    cells: dict[str, Levels] = Field(min_length=1)
    """The levels of every factor except the compared one. The claim is about the mean of these cells or, with a margin,
    about each of them."""
    against: dict[str, Levels] | None = None
    """The levels to compare `cells` with. For each factor: either one level for all of `cells`, or one level for each
    level in `cells`, in the same order. With `b`, the claim is about an interaction: the ratio a / b in `cells` divided
    by the ratio a / b in `against`."""
    note: Annotated[str, Field(min_length=1)] | None = None
    """The part of the claim that the verdict does not cover."""

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
            raise ValueError("`b` is missing; write it, or the levels to compare a with in `against`")
        return self

    def counterpart(self, cell: dict[str, str]) -> dict[str, str]:
        """Return the cell to compare with `cell`, which is one of the claim's `cells`."""
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
"""A claim that is measurable if it has `cells`, and worded otherwise."""
