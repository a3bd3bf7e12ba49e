"""Running the tool as a person would, and looking at what it leaves behind."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Tool:
    """`h123` in a working directory of the test's own."""

    folder: Path

    def start(self, *arguments: str, **options: object) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "h123", *arguments]
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=self.folder, env=env, **{**pipes, **options})  # type: ignore[call-overload,no-any-return]

    def __call__(self, *arguments: str, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments)
        out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def h123(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def _ours() -> set[str]:
    """Command lines of all processes of the lab and its subjects."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "h123-lab" in line or "h123-go" in line:
            found.add(f"{entry.name} {line}")
    return found


def _namespaces() -> set[str]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*/ns/*"):
        try:
            if entry.name in ("net", "mnt", "pid"):
                found.add(str(entry.readlink()))
        except OSError:
            continue
    return found


def _traces() -> dict[str, set[str]]:
    return {
        "processes": _ours(),
        "namespaces": _namespaces(),
        "devices": {path.name for path in Path("/sys/class/net").iterdir()},
        "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
        "temporary": {p.name for p in Path(tempfile.gettempdir()).iterdir() if "h123" in p.name},
    }


@pytest.fixture
def leaves_nothing_behind() -> Iterator[None]:
    """Fails the test if processes, namespaces, devices, mounts or temporary folders remain a moment after it."""
    before = _traces()
    yield
    deadline = time.monotonic() + 5  # the kernel takes namespaces down in its own time
    while any((left := {kind: found - before[kind] for kind, found in _traces().items()}).values()):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
