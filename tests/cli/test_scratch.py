"""Folders for what nobody keeps, whatever becomes of those who made them."""

import os
import random
import secrets
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT
from h123.base.files.scratch import scratch
from study.shop import recording

HOLD = """
from h123.base.files.scratch import scratch
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


def test_any_command_sweeps_what_no_living_process_uses(tmp_path: Path) -> None:
    shelf = tmp_path / "scratch"
    (shelf / "tmp-dead" / "deep").mkdir(parents=True)
    (shelf / "a file").touch()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "H123_CACHE": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    held = Path(process.stdout.readline().strip())
    (shelf / "tmp-dead-too").mkdir()
    subprocess.run([sys.executable, "-m", "h123", "--version"], env=env, check=True, capture_output=True)
    assert sorted(path.name for path in shelf.iterdir()) == sorted([held.name, "a file"])
    process.kill()
    process.communicate(timeout=PATIENCE_S)


def _killed(words: list[str], env: dict[str, str], seconds: float) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "h123", *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        command.wait(seconds)
    except subprocess.TimeoutExpired:
        command.kill()
        command.wait(PATIENCE_S)


COMPARE = [
    "compare",
    "--server",
    "a=python3 -m http.server 8443",
    "--url",
    "https://localhost:8443/",
    "--max-blocks",
    "8",
]
KILLED = [
    pytest.param(COMPARE, id="compare"),
    pytest.param(["verify", "go"], id="verify", marks=pytest.mark.heavy),
    pytest.param(["matrix", "go"], id="matrix", marks=pytest.mark.heavy),
    pytest.param(["install", "load"], id="install", marks=pytest.mark.heavy),
    pytest.param(
        ["import", str(ROOT / "tests/results/foreign/h2-1.log"), "--schema", "h2load", "--out", "c"],
        id="import",
        marks=pytest.mark.heavy,
    ),
    pytest.param(
        ["site", "import", "load.har", "--out", "kept.yaml"],
        id="site import",
        marks=pytest.mark.heavy,
    ),
]


@pytest.mark.parametrize("words", KILLED)
def test_what_a_killed_command_leaves_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Killed at random moments; nothing of it is left after any other command."""
    cache, seed = tmp_path / "cache", secrets.randbelow(2**32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    recording(tmp_path, "load")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "H123_CACHE": str(cache)}
    for _ in range(2 if words is COMPARE else 5):
        _killed(words, env, moments.uniform(0.3, 6))
    until = time.monotonic() + PATIENCE_S
    shelf = cache / "scratch"
    # What the kernel still ends of a killed lab may use its folder for a moment.
    while time.monotonic() < until:
        subprocess.run([sys.executable, "-m", "h123", "--version"], env=env, check=True, capture_output=True)
        if not shelf.exists() or not list(shelf.iterdir()):
            return
    assert list(shelf.iterdir()) == [], f"seed {seed}"
