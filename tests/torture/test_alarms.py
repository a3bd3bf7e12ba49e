"""`make torture` is worth as much as its alarms: each of them rings when there is reason to."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h123.analysis import analyse
from h123.base.files.journal import Line, append_event, read_events
from h123.base.paths import project_root
from h123.report import write_report
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign

sys.path.append(str(project_root() / "tools/torture"))  # programs, not a package

import box
import traces
import wholeness

_TUNSETIFF, _IFF_TUN = 0x400454CA, 1


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with nothing wrong."""
    path = tmp_path_factory.mktemp("whole") / "campaign"
    folder = make_campaign(path, Scenario(blocks=1, networks={"lan": Scenario().networks["lan"]}))
    analyse(CampaignFolder.open(path))
    write_report(folder)
    return path


@pytest.fixture
def campaign(reported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(reported, tmp_path / "campaign"))


def _planned(campaign: Path) -> dict[str, int]:
    trials = [event for event in _journal(campaign) if event["event"] == "trial"]
    return {event["trial"]: wholeness.samples(campaign, event) for event in trials}


def _journal(campaign: Path) -> list[Line]:
    return read_events(campaign / "journal.jsonl")


def _rewrite(campaign: Path, events: list[Line]) -> None:
    (campaign / "journal.jsonl").unlink()
    for event in events:
        append_event(campaign / "journal.jsonl", event)


def _lose(campaign: Path) -> None:
    _rewrite(campaign, [event for event in _journal(campaign) if event.get("position") != 1])


def _double(campaign: Path) -> None:
    begun, first, *others = _journal(campaign)
    again = {**first, "attempt": 2}
    shutil.copytree(campaign / f"trials/{first['trial']}~1", campaign / f"trials/{first['trial']}~2")
    _rewrite(campaign, [begun, first, again, *others])


def _forget(campaign: Path) -> None:
    shutil.rmtree(next((campaign / "trials").iterdir()))


def _flip(campaign: Path) -> None:
    facts = next(campaign.glob("trials/*/client.json"))
    facts.write_bytes(facts.read_bytes().replace(b" ", b"\t", 1))


def _unseal(campaign: Path) -> None:
    _rewrite(campaign, [{name: value for name, value in e.items() if name != "seal"} for e in _journal(campaign)])


def _change_journal(campaign: Path) -> None:
    journal = campaign / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"lan"', b'"lam"', 1))


def _leave_partial(campaign: Path) -> None:
    (campaign / "trials/b01-t01~1.partial").mkdir()


def _stop(campaign: Path) -> None:
    _rewrite(campaign, [event for event in _journal(campaign) if event["event"] != "finished"])


def _tear_report(campaign: Path) -> None:
    page = campaign / "report.html"
    page.write_text(page.read_text()[:-100])


def _tear_verdicts(campaign: Path) -> None:
    (campaign / "verdicts.json").write_text("{")


def test_a_whole_campaign_raises_no_alarm(campaign: Path) -> None:
    assert list(wholeness.faults(campaign, _planned(campaign))) == []


@pytest.mark.parametrize(
    ("harm", "alarm"),
    [
        (_lose, "lost"),
        (_double, "done again"),
        (_forget, "in the journal alone"),
        (_flip, "has changed"),
        (_unseal, "has no seal"),
        (_change_journal, "has changed"),
        (_leave_partial, "was left"),
        (_stop, "the journal ends with"),
        (_tear_report, "report.html"),
        (_tear_verdicts, "no report"),
    ],
)
def test_what_is_wrong_with_a_campaign_is_found(campaign: Path, harm: Callable[[Path], None], alarm: str) -> None:
    planned = _planned(campaign)
    harm(campaign)
    assert any(alarm in fault for fault in wholeness.faults(campaign, planned))


def test_a_harmed_trial_must_have_been_repeated(campaign: Path) -> None:
    harmed = {next((campaign / "trials").iterdir()).name}
    assert any("no valid attempt" in fault for fault in wholeness.faults(campaign, _planned(campaign), harmed))


def test_samples_that_went_missing_are_found(campaign: Path) -> None:
    planned = {trial: samples + 1 for trial, samples in _planned(campaign).items()}
    assert any("samples instead of" in fault for fault in wholeness.faults(campaign, planned))


def test_what_is_left_on_the_machine_is_found() -> None:
    def leave() -> dict[str, list[str]]:
        traces.PATIENCE_S = 0.1
        before = traces.Traces.now()
        subprocess.Popen(["sleep", "600"])
        Path("/tmp/kept-network").touch()
        subprocess.run(["unshare", "--net=/tmp/kept-network", "true"], check=True)
        fcntl.ioctl(os.open("/dev/net/tun", os.O_RDWR), _TUNSETIFF, struct.pack("16sH22x", b"kept0", _IFF_TUN))
        Path("/dev/shm/kept").touch()
        return before.left()

    left = box.inside(leave)
    assert set(left) == {"processes", "mounts", "devices", "shared memory", "files in /tmp"}, left


def test_a_box_leaves_nothing_itself() -> None:
    network = Path("/proc/self/ns/net")
    outside = network.readlink()
    within, devices = box.inside(lambda: (network.readlink(), [name for _, name in socket.if_nameindex()]))
    assert within != outside
    assert devices == ["lo"]
    with pytest.raises(RuntimeError, match="without a result"):
        box.inside(lambda: os._exit(1))
