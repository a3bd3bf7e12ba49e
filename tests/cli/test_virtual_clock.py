"""Real trials in a real virtual kernel: `make test-all`. Builds the kernel first where there is none."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PATIENCE_S, Tool
from h123.base.errors import UserError
from h123.base.paths import lab_binary, project_root
from h123.virtual import virtual_kernel

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("leaves_nothing_behind")]

LINK = {"delay_ns": 15_000_000, "rate": {"bps": 20_000_000}, "queue": {"bytes": 100_000}}


@pytest.fixture(scope="module")
def built() -> Path:
    try:
        return virtual_kernel()
    except UserError:
        subprocess.run([sys.executable, "-m", "h123", "install", "virtual-kernel"], check=True, timeout=1800)
        return virtual_kernel()


@pytest.fixture
def kernel(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy, by which its processes are known: they have no environment. None of them may remain."""
    path = tmp_path / "linux"
    shutil.copy(built, path)
    monkeypatch.setenv("H123_KERNEL", str(path))
    yield path
    assert _gone(path)


def _lives(kernel: Path) -> bool:
    for path in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):  # it has ended in this moment
            if path.samefile(kernel):
                return True
    return False


def _wait_until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def _gone(kernel: Path) -> bool:
    deadline = time.monotonic() + 60
    while _lives(kernel):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _reports(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(out.glob("trials/*/report.json"))]


@pytest.mark.usefixtures("kernel")
def test_smoke_study_in_virtual_time(h123: Tool) -> None:
    h123.succeed("run", "smoke", "--clock", "virtual", "--out", "out")
    out = h123.folder / "out"
    verdicts = h123.verdicts()
    assert verdicts["trials"]["valid"] == verdicts["trials"]["planned"] == 8
    assert {report["clock"] for report in _reports(out)} == {"virtual"}
    # Processing takes nothing: a handshake over 30 ms lasts its round trips, a few packets long.
    trips = {"h1": 2, "h2": 2, "h3": 1}
    for value in verdicts["values"]:
        if value["cell"]["network"] == "medium":
            least = trips[value["cell"]["protocol"]] * 0.030
            assert least < value["metrics"]["handshake"] < least + 0.005, value


REPEATED = """\
h123: study/1
name: repeated
question: Does it repeat?
blocks: 1
seed: 1
factors: {protocol: [h2, h3]}
settings: {network: poor, clock: virtual, server: go, client: go, size: 20kB, requests: 6, users: 2}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  margin: 5%
  alpha: 0.05
  families: [{name: all, correction: holm, metrics: [latency]}]
"""


@pytest.mark.usefixtures("kernel")
def test_a_seed_gives_the_same_bytes_in_all_surroundings(h123: Tool, tmp_path: Path) -> None:
    (tmp_path / "repeated.yaml").write_text(REPEATED)
    far = tmp_path / "another folder" / "with a longer name"
    far.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir="/tmp"), tempfile.TemporaryDirectory(dir="/var/tmp"):
        surroundings: list[dict[str, Any]] = [
            {"env": {**os.environ, "FOO": "1", "BIG": "x" * 5000, "LANG": "de_DE"}, "umask": 0o077, "cwd": "/usr"},
            {"env": os.environ, "umask": 0o022, "cwd": tmp_path},
        ]
        for out, given in zip((far / "out", tmp_path / "out"), surroundings, strict=True):
            words = ["run", str(tmp_path / "repeated.yaml"), "--blocks", "1", "--out", str(out)]
            given["env"] = {**given["env"], "PYTHONPATH": str(project_root() / "src")}
            done = subprocess.run([sys.executable, "-m", "h123", *words], check=False, capture_output=True, **given)
            assert done.returncode == 0, done.stderr
    files = [path.relative_to(far / "out") for path in (far / "out/trials").rglob("*.parquet")]
    assert len(files) >= 6
    for file in files:
        assert (tmp_path / "out" / file).read_bytes() == (far / "out" / file).read_bytes(), file
    # Another day, so to speak: files that are older, and a stored trial that was executed elsewhere.
    for path in [far / "out", *(far / "out").rglob("*")]:
        os.utime(path, (10**9, 10**9))
    verified = h123.succeed("verify", str(far / "out"), files[0].parts[1])
    assert verified.stdout.count(": identical\n") == 2, verified.stdout


EDGE = """\
h123: study/1
name: edge
question: What does a backend elsewhere add?
factors:
  behind: {here: {backend_network: null}, away: {backend_network: edge}}
settings: {server: envoy, client: go, protocol: h2, network: us-us, size: 1kB, users: 1, requests: 4}
compare: {factor: behind, pairs: [away/here], twin: here}
blocks: 1
"""


