"""Campaigns on a Ray cluster whose nodes share nothing, neither with one another nor with the campaign."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from campaign.ray_nodes import ADDRESS, ROOT, Cluster, ray_library, signal_driver
from campaign.test_machines import SMALL, again, counted, moves, nothing_is_left_over, whole_on_one_machine
from campaign.test_runner import Silent, start
from h123.analysis import analyse
from h123.campaign import run_campaign
from h123.execution import LocalPool
from h123.store import CampaignFolder
from h123.virtual import installed_kernel

pytestmark = pytest.mark.heavy

BLOCKS, EACH = 6, 3
ROUNDS = int(os.environ.get("H123_RAY_KILLS", "12"))
"""Set H123_RAY_KILLS=60 for a long run."""
PATIENCE_S = 600.0
MACHINE_KEYS = {"campaign", "projection", "places", "second_runs", "machine"}
"""What of verdicts.json names machines, or times on the wall."""


@pytest.fixture(scope="module")
def library() -> Path:
    return ray_library()


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return _study(tmp_path, BLOCKS)


def _study(folder: Path, blocks: int) -> Path:
    if installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed: h123 install virtual-kernel")
    file = folder / "study.yaml"
    file.write_text(SMALL.replace("blocks: 5", f"blocks: {blocks}"))
    return file


def command(study: Path, out: Path) -> list[str | Path]:
    return ["run", study, "--clock", "virtual", "--engine", "ray", "--address", ADDRESS, "--out", out]


def finish(process: subprocess.Popen[str], blocks: int = BLOCKS) -> str:
    output, _ = process.communicate(timeout=PATIENCE_S + 10 * blocks)
    assert process.returncode == 0, output
    return output


@pytest.fixture
def expected(tmp_path: Path, study: Path) -> dict[str, Any]:
    return _expected(tmp_path, study, BLOCKS)


def _expected(folder: Path, study: Path, blocks: int) -> dict[str, Any]:
    """The verdicts of the same campaign on this machine alone."""
    local = start(folder / "local", study.read_text(), folder / "local/out", clock="virtual")
    assert run_campaign(local, LocalPool(local.folder.arrivals, local.folder.tls), Silent(), 2).valid == EACH * blocks
    return verdicts(CampaignFolder.open(local.folder.path))


def verdicts(folder: CampaignFolder) -> dict[str, Any]:
    """Those of a campaign, without what names machines or has times on the wall. Audits of trials come in the order in
    which these ended, which depends on the machines; a trial that ran again on another machine is a later attempt, and
    the lost one is counted."""
    found = {key: value for key, value in analyse(folder).items() if key not in MACHINE_KEYS}
    found = json.loads(re.sub(r"~\d+", "~1", json.dumps(found)))
    trials = {key: found["trials"][key] for key in ("planned", "valid")}
    return {**found, "trials": trials, "audits": sorted(found["audits"], key=json.dumps)}


def check(out: Path, expected: dict[str, Any], blocks: int = BLOCKS) -> None:
    """The campaign is whole, and its verdicts are those of one machine."""
    folder = CampaignFolder.open(out)
    assert whole_on_one_machine(folder, blocks)
    found = verdicts(folder)
    assert [key for key in {*found, *expected} if found.get(key) != expected.get(key)] == []
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def test_two_nodes_that_share_nothing_do_a_campaign_between_them(
    tmp_path: Path, study: Path, expected: dict[str, Any], library: Path
) -> None:
    out = tmp_path / "out"
    with Cluster(library, tmp_path, 2) as cluster:
        finish(cluster.h123(command(study, out)))
    check(out, expected)
    homes = {block: machine for block, found in counted(CampaignFolder.open(out)).items() for machine in found}
    assert len(set(homes.values())) == 2
    second = [event for event in CampaignFolder.open(out).events() if event["event"] == "second-run"]
    ran = {(homes[int(event["trial"][1:3])], event["place"]) for event in second}
    assert ran == {(one, other) for one in homes.values() for other in homes.values() if one != other}
    assert moves(CampaignFolder.open(out)) == []


def test_a_cluster_ends_with_a_test_that_is_killed(tmp_path: Path, library: Path) -> None:
    held = (
        f"from pathlib import Path\nfrom campaign.ray_nodes import Cluster\n"
        f"with Cluster(Path({str(library)!r}), Path({str(tmp_path)!r}), 1):\n    print(flush=True)\n    input()"
    )
    path = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
    test = subprocess.Popen(
        [sys.executable, "-c", held],
        env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert test.stdout
    assert test.stdout.readline() == b"\n"
    folder = f"/tmp/h123-{test.pid}-ray"
    begun = _descendants(test.pid)
    assert any(folder in line for line in begun.values())
    test.kill()
    test.wait()
    deadline = time.monotonic() + PATIENCE_S
    while left := [line for process, line in begun.items() if _command_line(process) == line]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert not [*Path("/run").glob(f"netns/h123-{test.pid}-*")]
    Path(folder).rmdir()


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def _descendants(process: int) -> dict[int, str]:
    """The command lines of all processes below this one, by process."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child: _command_line(child), **_descendants(child)}
    return found


