"""What tests of verification share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from h123.execution import LocalPool, Pool


@pytest.fixture
def project(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """A project of the test's own, whose cache is empty."""
    monkeypatch.setenv("H123_ROOT", str(tmp_path))


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = LocalPool()
    yield pool
    pool.close()