@pytest.mark.usefixtures("kernel")
def test_a_backend_behind_the_edge_adds_its_links_round_trips(h123: Tool) -> None:
    h123.run_study(EDGE, "--clock", "virtual")
    verdicts = h123.verdicts()
    here, away = ({v["cell"]["behind"]: v["metrics"] for v in verdicts["values"]}[one] for one in ("here", "away"))
    # A first request waits for the proxy's own connection, later ones find it open. 0.1 ms: packets, clocks read.
    assert away["cold_ttfb"] - here["cold_ttfb"] == pytest.approx(2 * 0.001, abs=1e-4)
    assert away["latency"] - here["latency"] == pytest.approx(0.001, abs=1e-4)


TLS = """\
h123: study/1
name: tls
question: What does an older TLS take?
factors:
  opening:
    h1: {protocol: h1}
    h1-tls12: {protocol: h1, tls: 1.2}
    h2: {protocol: h2}
    h2-tls12: {protocol: h2, tls: "1.2"}
settings: {server: SERVER, client: go, network: europe-us, size: 1kB, users: 1, requests: 2}
compare: {factor: opening, pairs: [h1-tls12/h1, h2-tls12/h2], twin: h2}
blocks: 1
"""


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("server", ["go", "envoy"])
def test_tls_1_2_takes_one_round_trip_more(h123: Tool, server: str) -> None:
    h123.run_study(TLS.replace("SERVER", server), "--clock", "virtual")
    verdicts = h123.verdicts()
    took = {v["cell"]["opening"]: v["metrics"] for v in verdicts["values"]}
    for protocol in ("h1", "h2"):
        newer, older = took[protocol], took[f"{protocol}-tls12"]
        # 0.1 ms: packets of other sizes. A warm request has no handshake.
        assert older["handshake"] - newer["handshake"] == pytest.approx(0.105, abs=1e-4)
        assert older["cold_ttfb"] - newer["cold_ttfb"] == pytest.approx(0.105, abs=1e-4)
        assert older["latency"] == pytest.approx(newer["latency"], abs=1e-4)
    looked_at = [audit["passed"] for audit in verdicts["audits"] if audit["audit"] == "tls-wrong"]
    assert looked_at == [True] * 5


VISITED = """\
h123: study/1
name: visited
question: Does a visit repeat?
factors: {protocol: [h1, h2, h3]}
settings: {kind: page, site: medium, server: go, client: go, network: europe-us, users: 1, requests: 1}
compare: {factor: protocol, pairs: [h3/h2], twin: h2}
blocks: 1
"""


@pytest.mark.usefixtures("kernel")
def test_visit_of_a_page_repeats_to_the_last_byte(h123: Tool) -> None:
    h123.run_study(VISITED, "--clock", "virtual")
    for trial in sorted((h123.folder / "out/trials").iterdir()):
        done = h123.succeed("verify", f"out/trials/{trial.name}")
        assert "packet counts and lost packets identical; byte counts identical" in done.stdout
        assert "samples: 102; outcomes identical; times identical" in done.stdout


STORED = """\
h123: study/1
name: stored
question: Do all subjects of the catalogue run?
factors: {protocol: [h2, h3], method: [GET, POST]}
settings: {server: go-rest, client: go, store: gcs, network: medium, size: 100kB, users: 2, requests: 2}
compare: {factor: protocol, pairs: [h3/h2], twin: h2}
blocks: 1
"""


@pytest.mark.usefixtures("kernel")
def test_server_with_a_backend_in_virtual_time(h123: Tool) -> None:
    h123.run_study(STORED, "--clock", "virtual")
    reports = _reports(h123.folder / "out")
    assert len(reports) == 6
    assert all([role["name"] for role in report["roles"]] == ["backend", "server", "client"] for report in reports)


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_stopped_campaign_takes_its_kernels_with_it_and_goes_on(h123: Tool, kernel: Path, blow: signal.Signals) -> None:
    process = h123.start("run", "smoke", "--clock", "virtual", "--filter", "network=medium", "--out", "out")
    _wait_until("a kernel", lambda: _lives(kernel))
    process.send_signal(blow)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == (-blow if blow == signal.SIGKILL else 130)
    assert _gone(kernel)
    h123.succeed("run", "--out", "out")
    assert {report["clock"] for report in _reports(h123.folder / "out")} == {"virtual"}


def _run_alone(folder: Path, kernel: Path, client: str) -> dict[str, Any]:
    """The report of a trial whose client is this Python program."""
    return _finish(_start_alone(folder, kernel, client), folder)


