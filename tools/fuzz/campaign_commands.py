"""Runs the commands that read a campaign in this process, and checks what they print and how they end."""

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest import mock

from h123 import execution, notebook
from h123.base.errors import UserError
from h123.base.terminal.console import err_console, out_console
from h123.cli import app as command_line
from h123.execution import LocalPool, Machine
from h123.measures import load_attempts
from h123.store import CampaignFolder
from hasty import BLANK_PICTURES, NO_PICTURES

STATUSES = {0, 1, 2, 3, 98, 99}
_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that a terminal would obey, or not show."""
_PYTHONS = re.compile(
    r"Traceback|codec can't|unhashable|NoneType|has no attribute|not (subscriptable|iterable)|field larger than|"
    r"Input should|\[type=|pydantic|Expecting |[a-z]Error\b|Errno|Exception|<class|\bdict\b|float division"
)
"""Words that come from Python or a library."""
HERE = Machine(name="here", facts={"virtual_kernel": True}, cpus=2, memory_bytes=2**33)


class Unstarted:
    """An engine that starts no trials."""

    def start(self, folder: Path, _roots: Mapping[str, Path]) -> None:
        """Refuse to start. Raises UserError."""
        raise UserError(f"{folder.name} is not run here")

    def wait(self) -> Path:
        """Fail, because nothing has been started."""
        raise AssertionError("nothing has been started")

    def noise(self) -> float:
        """Return 0: there is no noise."""
        return 0.0

    def stop(self) -> None:
        """Do nothing, because nothing runs."""


def _unstarting(folder: Path, tls: Path) -> LocalPool:
    return LocalPool(folder, tls, engine=Unstarted(), machine=HERE)


class Wrong(Exception):
    """Raised if a command ended or printed something in a way that no command may."""


def commands(campaign: Path, other: Path, out: Path, trial: str) -> list[list[str]]:
    """Return all commands that read a campaign. `other` is an intact campaign."""
    return [
        ["analyse", str(campaign)],
        ["export", str(campaign), "--out", str(out / "export"), "--format", "csv"],
        ["export", str(campaign), "--out", str(out / "export"), "--format", "scorecard"],
        ["show", str(campaign), trial, "--out", str(out / "page.html")],
        ["why", str(campaign)],
        ["why", str(campaign), "--limits"],
        ["gate", str(campaign), "--fail-if", "latency h3/h2 > 1.05"],
        ["diff", str(other), str(campaign), "--out", str(out / "diff")],
        ["diff", str(campaign), str(other), "--out", str(out / "diff")],
        ["report", str(campaign)],
        ["run", "--out", str(campaign), "--jobs", "1"],
    ]


def call(words: Sequence[str]) -> int:
    """Run a command and return its status. Raises Wrong, and whatever the command itself does not catch."""
    said = io.StringIO()
    with contextlib.ExitStack() as changed:
        for console in (out_console, err_console):
            changed.enter_context(mock.patch.object(console, "_file", said))
        changed.enter_context(mock.patch.object(sys, "argv", ["h123", *words]))
        changed.enter_context(mock.patch.object(execution, "LocalPool", _unstarting))
        # A run ends with the same report as `report` writes.
        changed.enter_context(NO_PICTURES if words[0] == "run" else BLANK_PICTURES)
        status = _status()
    _judge(words, status, said.getvalue())
    return status


def enter(folder: Path) -> None:
    """Open and load a campaign, as all commands do first. Raises UserError."""
    opened = CampaignFolder.open(folder)
    opened.examine()
    load_attempts(opened)


def judge(refusal: UserError) -> None:
    """Raise Wrong if the words of a refusal are not meant for people."""
    for found in _faults(refusal.status, f"{refusal.message} {refusal.remedy or ''}"):
        raise Wrong(f"{found}: {refusal.message!r}"[:400])


def _status() -> int:
    try:
        command_line._run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _judge(words: Sequence[str], status: int, said: str) -> None:
    line = (said.strip().splitlines() or [""])[-2:]
    for found in _faults(status, said):
        raise Wrong(f"h123 {words[0]}: {found}: {' / '.join(line)!r}"[:400])


def _faults(status: int, said: str) -> Iterator[str]:
    if status not in STATUSES:
        yield f"status {status}"
    if raw := _RAW.search(said):
        yield f"raw {raw[0]!r}"
    if words := _PYTHONS.search(said):
        yield f"Python's words {said[max(0, words.start() - 100) : words.end() + 100]!r}"


def in_notebook(folder: Path) -> None:
    """Read what a notebook reads of a campaign. Raises UserError."""
    opened = notebook.open(folder)
    _ = opened.study, opened.networks, opened.trials, opened.verdicts, opened.comparisons
