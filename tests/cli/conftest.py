"""Running the tool as a person would, and looking at what it leaves behind."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from cli import loaded
from h123.base.paths import cache_folder
from h123.catalogue import subject_names
from h123.execution import campaign_certificate
from h123.store import CampaignFolder

ROOT = Path(__file__).resolve().parents[2]
SMOKE = (ROOT / "studies/smoke.yaml").read_text()
CACHE, SUBJECTS = cache_folder().resolve() / "subjects", tuple(subject_names())
"""What people have: tests install the project's own subjects there, and none that they made up."""

PATIENCE_S = 600.0
"""For whatever must end or come about by itself, also on a machine with other work."""

TAG = f"H123_TEST_RUN={os.getpid()}"
"""In the environment of every process that a test starts, and so of all that come of it."""


_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload([loaded.__name__])


@dataclass(frozen=True)
class Tool:
    """`h123` in a working directory of the test's own."""

    folder: Path
    draws: bool = False
    """Whether reports have their pictures, which take as long as all the rest of a small campaign."""

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """For what a test does to it meanwhile."""
        # A shell's background job (`&`) ignores interrupts, and so would all that comes of it.
        command = ["env", "--default-signal=INT", sys.executable, "-m", "h123", *arguments]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str, timeout: float = PATIENCE_S) -> "subprocess.CompletedProcess[str]":
        """What comes of it. The same program in a process of its own, but loaded already."""
        with tempfile.TemporaryDirectory() as kept:
            streams = [Path(kept, name) for name in ("out", "err")]
            job = (arguments, self.folder, self._environment(), streams, self.draws)
            process = _LOADED.Process(target=loaded.run, args=job)
            _begin_loading()
            process.start()
            process.join(timeout)
            if process.exitcode is None:
                process.kill()
                raise subprocess.TimeoutExpired(arguments, timeout)
            return subprocess.CompletedProcess(arguments, process.exitcode, *(one.read_text() for one in streams))

    def succeed(self, *arguments: str, timeout: float = PATIENCE_S) -> "subprocess.CompletedProcess[str]":
        """Run a command that must succeed."""
        done = self(*arguments, timeout=timeout)
        assert done.returncode == 0, done.stderr + done.stdout
        return done

    def refusal(self, *arguments: str) -> str:
        """Run a command that must be refused, and return the reason on one line."""
        done = self(*arguments)
        assert done.returncode == 2, done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        return " ".join(done.stderr.split())

    def run_study(self, text: str, *options: str) -> CampaignFolder:
        """Run the study that `text` describes, with `out` as its campaign's folder."""
        (self.folder / "study.yaml").write_text(text)
        self.succeed("run", "study.yaml", *options, "--out", "out")
        return CampaignFolder.open(self.folder / "out")

    def run_smoke(self, *changes: tuple[str, str]) -> CampaignFolder:
        """Run the study `smoke` with these replacements in its text."""
        study = SMOKE
        for before, after in changes:
            assert before in study
            study = study.replace(before, after)
        return self.run_study(study)

    def verdicts(self, campaign: str = "out") -> dict[str, Any]:
        """Read what the campaign's analysis says."""
        return dict(json.loads((self.folder / campaign / "verdicts.json").read_text()))

    def _environment(self) -> dict[str, str]:
        name, _, value = TAG.partition("=")
        self.temporary.mkdir(exist_ok=True)
        paths = {"PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(self.temporary)}
        return {**os.environ, **paths, "COLUMNS": loaded.COLUMNS, name: value}

    @property
    def temporary(self) -> Path:
        """The tool's TMPDIR."""
        return self.folder / "tmp"


@cache
def _begin_loading() -> None:
    """The process that runs are forked from is told by its environment alone where modules are."""
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        forkserver.ensure_running()


@pytest.fixture
def h123(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.fixture
def own(h123: Tool) -> Path:
    """The tool's folder, with a certificate and its key for a server in it."""
    put_certificate(h123.folder)
    return h123.folder


def put_certificate(folder: Path) -> None:
    """Put cert.pem and key.pem into the folder, from a certificate authority in its `tls`."""
    made = campaign_certificate(folder / "tls", ["127.0.0.1"])
    for file, name in ((made.cert, "cert.pem"), (made.key, "key.pem")):
        shutil.copyfile(file, folder / name)


def _processes() -> set[str]:
    """What the tests have started and still runs. The lab's namespaces have no names: they last as long as these."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.name != str(os.getpid()) and TAG.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.add((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def _traces(tool: Tool) -> dict[str, set[str]]:
    return {
        "processes": _processes(),
        "devices": {path.name for path in Path("/sys/class/net").iterdir()},
        "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
        "installed": {path.name for path in CACHE.glob("*") if not path.name.startswith(SUBJECTS)},
        "temporary": {path.name for path in tool.temporary.glob("*")},
    }


@pytest.fixture
def leaves_nothing_behind(h123: Tool) -> Iterator[None]:
    """Fails the test if processes (with them namespaces), devices, mounts or temporary files remain a moment after."""
    before = _traces(h123)
    yield
    deadline = time.monotonic() + 60  # the kernel takes namespaces down in its own time
    while any((left := {kind: found - before[kind] for kind, found in _traces(h123).items()}).values()):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
