"""What holds for all tests.

- Property tests are judged by what they find, never by how long the machine took.
- Ctrl-C and a lost terminal are heard, though whoever started the tests may ignore them (a shell does so for what it
  puts into the background): tests send them, to themselves and to what they start.
- No test cuts the power, so nothing waits for the disk, which takes its time for the many small files of campaigns.
- Rooms whose tests run real trials come first: who shares tests out file by file would otherwise wait for the last.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("any-machine")


@pytest.fixture(scope="session", autouse=True)
def no_power_cuts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


LONG = ("cli", "adversary", "verification", "report", "campaign", "catalogue")
"""Rooms, those with the longest files first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rooms = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rooms.get(item.path.parent.name, len(LONG)))
