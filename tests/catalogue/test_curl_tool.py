"""subjects/curl-tool, which has curl make the requests: what it refuses, what it makes of what curl prints."""

import csv
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from catalogue.test_c_clients import WORKLOAD, compiled
from h123.base.paths import project_root

SUBJECTS = project_root() / "subjects"
CURL = shutil.which("curl")
"""The machine's own, of whatever version."""
WHOLE = "0\t200\t2\t{dials}\t0\t1\t0.000100\t0.000200\t{took}"
"""A line as curl prints it."""

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curl-tool")
    _script(folder / "run", 'exec "$@"')
    return compiled(folder / "h123-curl-tool", [*(SUBJECTS / "curl-tool").glob("*.c"), *(SUBJECTS / "c").glob("*.c")])


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def _run(
    program: Path, folder: Path, curl: Path | str | None, **changed: Any
) -> "tuple[subprocess.CompletedProcess[str], list[dict[str, str]]]":
    """What became of it, and the samples."""
    (folder / "workload.json").write_text(json.dumps({**WORKLOAD, "cold": False, **changed}))
    files = {name: str(folder / name) for name in ("workload.json", "samples.csv", "client.json")}
    run = str(program.with_name("run"))
    options = {"--run": run, "--curl": str(curl), "--ciphers": "own", "--quic-congestion": "reno"}
    options |= dict(zip(("--workload", "--samples", "--facts"), files.values(), strict=True))
    words = [word for option in options.items() for word in option]
    # The program ends without freeing what it has read.
    done = subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        env={"ASAN_OPTIONS": "detect_leaks=0", "PATH": "/usr/bin:/bin"},
    )
    samples = folder / "samples.csv"
    return done, list(csv.DictReader(samples.open(newline=""))) if samples.is_file() else []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cold": True}, "neither cold requests nor a rate"),
        ({"rate": 50.0}, "neither cold requests nor a rate"),
        ({"connections": 2}, "no number of them can be asked for"),
        ({"connections": "per-user"}, "no number of them can be asked for"),
        ({"users": 101}, "at most 100 requests at once over HTTP/2 on a connection, not 101: have fewer users"),
        ({"protocol": "h3", "users": 101}, "at most 100 requests at once over HTTP/3 on a connection, not 101"),
        ({"protocol": "h1", "users": 301}, "at most 300 requests at once over HTTP/1.1, not 301"),
        ({"path": "/a[1-9]"}, "takes the brackets in the path /a[1-9] for a range"),
    ],
)
def test_what_curl_cannot_do_is_refused_in_a_sentence(
    program: Path, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    done, _ = _run(program, tmp_path, "/bin/false", **changed)
    assert done.returncode == 127
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(
    CURL is None or "HTTP3" in subprocess.getoutput("curl --version"), reason="needs a curl without HTTP/3"
)
def test_a_curl_without_http3_is_refused_in_its_own_words(program: Path, tmp_path: Path) -> None:
    done, _ = _run(program, tmp_path, CURL, protocol="h3")
    assert done.returncode == 127
    assert "--http3-only" in done.stderr
    assert "this curl cannot do what is asked over HTTP/3" in done.stderr


@pytest.mark.skipif(CURL is None, reason="needs a curl")
@pytest.mark.parametrize("wanted", ["ngtcp2", "quiche"])
def test_a_curl_with_another_quic_is_not_installed(tmp_path: Path, wanted: str) -> None:
    _script(tmp_path / "run", 'exec "$@"')
    build = SUBJECTS / "curl-tool/build.sh"
    done = subprocess.run(["sh", build, tmp_path, str(CURL), wanted], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"a curl with the QUIC of {wanted} is wanted, and this one has " in done.stderr
    assert not (tmp_path / "h123-curl-tool").exists()


def _printing(folder: Path, *lines: str, status: int = 0) -> Path:
    printed = "".join(f"printf '{line}\\n'; " for line in lines)
    # As long as its transfers would have taken, at least.
    return _script(folder / "curl", f"sleep 0.1; {printed}exit {status}")


def test_each_user_has_as_many_requests_and_the_program_ran_around_them(program: Path, tmp_path: Path) -> None:
    lines = [WHOLE.format(dials=int(not number), took="0.000500") for number in range(12)]
    done, rows = _run(program, tmp_path, _printing(tmp_path, *lines), users=2, requests=5, warmup=1)
    assert done.returncode == 0, done.stderr
    assert sorted((row["user"], row["phase"]) for row in rows) == [
        *[(user, phase) for user in "01" for phase in ["warm"] * 5 + ["warmup"]]
    ]
    assert {row["connection"] for row in rows} == {"0"}
    assert sum(row["reused"] == "0" for row in rows) == 1
    process = json.loads((tmp_path / "client.json").read_text())["process"]
    assert process["began_ns"] < min(int(row["start_ns"]) for row in rows) + 500_000
    assert max(int(row["end_ns"]) for row in rows) <= process["ended_ns"]
    for row in rows:
        assert int(row["end_ns"]) - int(row["start_ns"]) == 500_000
        assert int(row["first_byte_ns"]) - int(row["start_ns"]) == 200_000


@pytest.mark.parametrize("users", [1, 3])
def test_lines_that_are_read_late_do_not_make_more_requests_at_once(program: Path, tmp_path: Path, users: int) -> None:
    took = [3, 9, 4, 4, 1, 8, 2, 6, 7, 5, 5, 2]
    lines = [WHOLE.format(dials=int(not number), took=f"0.00{ms}000") for number, ms in enumerate(took)]
    done, rows = _run(program, tmp_path, _printing(tmp_path, *lines), users=users, requests=12 // users)
    assert done.returncode == 0, done.stderr
    times = [(int(row["start_ns"]), int(row["end_ns"])) for row in rows]
    assert sorted(end - start for start, end in times) == sorted(ms * 1_000_000 for ms in took)
    assert all(sum(start < end and after > end for start, after in times) < users for _, end in times)
    process = json.loads((tmp_path / "client.json").read_text())["process"]
    assert all(process["began_ns"] <= start < end <= process["ended_ns"] for start, end in times)


def test_what_curl_gives_up_is_rows_that_failed(program: Path, tmp_path: Path) -> None:
    printed = [WHOLE.format(dials=1, took="0.01"), "28\t000\t0\t0\t0\t0\t0\t0\t2.0"]
    done, rows = _run(program, tmp_path, _printing(tmp_path, *printed, status=27), users=1, requests=4)
    assert done.returncode == 0, done.stderr
    assert sorted(row["error"] for row in rows) == ["", *["other: curl ended with status 27 before it"] * 2, "timeout"]


def test_more_connections_than_one_are_told(program: Path, tmp_path: Path) -> None:
    lines = [WHOLE.format(dials=int(number < 2), took="0.0005") for number in range(4)]
    done, rows = _run(program, tmp_path, _printing(tmp_path, *lines), users=2, requests=2)
    assert done.returncode == 0, done.stderr
    assert {row["connection"] for row in rows} == {""}
    facts = json.loads((tmp_path / "client.json").read_text())
    assert facts["tls"][0]["connections"] == 2
    assert "curl opened 2 connections" in facts["notes"][1]


def test_a_curl_that_prints_something_else_is_no_client(program: Path, tmp_path: Path) -> None:
    done, _ = _run(program, tmp_path, _printing(tmp_path, "0", "200"), users=1, requests=2)
    assert done.returncode == 1
    assert "have 8.10 or newer" in done.stderr
