"""Sets how often Python looks for cycles among its objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 100_000
"""A collection begins after this many allocations. Python's default of 700 costs an analysis a twentieth of its time.
"""


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage rarely, for work that makes many small objects and keeps most of them."""
    usual = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
