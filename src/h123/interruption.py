"""Ctrl-C while DuckDB computes: it takes the signal for itself, and says so in its own way."""

from collections.abc import Iterator
from contextlib import contextmanager

_KINDS = ("RuntimeError", "InterruptException")
"""By name: whoever has not loaded DuckDB need not do so to learn that it was not what was interrupted."""


@contextmanager
def interruptible() -> Iterator[None]:
    """What it says becomes KeyboardInterrupt, as anywhere else."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ not in _KINDS or "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error
