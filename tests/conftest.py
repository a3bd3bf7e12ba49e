"""What holds for all tests.

- Property tests are judged by what they find, never by how long the machine took.
- Ctrl-C and a lost terminal are heard, though whoever started the tests may ignore them (a shell does so for what it
  puts into the background): tests send them, to themselves and to what they start.
- Rooms whose tests run real trials come first: whoever shares tests out file by file would otherwise wait for the last.
"""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("any-machine")

LONG = ("cli", "adversary", "verification", "report", "campaign", "catalogue")
"""Rooms, those with the longest files first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    rooms = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rooms.get(item.path.relative_to(here).parts[0], len(LONG)))
