"""What tests of verification share."""

from collections.abc import Iterator

import pytest

from h123.execution import LocalPool, Pool


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = LocalPool()
    yield pool
    pool.close()
