"""Ctrl-C while DuckDB computes: it takes the signal for itself, and says so in its own way."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def interruptible() -> Iterator[None]:
    """What it says becomes KeyboardInterrupt, as anywhere else."""
    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error
