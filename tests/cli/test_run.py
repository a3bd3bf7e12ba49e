"""A real campaign on real namespaces and servers, interrupted and gone on with."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PATIENCE_S, Tool
from documents import check_campaign
from h123.json_schemas import DOCUMENTS

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")


def _events(out: Path) -> list[dict[str, Any]]:
    journal = out / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line) for line in lines]


def _trials(out: Path) -> list[dict[str, Any]]:
    return [event for event in _events(out) if event["event"] == "trial"]


def test_smoke_study_ends_with_a_report(h123: Tool) -> None:
    done = replace(h123, draws=True)("run", "smoke", "--out", "out")
    assert done.returncode == 0, done.stderr
    out = h123.folder / "out"
    verdicts = h123.verdicts()
    assert verdicts["trials"]["valid"] == verdicts["trials"]["planned"] == 8
    assert str(out / "report.html") in done.stdout.replace("\n", "") or "out/report.html" in done.stdout
    assert "<html" in (out / "report.html").read_text()
    assert b"".join(path.read_bytes()[:4] for path in sorted((out / "figures").glob("trials-*"))) == b"\x89PNG<svg"
    for trial in _trials(out):
        facts = json.loads((out / f"trials/{trial['trial']}~{trial['attempt']}/client.json").read_text())
        assert {row["version"] for row in facts["tls"]} == {"1.3"}
    elsewhere = {"gate", "diff", "order", "machine", "pool-event", "result-head", "result-page"}  # not in its folder
    elsewhere |= {"tuning", "tuning-answer"}
    assert check_campaign(out) == {*DOCUMENTS} - elsewhere
    h123.succeed("analyse", "out")
    assert h123.verdicts() == verdicts
    done = h123.succeed("why", "out", "--filter", "network=medium")
    assert "connection setup" in done.stdout
    assert "The parts add up to a request's latency, within 2" in done.stdout
    assert h123("why", "out", "--filter", "network=lan").returncode == 2  # a plain veth
    limits = h123.succeed("why", "out", "--limits")
    rows = {line.split("|")[1].strip(): line for line in limits.stdout.splitlines() if line.startswith("| ")}
    assert "the server's processor" in rows["lan"]
    assert "**" in rows["medium"]
    assert "plain veth" in limits.stdout
    exported = h123.succeed("export", "out", "--format", "csv")
    assert all(Path(h123.folder / line).stat().st_size > 0 for line in exported.stdout.split())


def _stopped(process: "subprocess.Popen[str]", blow: signal.Signals = signal.SIGINT) -> str:
    """Return what it has said by its end."""
    process.send_signal(blow)
    said = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == (-blow if blow == signal.SIGKILL else 130), said
    return said


def _goes_on(h123: Tool, valid: int, *options: str) -> None:
    """Nothing is lost, and what was done is not done again."""
    out = h123.folder / "out"
    before = _trials(out)
    h123.succeed("run", "--out", "out", *options)
    after = _trials(out)
    assert after[: len(before)] == before
    clean = [trial["trial"] for trial in after if trial["valid"] and not trial["disturbed"]]
    assert len(clean) == len(set(clean))
    assert len({trial["trial"] for trial in after if trial["valid"]}) == valid


def _until_trials(out: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while len(_trials(out) if out.exists() else []) < count:
        assert time.monotonic() < deadline, "the campaign does not get on"
        time.sleep(0.02)


@pytest.mark.parametrize("blow", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.heavy), signal.SIGKILL])
def test_stopped_campaign_leaves_nothing_and_goes_on(h123: Tool, blow: signal.Signals) -> None:
    out = h123.folder / "out"
    process = h123.start("run", "smoke", "--out", "out")
    _until_trials(out, 2)
    time.sleep(0.15)  # into the next trial
    said = _stopped(process, blow)
    if blow != signal.SIGKILL:
        assert "h123 run --out out" in said
    _goes_on(h123, 8)


def test_killed_tool_takes_the_running_trial_with_it(h123: Tool) -> None:
    process = h123.start("run", "smoke", "--out", "out")
    _until_trials(h123.folder / "out", 1)
    process.kill()
    process.communicate()  # and the fixture looks for what is left


def test_lanes_end_with_a_report_and_say_who_ran_beside_whom(h123: Tool) -> None:
    h123.succeed("run", "smoke", "--out", "out", "--jobs", "2")
    trials = _trials(h123.folder / "out")
    assert {trial["trial"] for trial in trials if trial["valid"]} == {trial["trial"] for trial in trials}
    together = [trial for trial in trials if not trial["alone"]]
    assert {trial["lane"] for trial in together} == {1, 2}
    assert all(trial["cell"]["network"] == "medium" for trial in together)
    verdicts = h123.verdicts()
    failed = {audit["audit"]: audit["failed"] for audit in verdicts["audit_summary"]}
    assert failed["order-unrecorded"] == 0


@pytest.mark.heavy
@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_blow_amid_lanes_loses_at_most_the_running_trials(h123: Tool, blow: signal.Signals) -> None:
    out = h123.folder / "out"
    process = h123.start("run", "smoke", "--filter", "network=medium", "--blocks", "3", "--jobs", "2", "--out", "out")
    deadline, most = time.monotonic() + PATIENCE_S, 0
    # A busy machine may take a lane away as soon as a trial has ended.
    while most < 2 or not _trials(out):
        most = max(most, len(list(out.glob("trials/orders.partial/*/*.partial"))))
        assert time.monotonic() < deadline, "never two at once"
        time.sleep(0.01)
    _stopped(process, blow)
    _goes_on(h123, 12, "--jobs", "2")


def test_a_campaign_that_is_extended_is_one_process_only(h123: Tool) -> None:
    out = h123.folder / "out"
    long = (["run", "smoke", "--out", "out", "--blocks", "30"], ["run", "--out", "out", "--blocks", "40"])
    for arguments in long:
        before = len(_trials(out)) if out.exists() else 0
        process = h123.start(*arguments)
        _until_trials(out, before + 1)  # this process' own: a tool that is not yet awake cannot answer a signal
        process.send_signal(signal.SIGSTOP)  # however fast it is
        refused = h123("run", "--out", "out")
        process.send_signal(signal.SIGCONT)
        _stopped(process)
        assert refused.returncode == 1
        assert "another h123" in refused.stderr
    assert json.loads((out / "campaign.json").read_text())["blocks"] == 40


def _inner_labs(of: int) -> list[int]:
    """First processes of the enclosures that a tool's labs have made."""
    return [inner for lab in _children(of) for inner in _children(lab)]


