"""Defines a case: one thing to try."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stage import Stage


@dataclass(frozen=True)
class Case:
    """A name, and a function that plays the case on a stage and yields what went wrong."""

    name: str
    play: Callable[[Stage], Iterator[str]]
