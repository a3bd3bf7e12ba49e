"""Ctrl-C while DuckDB computes: it takes the signal for itself, and says so in its own way."""

from collections.abc import Iterator
from contextlib import contextmanager

_SAYS = {
    "RuntimeError": "interrupted",
    "InterruptException": "interrupted",
    "InvalidInputException": "KeyboardInterrupt",
}
"""Its errors, and what they say then; the last where it was reading a table of ours. By name: whoever has not loaded
DuckDB need not do so to learn that it was not what was interrupted."""


@contextmanager
def interruptible() -> Iterator[None]:
    """What it says becomes KeyboardInterrupt, as anywhere else."""
    try:
        yield
    except Exception as error:
        said = _SAYS.get(type(error).__name__)
        if said is None or said not in str(error):
            raise
        raise KeyboardInterrupt from error
