"""What a shell offers for a half-typed command: asked as bash asks, and as its script asks h123."""

import os
import subprocess
from pathlib import Path

import pytest

from cli.conftest import ROOT, Tool
from h123.catalogue import subject_names

ASK = """
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_h123_completion "$2"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `--install-completion` puts into a home of the test's own."""
    home = tmp_path_factory.mktemp("home")
    done = subprocess.run(
        ["bash", "-c", './h123 --install-completion; echo "$?"'],
        cwd=ROOT,
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.endswith("0\n"), done.stdout + done.stderr
    assert ".bash_completions/h123.sh" in (home / ".bashrc").read_text()
    return home / ".bash_completions/h123.sh"


@pytest.mark.parametrize(
    ("words", "offered"), [(["pl"], ["plan"]), (["run", "serv"], ["servers", "servers-protocols"])]
)
def test_bash_is_offered_what_fits(script: Path, words: list[str], offered: list[str]) -> None:
    command = ["bash", "--norc", "-c", ASK, "bash", str(script), "./h123", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == offered, done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["run", "serv"], ["servers", "servers-protocols"]),
        (["run", "--bl"], ["--blocks"]),
        (["lab", "exec", "--network", "sat"], ["satellite"]),
        (["install", "virt"], ["virtual-kernel"]),
        (["verify", "aioq"], ["aioquic"]),
        (["list", "net"], ["networks"]),
        (["list", "subjects", "ngtc"], ["ngtcp2"]),
        (["list", "networks", ""], []),
        (["matrix", "--servers", "go,ngtc"], ["go,ngtcp2"]),
        (["claims", "page-loads-"], ["page-loads-beyond"]),
        (["import", "--schema", "k6-"], ["k6-csv"]),
    ],
)
def test_so_is_its_script(h123: Tool, monkeypatch: pytest.MonkeyPatch, words: list[str], offered: list[str]) -> None:
    """By the variables that it sets; `test_bash_is_offered_what_fits` holds that it does."""
    for name, value in (
        ("_H123_COMPLETE", "complete_bash"),
        ("COMP_WORDS", " ".join(["./h123", *words])),
        ("COMP_CWORD", str(len(words))),
    ):
        monkeypatch.setenv(name, value)
    done = h123()
    assert done.stdout.split() == offered, done.stderr


def test_all_subjects_are_offered(script: Path) -> None:
    command = ["bash", "--norc", "-c", ASK, "bash", str(script), "./h123", "verify", ""]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == subject_names()


@pytest.mark.parametrize("command", [[], ["run"], ["list"], ["lab", "exec"]])
def test_short_options(h123: Tool, command: list[str]) -> None:
    shown = {option: h123(*command, option) for option in ("-h", "--help")}
    assert shown["-h"].returncode == 0
    assert shown["-h"].stdout == shown["--help"].stdout != ""


def test_short_version() -> None:
    done = subprocess.run(["./h123", "-V"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("h123 ")
