"""Trials of two clocks in one campaign: which run at once, in which order, and what their files say."""

import datetime as dt
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from campaign import scripted
from campaign.test_jobs import CROWDED_NS, IDLE, events
from campaign.test_runner import STUDY, Silent, start
from h123.base.errors import UserError
from h123.base.transport import SETTINGS
from h123.campaign import Campaign
from h123.execution import Jobs
from h123.execution.jobs import virtual_jobs
from h123.progress import Standing
from h123.study import Study, load_study

BOTH = STUDY.replace("  network:", "  clock: [wall, virtual]\n  network:")


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A scripted engine boots nothing, but a campaign is refused without a kernel."""
    monkeypatch.setattr("h123.execution.preparation.virtual_kernel", lambda: tmp_path / "linux")


def clocks(campaign: Campaign) -> dict[str, str]:
    return {trial.id: trial.parameters.clock for trial in campaign.plan.trials()}


@pytest.mark.parametrize(
    ("cpus", "memory", "lanes"), [(2, 2**34, 2), (16, 2**34, 16), (16, 5 * 2**30, 5), (1, 2**34, 1), (8, 2**20, 1)]
)
def test_as_many_virtual_trials_as_processors_and_memory(cpus: int, memory: int, lanes: int) -> None:
    assert virtual_jobs(cpus, memory) == lanes


@pytest.mark.parametrize("most", [None, 3])
def test_virtual_trials_run_beside_one_another_and_never_beside_others(tmp_path: Path, most: int | None) -> None:
    campaign, engine = start(tmp_path, BOTH), scripted.ScriptedEngine(machine=IDLE)
    assert scripted.run_scripted(campaign, engine, Silent(), most).valid == 32
    clock = clocks(campaign)
    together = [{clock[name] for name in names} for names in engine.abreast]
    assert all(len(kinds) == 1 for kinds in together)
    widest = max(len(names) for names in engine.abreast if clock[names[0]] == "virtual")
    assert widest == (most or Jobs.at(campaign.plan, None, scripted.HERE).virtual)


def test_virtual_trials_end_their_block(tmp_path: Path) -> None:
    campaign = start(tmp_path, BOTH)
    lanes = Jobs.of(campaign.plan, None, cpus=2, memory_bytes=2**33)
    ordered = [(t.block, t.parameters.clock) for t in lanes.order(campaign.plan.blocks)]
    alone_first = [(1, "wall"), (2, "wall")]
    assert [kind for kind, _ in itertools.groupby(ordered)] == [
        *alone_first,
        *((block, clock) for block in (1, 2) for clock in ("wall", "virtual")),
    ]
    alone = Jobs.of(campaign.plan, 1, cpus=2, memory_bytes=2**33)
    assert alone.order(campaign.plan.blocks) == campaign.plan.trials(), "as planned with --jobs 1"


def test_neighbours_cannot_disturb_a_virtual_trial(tmp_path: Path) -> None:
    campaign = start(tmp_path, BOTH)
    outcome = scripted.run_scripted(campaign, scripted.ScriptedEngine(machine=IDLE, waiting_ns=CROWDED_NS), Silent(), 2)
    assert outcome.valid == 32
    crowded = [e for e in events(campaign) if e["crowded"]]
    assert crowded, "the wall clock's are disturbed"
    assert {e["parameters"]["clock"] for e in crowded} == {"wall"}


def test_trial_files_say_the_clock_and_when_virtual_time_begins(tmp_path: Path) -> None:
    campaign = start(tmp_path, BOTH)
    scripted.run_scripted(campaign, scripted.ScriptedEngine(machine=IDLE), Silent())
    files: dict[str, dict[str, Any]] = {
        name: json.loads((campaign.folder.trial(name, 1) / "trial.json").read_text()) for name in clocks(campaign)
    }
    assert {name: file["clock"] for name, file in files.items()} == clocks(campaign)
    starts = {file.get("start_unix_ns") for file in files.values() if file["clock"] == "virtual"}
    assert len(starts) == 1, "the same for all: what is the same may be repeated"
    certificate = x509.load_pem_x509_certificate((campaign.folder.tls / "cert.pem").read_bytes())
    begins = dt.datetime.fromtimestamp(starts.pop() / 1e9, dt.UTC)
    assert certificate.not_valid_before_utc <= begins <= certificate.not_valid_after_utc
    assert not any("start_unix_ns" in file for file in files.values() if file["clock"] == "wall")


def test_campaign_without_a_kernel_is_refused_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise UserError("no kernel")

    monkeypatch.setattr("h123.execution.preparation.virtual_kernel", missing)
    with pytest.raises(UserError, match="no kernel"):
        start(tmp_path, BOTH)
    assert not (tmp_path / "out").exists()
    start(tmp_path)  # the wall clock needs none


def test_one_clock_for_a_whole_study(tmp_path: Path) -> None:
    campaign = start(tmp_path, clock="virtual")
    assert set(clocks(campaign).values()) == {"virtual"}
    assert Study.from_resolved(campaign.folder.study).settings["clock"] == "virtual"
    assert [t.id for t in campaign.plan.trials()] == [t.id for t in start(tmp_path / "wall").plan.trials()]


def test_one_transport_for_a_whole_study(tmp_path: Path) -> None:
    campaign = start(tmp_path, transport="matched")
    assert {t.parameters.transport for t in campaign.plan.trials()} == {"matched"}
    for setting in SETTINGS:
        assert campaign.folder.subjects["go"][setting] == ["server", "client"]


def test_clock_that_the_study_varies_cannot_be_set(tmp_path: Path) -> None:
    file = tmp_path / "both.yaml"
    file.write_text(BOTH)
    with pytest.raises(UserError, match="already sets the clock, in its factor clock"):
        load_study(file).settled(clock="virtual")


class Watched(Silent):
    """Keeps the cells of the estimates so far."""

    def __init__(self) -> None:
        self.cells: set[str] = set()

    def end(self, _: Any, standing: Standing) -> None:
        self.cells |= {estimate.cell for estimate in standing.so_far}


def test_no_estimate_is_shown_of_what_takes_no_time(tmp_path: Path) -> None:
    """`lan 2.01` of a virtual campaign said how often two programs read the clock."""
    watched = Watched()
    scripted.run_scripted(start(tmp_path, BOTH), scripted.ScriptedEngine(), watched, 1)
    assert watched.cells == {"wall lan", "wall poor", "virtual poor"}


def test_trials_that_differ_only_in_a_change_all_check_their_links(tmp_path: Path) -> None:
    """A check shifts what follows by microseconds, and a loss turns these into milliseconds."""
    changes = "  change: {as-is: {losses: own}, no-loss: {losses: none}}\nsettings: {clock: virtual, "
    text = STUDY.replace("settings: {", changes).replace("[lan, poor]", "[poor]").replace("5%", "5%, changes: change")
    campaign = start(tmp_path, text)
    scripted.run_scripted(campaign, scripted.ScriptedEngine(machine=IDLE), Silent(), None)
    files = [json.loads((campaign.folder.attempt(e) / "trial.json").read_text()) for e in events(campaign)]
    assert len(files) == 14
    assert all(file["check"] for file in files)
