"""Trials of the embedded subject, whose causes are then taken apart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from h123.catalogue import catalogue, install
from h123.execution import SERVER_ADDRESS, LocalPool, campaign_certificate
from h123.verification.trial import Trials


@pytest.fixture
def trials(tmp_path: Path) -> Iterator[Trials]:
    for name in ("go", "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    pool = LocalPool()
    yield Trials(catalogue(), campaign_certificate(tmp_path, [SERVER_ADDRESS]), pool)
    pool.close()