def _children(of: int) -> list[int]:
    """None if the process has ended."""
    with suppress(OSError):
        return [int(pid) for pid in Path(f"/proc/{of}/task/{of}/children").read_text().split()]
    return []


def test_killed_lab_is_a_failed_attempt(h123: Tool) -> None:
    """As the kernel kills when memory runs out."""
    process = h123.start("run", "smoke", "--filter", "network=medium", "--out", "out", "--jobs", "1")
    deadline = time.monotonic() + PATIENCE_S
    while not (found := _inner_labs(process.pid)):
        assert time.monotonic() < deadline, "no lab has come"
        time.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)
    _until_trials(h123.folder / "out", 2)
    _stopped(process)
    killed, again = _trials(h123.folder / "out")[:2]
    assert [reason["code"] for reason in killed["reasons"]] == ["lab-killed"]
    assert "memory" in killed["reasons"][0]["detail"]
    assert (again["trial"], again["attempt"], again["valid"]) == (killed["trial"], 2, True)


def test_resuming_another_study_is_refused(h123: Tool) -> None:
    process = h123.start("run", "smoke", "--out", "out")
    _until_trials(h123.folder / "out", 1)
    _stopped(process)
    assert "another study" in h123.refusal("run", "quick", "--out", "out")


@pytest.mark.heavy
def test_a_campaign_ends_with_the_look_that_decides(h123: Tool) -> None:
    h123.succeed("run", "smoke", "--filter", "network=medium", "--until-decided", "--max-blocks", "12", "--out", "out")
    events = [json.loads(line) for line in (h123.folder / "out/journal.jsonl").read_text().splitlines()]
    taken = [event["blocks"] for event in events if event["event"] == "look"]
    verdicts = h123.verdicts()
    assert taken in ([8], [8, 12])
    assert (verdicts["looks"]["blocks"], verdicts["looks"]["rule"]) == (taken, "planned")
    assert verdicts["blocks"]["planned"] == taken[-1]
    if taken == [8]:
        asked = [c for c in verdicts["comparisons"] if c["family"].startswith("answer") and not c["twin"]]
        assert all(c["verdict"] != "inconclusive" or c["withheld"] for c in asked)