def _start_alone(folder: Path, kernel: Path, client: str) -> "subprocess.Popen[bytes]":
    ends = [{"host": "client", "address": "10.1.0.1"}, {"host": "server", "address": "10.1.0.2"}]
    link = {"name": "access", "kind": "emulated", "a": ends[0], "b": ends[1], "up": LINK, "down": LINK}
    main = {"name": "client", "host": "client", "kind": "main", "command": ["/usr/bin/env", "python3", "-c", client]}
    trial = {
        "h123": "trial/1",
        "id": "alone",
        "seed": 3,
        "clock": "virtual",
        "start_unix_ns": 1_700_000_000 * 10**9,
        "hosts": ["client", "server"],
        "links": [link],
        "roles": [main],
    }
    folder.mkdir()
    (folder / "trial.json").write_text(json.dumps(trial))
    command = [str(lab_binary()), "run", "trial.json", "--out", ".", "--kernel", str(kernel), "--die-with-parent"]
    return subprocess.Popen(command, cwd=folder)


def _finish(lab: "subprocess.Popen[bytes]", folder: Path, patience_s: float = 600) -> dict[str, Any]:
    assert lab.wait(patience_s) == 0
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


def test_program_that_spins_is_ended_as_a_failed_trial(kernel: Path, tmp_path: Path) -> None:
    report = _run_alone(tmp_path / "spin", kernel, "while True: pass")
    assert [reason["code"] for reason in report["reasons"]] == ["time-stalled"]
    assert "a program computes and never waits" in report["reasons"][0]["detail"]


def test_program_that_asks_without_end_is_ended_as_a_failed_trial(kernel: Path, tmp_path: Path) -> None:
    lab = _start_alone(tmp_path / "asks", kernel, "import select\nwhile True: select.select([], [], [], 0)")
    report = _finish(lab, tmp_path / "asks", patience_s=3600)  # after 180 s of processor time, however busy the machine
    assert [reason["code"] for reason in report["reasons"]] == ["time-stalled"]
    assert "asks the kernel again and again" in report["reasons"][0]["detail"]


def test_time_luck_and_time_of_day_are_the_trials_own(kernel: Path, tmp_path: Path) -> None:
    client = "import os, time; print(os.urandom(8).hex()); time.sleep(100); print(time.time(), time.monotonic())"
    logs = []
    for name in ("first", "second"):
        began = time.monotonic()
        assert _run_alone(tmp_path / name, kernel, client)["valid"]
        assert time.monotonic() - began < 60, "a hundred seconds of sleep take no time"
        logs.append((tmp_path / name / "logs/client.log").read_text())
    assert logs[0] == logs[1]
    day, monotonic = (float(word) for word in logs[0].split()[1:])
    assert 1_700_000_100 < day < 1_700_000_102
    assert 100 < monotonic < 102


SLEEPS = "import time; begin = time.monotonic_ns(); time.sleep(0.001); print(time.monotonic_ns() - begin)"


def test_timers_are_precise_from_the_first_moment(kernel: Path, tmp_path: Path) -> None:
    """At first, a kernel's timers expire at its ticks. A link would deliver its first packets up to 10 ms late."""
    assert _run_alone(tmp_path / "first", kernel, SLEEPS)["valid"]
    assert 1_000_000 <= int((tmp_path / "first/logs/client.log").read_text()) < 1_200_000


WAITS = """
import time
turns = lambda: int(open("/proc/1/schedstat").read().split()[2])
before = turns()
time.sleep(100)
print(turns() - before)
"""


def test_the_lab_sleeps_while_the_trial_does(kernel: Path, tmp_path: Path) -> None:
    # The first process in there is the one that looks after the roles: each time it runs costs what a packet costs.
    report = _run_alone(tmp_path / "idle", kernel, WAITS)
    assert int((tmp_path / "idle/logs/client.log").read_text()) < 10
    assert report["roles"][0]["cpu"]["main_wait_ns"] is None


def test_outcome_waits_for_one_who_looks_late(kernel: Path, tmp_path: Path) -> None:
    # Nobody reads the signs of life of 30 s, which the pipe can hold: the busiest machine there can be.
    lab = _start_alone(tmp_path / "late", kernel, "import time; time.sleep(30)")
    _wait_until("the kernel", lambda: _lives(kernel))
    inside = int(Path(f"/proc/{lab.pid}/task/{lab.pid}/children").read_text())
    os.kill(inside, signal.SIGSTOP)
    try:
        _wait_until("the kernel to end", lambda: not _lives(kernel))
    finally:
        os.kill(inside, signal.SIGCONT)
    assert _finish(lab, tmp_path / "late")["reasons"] == []


def test_outcome_that_cannot_be_written_is_on_the_console(kernel: Path, tmp_path: Path) -> None:
    client = "import os; os.mkdir('/tmp/.h123-virtual/outcome.json.partial')"
    (reason,) = _run_alone(tmp_path / "mute", kernel, client)["reasons"]
    assert reason["code"] == "setup-failed"
    assert "exit status: 0" in reason["detail"]
    assert "cannot write /tmp/.h123-virtual/outcome.json" in reason["detail"]
