"""Trials without root: in a user namespace, or under the virtual clock alone, on links that are what they should be."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from execution.unprivileged import SOMEBODY, Somebody, somebody, why_not
from h123.base.errors import UserError
from h123.base.paths import lab_binary
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.execution import MachineOffer, OfferedWay, require_privileges
from h123.study import find_study, load_study, make_plan
from h123.virtual import installed_kernel

CANNOT = why_not()
in_namespace = pytest.mark.skipif(CANNOT is not None, reason=str(CANNOT))
as_another = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
kernel = installed_kernel()
needs_kernel = pytest.mark.skipif(
    kernel is None, reason="the virtual kernel is not installed: h123 install virtual-kernel"
)
FETCH = "python3 -m http.server -b 10.1.0.2 8000"
CLIENT = (
    "id -u; touch /etc/h123-made; echo x > kept; "
    "python3 -c 'import urllib.request as u; print(len(u.urlopen(\"http://10.1.0.2:8000/\").read()) > 0)'"
)


def trial(kind: str, clock: str = "wall", check: bool = False, **link: Any) -> dict[str, Any]:
    """A server and a client with a link between them."""
    access = {
        "name": "access",
        "a": {"host": "client", "address": "10.1.0.1"},
        "b": {"host": "server", "address": "10.1.0.2"},
        "kind": kind,
        **link,
    }
    server = {"name": "server", "host": "server", "kind": "service", "command": ["sh", "-c", FETCH]}
    client = {"name": "client", "host": "client", "kind": "main", "command": ["sh", "-c", CLIENT]}
    return {
        "h123": "trial/1",
        "id": "unprivileged",
        "seed": 5,
        "clock": clock,
        **({"start_unix_ns": 1_700_000_000_000_000_000} if clock == "virtual" else {}),
        "hosts": ["client", "server"],
        "links": [access],
        "check": check,
        "roles": [{**server, "ready": {"tcp": [8000]}}, {**client, "timeout_ns": 60_000_000_000}],
    }


SLOW = {"delay_ns": 10_000_000, "rate": {"bps": 20_000_000}, "queue": {"packets": 50}, "loss": {"random": 0.01}}
EMULATED = trial("emulated", up=SLOW, down=SLOW)
VIRTUAL = trial("emulated", "virtual", up=SLOW, down=SLOW)
VIRTUAL["roles"][1]["command"][2] = CLIENT.replace("touch /etc/h123-made; ", "")


def execute(user: Somebody, what: dict[str, Any], *options: str) -> Report:
    """A trial that must come to a report."""
    out = user.folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    (user.folder / "trial.json").write_text(json.dumps(what))
    done = user.run(str(user.lab), "run", "trial.json", "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    return read_document(out / "report.json", Report)


def codes(report: Report) -> set[str]:
    return {warning["code"] for warning in report.warnings}


@in_namespace
@pytest.mark.parametrize("what", [trial("veth"), EMULATED], ids=["lan", "emulated"])
def test_a_user_runs_trials_in_a_namespace_and_the_report_says_what_was_refused(what: dict[str, Any]) -> None:
    with somebody() as user:
        report = execute(user, what)
        assert (report.valid, report.reasons) == (True, [])
        granted = report.user_namespace
        assert granted is not None
        assert not granted.realtime
        assert not granted.memory_locked
        assert granted.files == "own"
        assert 0 < granted.probe_buffer_bytes < 2 * (32 << 20)
        said = (user.folder / "out/logs/client.log").read_text().splitlines()
        assert said[0] == "0"
        assert said[-1] == "True"
        # What it writes in its own folder stays, and is the user's; the rest goes with the lab.
        assert (user.folder / "out/kept").stat().st_uid == SOMEBODY
        assert not Path("/etc/h123-made").exists()
        assert "files-discarded" in codes(report)
        if what is EMULATED:
            assert {"no-realtime", "no-memory-lock"} <= codes(report)


@in_namespace
def test_the_link_of_a_user_is_checked_as_it_is_for_root() -> None:
    """Whether it passes is the machine's business: a busy one may be too late without real-time priority."""
    with somebody() as user:
        report = execute(user, trial("emulated", check=True, up=SLOW, down=SLOW))
        assert {reason["code"] for reason in report.reasons} <= {"link-check-failed"}
        (link,) = report.links
        assert link.check is not None


@as_another
def test_root_is_granted_all_and_its_report_says_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "trial.json").write_text(json.dumps(trial("veth")))
    subprocess.run([lab_binary(), "run", "trial.json", "--out", "out"], cwd=tmp_path, check=True, timeout=60)
    assert "user_namespace" not in json.loads((tmp_path / "out/report.json").read_text())


