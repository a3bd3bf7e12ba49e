"""One thing that is tried."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stage import Stage


@dataclass(frozen=True)
class Case:
    """What it is called, and what does it on a stage; it tells what went wrong."""

    name: str
    play: Callable[[Stage], Iterator[str]]
