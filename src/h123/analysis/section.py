"""A section: one thing that the analysis says of a campaign."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from h123.analysis.case import Case

Part = TypeVar("Part", bound=Mapping[str, object])


@dataclass(frozen=True)
class Section(Generic[Part]):
    """Its part of verdicts.json, a typed dictionary of its key (or keys), and how a case comes to it.

    The report registers what it says and draws of it under the same section (docs/guides/section.md).
    """

    part: type[Part]
    compute: Callable[[Case], Part]

    @property
    def keys(self) -> list[str]:
        """In verdicts.json."""
        return list(self.part.__annotations__)
