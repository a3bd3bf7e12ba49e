"""Ctrl-C before anything has begun: status 130, and never a traceback."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT

INTERRUPT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
LAZY = "loaded_late"
AT_DUCKDB = """import os, signal, sys
class At:
    def find_spec(self, name, *_):
        if name == "duckdb":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, At())
"""
AT_THE_END = """import os, signal, sys
mask, sent = signal.pthread_sigmask, []
def masked(how, signals):
    if sys._getframe(1).f_code.co_name == "heed_no_more" and not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGTERM)
    return mask(how, signals)
signal.pthread_sigmask = masked
"""


def _run(command: list[str | Path], *paths: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment}
    # A shell's background job (`&`) ignores interrupts.
    command = ["env", "--default-signal=INT", *command]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_while_libraries_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(INTERRUPT)
    done = _run([sys.executable, "-m", "h123", "--version"], tmp_path, ROOT / "src")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_while_a_campaign_s_libraries_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(AT_DUCKDB)
    done = _run([sys.executable, "-m", "h123", "plan", "servers"], tmp_path, ROOT / "src")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "h123: interrupted\n")


@pytest.mark.parametrize("there", [f"import {LAZY}", "TypeAdapter(Interrupting)"])
def test_a_lazy_import_and_a_model_are_finished_first(tmp_path: Path, there: str) -> None:
    """pydantic would raise its own SchemaError in place of the KeyboardInterrupt."""
    (tmp_path / f"{LAZY}.py").write_text(f"{INTERRUPT}print('loaded')\n")
    (tmp_path / "program.py").write_text(
        "import os, signal, sys, time\n"
        "from pydantic import TypeAdapter\n"
        "from h123.cli.signals import heed_signals\n"
        "class Interrupting:\n"
        "    def __get_pydantic_core_schema__(self, handler):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        print('loaded')\n"
        "        return handler(int)\n"
        "heed_signals()\n"
        "try:\n"
        f"    {there}\n"
        f"    time.sleep({PATIENCE_S})\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = _run([sys.executable, tmp_path / "program.py"], tmp_path, ROOT / "src")
    assert (done.stdout, done.stderr) == ("loaded\ninterrupted\n", "")


@pytest.mark.parametrize("blow", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_command_that_is_ended_says_so(tmp_path: Path, blow: signal.Signals) -> None:
    """`install virtual-kernel` ended without a word, like every command that has nothing of its own to add."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\n"
        "def at(*_):\n"
        f"    os.kill(os.getpid(), {int(blow)})\n"
        "import h123.virtual\n"
        "h123.virtual.install_kernel = at\n"
    )
    done = _run([sys.executable, "-m", "h123", "install", "virtual-kernel"], tmp_path, ROOT / "src")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "h123: interrupted\n")


def test_when_all_is_said(tmp_path: Path) -> None:
    """Python ends by SIGINT, status -2, and with a traceback, where nobody catches an interruption."""
    (tmp_path / "sitecustomize.py").write_text(AT_THE_END)
    done = _run([sys.executable, "-m", "h123", "--version"], tmp_path, ROOT / "src")
    assert (done.returncode, done.stdout[:5], done.stderr) == (130, "h123 ", "")


def test_while_python_starts(tmp_path: Path) -> None:
    """From the launcher, in a checkout that needs no set-up."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/sitecustomize.py").write_text(INTERRUPT)
    (tmp_path / "src/h123").symlink_to(ROOT / "src/h123")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "Makefile").write_text("environment:\n.PHONY: environment\n")
    shutil.copy2(ROOT / "h123", tmp_path)
    done = _run([tmp_path / "h123", "--version"])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_who_ignores_interrupts_is_not_interrupted(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT)
    command = ["sh", "-c", f"trap '' INT; {shlex.quote(sys.executable)} -m h123 --version"]
    done = _run([*command], tmp_path, ROOT / "src")
    assert (done.returncode, done.stdout[:5]) == (0, "h123 "), done.stderr
