"""Defines what is fuzzed: a function that reads files from others, and real files of this kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forging import Forgery

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Reader:
    """A function to fuzz. It may refuse a case only with UserError, and within `runner.LIMIT_S`."""

    name: str
    read: Callable[[bytes, Path], object]
    """Reads a case. The folder is empty at the worker's start, the same for all its cases, and gone at its end."""
    corpus: Callable[[], Sequence[bytes]]
    """Real files; each worker asks once."""
    words: Sequence[str] = ()
    """What such files may say, beside the words of the corpus."""
    forged: Callable[[], Sequence[Forgery]] | None = None
    """All its cases, where these are forged rather than mutated."""
