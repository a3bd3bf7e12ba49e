"""Sets how often Python looks for reference cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 100_000
"""The number of allocations after which a collection begins. Python's default of 700 costs an analysis 5 % of its
time."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage only rarely within this context. Use it for work that makes many small objects and keeps most of
    them."""
    usual = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