@pytest.mark.heavy
def test_a_campaign_ends_when_its_intervals_are_narrow_enough(h123: Tool) -> None:
    asked = ["--filter", "network=medium", "--precision", "10%", "--max-blocks", "12", "--out", "out"]
    done = h123.succeed("run", "smoke", *asked)
    out = h123.folder / "out"
    verdicts = h123.verdicts()
    width, blocks = verdicts["width"], verdicts["blocks"]["planned"]
    assert blocks in (10, 12)
    assert width["narrow"] == (width["widest"] <= 0.1)
    assert width["narrow"] or blocks == 12
    assert ("continuing to 12" in done.stderr) == (blocks == 12)
    assert [event["blocks"] for event in _events(out) if event["event"] == "look"] == [blocks], "one look, at the end"
    details = h123("analyse", "out", "--details").stdout
    assert "--precision" in details or "as asked" in details
    h123.succeed("run", "smoke", *asked)
    assert len({event["trial"] for event in _trials(out)}) == 4 * blocks
    assert "must be given when a campaign starts" in h123.refusal("run", "smoke", "--precision", "1%", "--out", "out")


def test_a_plan_of_many_treatments_tells_its_slices(h123: Tool) -> None:
    """And those of `--filter`, whose figures it is, when little enough is left to list it."""
    whole = h123.succeed("plan", "page-loads-beyond", "--clock", "virtual")
    assert len(whole.stdout.splitlines()) < 70
    slices = dict(re.findall(r"^(\w+=\S+) +(\d+ .*?) *$", whole.stdout, re.MULTILINE))
    assert {"protocol=h3", "site=small", "network=cellular", "behind=same-host"} < slices.keys()
    assert "(72 cells)" in " ".join(whole.stdout.split())
    listed = ["protocol=h3,h2", "site=small", "network=cellular", "behind=same-host", "congestion=cubic,bbr"]
    only = [word for one in listed for word in ("--filter", one)]
    part = h123("plan", "page-loads-beyond", "--clock", "virtual", *only)
    assert "10 (A/A twin)" in part.stdout
    assert not re.search(r"^\w+=\S+ +\d+ ", part.stdout, re.MULTILINE)


def test_a_plan_says_what_its_blocks_buy(h123: Tool) -> None:
    done = h123.succeed("plan", "quick", "--precision", "10%", "--effect", "20%")
    said = " ".join(done.stdout.split())
    assert "as in the published quick (docs/results)" in said
    assert "truly differs by 20 %" in said
    assert "±10 % would take about" in said
    few = h123("plan", "servers", "--blocks", "8", "--spread", "10%")
    said = " ".join(few.stdout.split())
    assert "if ratios vary by 10 % from block to block" in said
    assert re.search(r"\b(\d+) of \1 families", said)
    assert "use --blocks 10 or smaller families" in said