@in_namespace
def test_a_closed_device_is_named_and_a_link_without_one_needs_none() -> None:
    with somebody(tun=False) as user:
        (user.folder / "trial.json").write_text(json.dumps(EMULATED))
        done = user.run(str(user.lab), "run", "trial.json", "--out", "out")
        assert done.returncode == 3
        assert "/dev/net/tun is closed to this user" in done.stderr
        assert "chmod 666" in done.stderr
        assert execute(user, trial("veth")).valid


@as_another
def test_where_system_calls_are_filtered_the_lab_says_so_and_offers_the_virtual_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with somebody(filtered=True) as user:
        offered_ways = json.loads(user.run(str(user.lab), "ways").stdout)
        assert offered_ways["chosen"] == "virtual-clock"
        assert [way["open"] for way in offered_ways["ways"]] == [False, False, True]
        assert "filter for system calls" in offered_ways["ways"][1]["detail"]
        offer = MachineOffer(offered_ways["chosen"], [OfferedWay(**way) for way in offered_ways["ways"]])
        monkeypatch.setattr("h123.execution.machine.ways", lambda: offer)
        study = load_study(find_study("quick"))
        with pytest.raises(UserError) as refused:
            require_privileges([planned.parameters for planned in make_plan(study).blocks[0]], study.networks)
        message = f"h123: {refused.value.message}\n  -> {refused.value.remedy}"
        assert [len(line) <= 80 for line in message.splitlines()] == [True] * 3
        (user.folder / "trial.json").write_text(json.dumps(EMULATED))
        done = user.run(str(user.lab), "run", "trial.json", "--out", "out")
        assert done.returncode == 3
        assert "cannot create namespaces" in done.stderr


def digests(folder: Path) -> dict[str, str]:
    """Of all files of an executed trial."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@needs_kernel
@in_namespace
def test_the_virtual_clock_gives_the_same_bytes_with_and_without_root(tmp_path: Path) -> None:
    """As root, in a user namespace, and under a container's filter, twice: no namespaces, addresses at random."""
    assert kernel is not None
    found = {}
    for name, filtered in [("namespace", False), ("filter", True), ("filter again", True)]:
        with somebody(filtered=filtered) as user:
            shutil.copy(kernel.path, user.folder / "linux")
            assert execute(user, VIRTUAL, "--kernel", "linux").valid
            found[name] = digests(user.folder / "out")
    (tmp_path / "trial.json").write_text(json.dumps(VIRTUAL))
    command = [lab_binary(), "run", "trial.json", "--out", "out", "--kernel", str(kernel.path)]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    root = digests(tmp_path / "out")
    assert set(root) >= {"report.json", "logs/client.log"}
    assert found == dict.fromkeys(found, root)
    assert not list(Path("/tmp").glob("h123-virtual-*"))


@needs_kernel
@as_another
def test_a_kernel_whose_addresses_cannot_be_fixed_runs_and_says_so() -> None:
    assert kernel is not None
    with somebody(filtered=True, traces=False) as user:
        shutil.copy(kernel.path, user.folder / "linux")
        report = execute(user, VIRTUAL, "--kernel", "linux")
        assert report.valid
        assert codes(report) == {"kernel-at-random"}


def offered(chosen: str, *, links: bool) -> MachineOffer:
    closed = OfferedWay("user-namespace", chosen == "user-namespace", links, "a switch is off", "turn it on")
    taken = OfferedWay(chosen, True, links, "the device is closed", "open it")  # type: ignore[arg-type]
    return MachineOffer(chosen, [closed, taken] if chosen != "user-namespace" else [closed])  # type: ignore[arg-type]


@pytest.mark.parametrize("clock", ["wall", "virtual"])
@pytest.mark.parametrize(
    ("chosen", "links"), [("root", True), ("user-namespace", True), ("user-namespace", False), ("virtual-clock", False)]
)
def test_what_cannot_run_here_is_refused_in_three_lines_that_say_what_can(
    monkeypatch: pytest.MonkeyPatch, chosen: str, links: bool, clock: str
) -> None:
    monkeypatch.setattr("h123.execution.machine.ways", lambda: offered(chosen, links=links))
    study = load_study(find_study("quick")).settled(clock=clock)
    trials = [planned.parameters for planned in make_plan(study).blocks[0]]
    if links or clock == "virtual":
        assert require_privileges(trials, study.networks).chosen == chosen
        return
    with pytest.raises(UserError) as refused:
        require_privileges(trials, study.networks)
    error = refused.value
    assert error.status == 3
    assert len(f"{error.message}\n{error.remedy}".splitlines()) == 3
    assert "--clock virtual" in str(error.remedy)
    assert "plan, analyse, report, import and claims" in str(error.remedy)
