"""Folders for what nobody keeps, whatever becomes of those who made them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT
from h123.scratch import scratch

HOLD = """
from h123.scratch import scratch
with scratch() as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    input()
"""


def test_it_is_gone_afterwards_and_swept_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path))
    with scratch() as folder:
        (folder / "file").touch()
    assert not folder.exists()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", HOLD]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    other = Path(process.stdout.readline().strip())
    with scratch() as folder:
        assert other.is_dir(), "its process lives"
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert other.is_dir()
    with scratch() as folder:
        assert list(folder.parent.iterdir()) == [folder]
