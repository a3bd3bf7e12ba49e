"""What a person sees of something long: on a terminal a line that moves, in a log a line now and then."""

import io

import pytest
from rich.console import Console

from h123.base.terminal import steps
from h123.base.terminal.steps import Steps


def _told(console_file: io.StringIO, terminal: bool) -> str:
    with Steps(Console(file=console_file, force_terminal=terminal)) as told:
        told.begin("compiling")
        told.move("12 files")
    return console_file.getvalue()


def test_a_log_gets_the_steps_only() -> None:
    assert _told(io.StringIO(), terminal=False) == "compiling\n"


def test_a_log_hears_of_a_step_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "QUIET_S", 0.0)
    first, second = _told(io.StringIO(), terminal=False).splitlines()
    assert first == "compiling"
    assert second.startswith("  12 files, 0")


def test_a_terminal_shows_what_moves() -> None:
    shown = _told(io.StringIO(), terminal=True)
    assert "compiling" in shown
    assert "12 files" in shown
