"""Where people call it from: without a locale, a terminal, a home, an open standard stream; from odd paths."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT, Tool
from cli.loaded import COLUMNS

NARROW = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}


def _start(folder: Path, command: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """A shell command in which `h123` stands for the tool; of our environment it has the paths alone."""
    script = f'umask 077; h123() {{ "{sys.executable}" -m h123 "$@"; }}; {command}'
    kept = {name: os.environ[name] for name in ("PATH", "H123_CACHE") if name in os.environ}
    env = {**kept, "PYTHONPATH": str(ROOT / "src"), **environment}
    return subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        "list subjects",
        "--help",
        *(
            pytest.param(command, marks=pytest.mark.heavy)
            for command in ("list networks", "list studies", "claims", "plan smoke")
        ),
    ],
)
def test_results_are_plain_where_the_encoding_is(h123: Tool, command: str) -> None:
    wide = h123(*command.split())
    done = _start(h123.folder, f"h123 {command}", **NARROW, COLUMNS=COLUMNS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert len(wide.stdout.splitlines()) == len(done.stdout.splitlines())


def test_known_characters_have_plain_forms_and_the_rest_a_question_mark(tmp_path: Path) -> None:
    said = "5 – 10 µs, 2 × 3, é, \udcff"
    (tmp_path / "say.py").write_text(
        f"from h123.base.terminal.streams import make_usable\nmake_usable()\nprint({said!a})\n", encoding="utf-8"
    )
    done = _start(tmp_path, f'"{sys.executable}" say.py', **NARROW)
    assert done.stdout == b"5 - 10 us, 2 x 3, ?, ?\n"


@pytest.mark.parametrize(
    "closed", ["<&- >&- 2>&-", *(pytest.param(one, marks=pytest.mark.heavy) for one in ("<&-", ">&-", "2>&-"))]
)
def test_closed_streams_hurt_nobody(tmp_path: Path, closed: str) -> None:
    done = _start(tmp_path, f"h123 export nowhere {closed}; test $? = 2 && h123 plan smoke {closed}")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("limit", ["-v 100000", "-v 400000", "-v 8000000", "-n 12"])
def test_tight_limits_are_told_before_anything_begins(tmp_path: Path, limit: str) -> None:
    done = _start(tmp_path, f"ulimit {limit}; h123 run smoke --out out")
    assert done.returncode == 3, done.stderr
    assert b"ulimit " + limit[:2].encode() in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_campaign_from_an_odd_place(h123: Tool) -> None:
    """From its first trial to its report, under a private umask, and with names that many a reader takes amiss."""
    place = h123.folder / "ein Ort für “h123”"
    (place / "temporäre Dateien").mkdir(parents=True)
    surroundings = {**NARROW, "TMPDIR": str(place / "temporäre Dateien"), "HOME": "/nonexistent", "TERM": "dumb"}
    name = "~Größe 10:30 :x: <i>&amp;"
    run = f"h123 run smoke --filter network=lan --out '{name}' <&-"
    done = _start(place, f"{run} && h123 report '{name}'", **surroundings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"~Gr??e 10:30 :x: <i>&amp;/report.html" in done.stdout
    assert "<i>&amp;" not in (place / name / "report.html").read_text(encoding="utf-8")
    assert (place / name / "tls/cert.pem").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("columns", ["0", "x", "-3", "1", "9" * 30])
def test_a_width_that_is_none_changes_nothing(tmp_path: Path, columns: str) -> None:
    done = _start(tmp_path, "h123 list networks", COLUMNS=columns)
    assert done.returncode == 0, done.stderr
    assert b"Delays are" in done.stdout


def test_a_working_directory_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    done = _start(tmp_path, "mkdir gone && cd gone && rmdir ../gone && h123 list networks")
    assert done.returncode == 2
    assert b"the working directory cannot be used" in done.stderr
    assert b"Traceback" not in done.stderr


def test_python_may_be_told_to_leave_docstrings_out(tmp_path: Path) -> None:
    done = _start(tmp_path, "h123 --help", PYTHONOPTIMIZE="2", COLUMNS=COLUMNS)
    assert done.returncode == 0, done.stderr
    assert b"Reanalyse a campaign" in done.stdout


def test_doctor_looks_where_there_is_a_folder(tmp_path: Path) -> None:
    done = _start(tmp_path, "h123 doctor", H123_CACHE=str(tmp_path / "not/yet/there"))
    assert b"disk space" in done.stdout, done.stderr