@pytest.mark.usefixtures("study")
def test_a_tuning_on_nodes_has_the_answer_of_one_machine(tmp_path: Path, library: Path) -> None:
    knobs = ["--knobs", "go", "--knob", "pacing", "--url", "https://localhost:8443/bytes/20000"]
    tune = ["tune", *knobs, "--networks", "home", "--blocks", "6", "--load", "1x2", "--out", tmp_path / "t"]
    with Cluster(library, tmp_path, 2) as cluster:
        finish(cluster.h123([*tune, "--engine", "ray", "--address", ADDRESS]))
    assert len({m for found in counted(CampaignFolder.open(tmp_path / "t/final")).values() for m in found}) == 2
    local = [sys.executable, "-m", "h123", *tune[:-1], tmp_path / "local"]
    subprocess.run(local, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True)
    answer, expected = (json.loads((tmp_path / name / "answer.json").read_text()) for name in ("t", "local"))
    assert answer == expected


def test_interrupted_and_resumed_with_another_number_of_nodes(
    tmp_path: Path, study: Path, expected: dict[str, Any], library: Path
) -> None:
    out = tmp_path / "out"
    for nodes, number in ((2, signal.SIGINT), (1, signal.SIGTERM)):
        with Cluster(library, tmp_path, nodes) as cluster:
            driver = cluster.h123(command(study, out))
            _wait_for_trials(out, len(_seals(out)) + EACH // 2 + 1)
            signal_driver(driver, number)
            output, _ = driver.communicate(timeout=PATIENCE_S)
            assert driver.returncode == 130, output
    with Cluster(library, tmp_path, 4) as cluster:
        finish(cluster.h123(command(study, out)))
    check(out, expected)


def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path, library: Path) -> None:
    """Actors, nodes, the head and the campaign's process are killed in turn, each when trials have ended since."""
    blocks = BLOCKS + ROUNDS * 3 // 2
    study, out = _study(tmp_path, blocks), tmp_path / "out"
    chance, kills = random.Random(ROUNDS), 0
    while kills < ROUNDS:
        with Cluster(library, tmp_path, 2) as cluster:
            driver = cluster.h123(command(study, out))
            output = threading.Thread(target=driver.communicate)
            output.start()
            for victim in ("actor", "node", ("head", "driver")[kills // 3 % 2]):
                before = _seals(out)
                _wait_for_trials(out, len(before) + chance.randint(1, 2))
                time.sleep(chance.uniform(0, 1.5))
                assert driver.poll() is None, "the campaign ended before it was killed"
                _kill(victim, cluster, driver)
                kills += 1
                assert before.items() <= _seals(out).items()
            output.join(timeout=PATIENCE_S)
            assert driver.poll() is not None, f"the campaign goes on without its {victim}"
        again(tmp_path)
    with Cluster(library, tmp_path, 2) as cluster:
        finish(cluster.h123(command(study, out)), blocks)
    check(out, _expected(tmp_path, study, blocks), blocks)
    assert nothing_is_left_over(again(tmp_path))


def _kill(victim: str, cluster: Cluster, driver: "subprocess.Popen[str]") -> None:
    match victim:
        case "actor":
            subprocess.run(["pkill", "-9", "-f", "ray::Node"], check=False)
        case "node":
            cluster.kill(cluster.nodes[0])
            cluster.start(cluster.nodes[0])
        case "head":
            cluster.kill(cluster.head)
        case "driver":
            signal_driver(driver, signal.SIGKILL)


def _wait_for_trials(out: Path, count: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while len(_seals(out)) < count:
        assert time.monotonic() < until, "the campaign does not get on"
        time.sleep(0.2)


def _seals(out: Path) -> dict[tuple[str, int], str]:
    journal = out / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    events = [json.loads(line) for line in lines if line.endswith("}")]
    return {(e["trial"], e["attempt"]): e["seal"] for e in events if e["event"] == "trial"}
