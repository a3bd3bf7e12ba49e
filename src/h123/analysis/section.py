"""Defines a section: one topic on which the analysis reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from h123.analysis.case import Case

Part = TypeVar("Part", bound=Mapping[str, object])


@dataclass(frozen=True)
class Section(Generic[Part]):
    """A part of verdicts.json: a typed dictionary with its keys, and the function that computes it from a case.

    The report registers the text and figures for a section under this same object (docs/guides/section.md).
    """

    part: type[Part]
    compute: Callable[[Case], Part]

    @property
    def keys(self) -> list[str]:
        """The section's keys in verdicts.json."""
        return list(self.part.__annotations__)
