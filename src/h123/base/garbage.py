"""How often Python looks for cycles among its objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 100_000
"""After so many a collection begins; 700 by default, which for an analysis is a twentieth of all its time."""


@contextmanager
def few_collections() -> Iterator[None]:
    """For work that makes many small objects and keeps most of them."""
    usual = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
