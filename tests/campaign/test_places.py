"""A campaign in several machines: a fast one, and a slow one that may die."""

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from campaign.scripted import HERE, ScriptedEngine
from campaign.test_disturbed import late
from campaign.test_jobs import IDLE, events
from campaign.test_runner import STUDY, Silent, start
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.campaign import Campaign, Outcome, extend_campaign, run_campaign
from h123.execution import Machine, MachineLost
from h123.report import print_summary, write_report
from h123.store import CampaignFolder, connect
from hasty import NO_PICTURES

BLOCKS, EACH = 5, 3
"""Trials of a block."""
TRIALS = EACH * BLOCKS
SMALL = (
    STUDY.replace("[h1, h2, h3]", "[h2, h3]").replace("[lan, poor]", "[poor]").replace("blocks: 2", f"blocks: {BLOCKS}")
)
FAST = Machine("fast", {"cpu": "Quick One", "cpus": 8, "cpus_usable": 8, "virtual_kernel": True}, 8, 2**34)
SLOW = Machine("slow", {"cpu": "Old One", "cpus": 1, "cpus_usable": 1, "virtual_kernel": False}, 1, 2**30)
TAKES = {"fast": 1, "slow": 2}


class Apart(ScriptedEngine):
    """Its machines have their own speed. `dies`: how many trials a machine ends before it fails; `ends`: how
    many all together end before somebody presses Ctrl-C."""

    def __init__(
        self,
        machines: Sequence[Machine] = (FAST, SLOW),
        dies: dict[str, int] | None = None,
        ends: int | None = None,
        **scripted: Any,
    ) -> None:
        super().__init__(machines=machines, machine=IDLE, **scripted)
        self._now, self._due = 0, dict[Path, tuple[int, Machine]]()
        self._left, self._ends = dict(dies or {}), ends

    def start(self, folder: Path, roots: Mapping[str, Path], machine: Machine) -> None:
        self._require(machine)
        super().start(folder, roots, machine)
        self._due[folder] = (self._now + TAKES[machine.name], machine)

    def noise(self, machine: Machine) -> float:
        self._require(machine)
        return super().noise(machine)

    def wait(self) -> Path:
        if self._ends == sum(1 for _ in self.ran) - len(self._running):
            raise KeyboardInterrupt
        folder = min(self._due, key=lambda folder: self._due[folder][0])
        self._now, machine = self._due.pop(folder)
        self._require(machine)
        self._left[machine.name] = self._left.get(machine.name, 1000) - 1
        self._running.remove(folder)
        self._running.insert(0, folder)
        return super().wait()

    def _require(self, machine: Machine) -> None:
        if self._left.get(machine.name) != 0:
            return
        for folder in [folder for folder in self._running if self._due.get(folder, (0, machine))[1] == machine]:
            self._running.remove(folder)
            self._due.pop(folder, None)
        raise MachineLost(machine, "its power failed")


def run(campaign: Campaign, engine: Apart) -> Outcome:
    return run_campaign(campaign, engine, Silent(), 1)


def resume(tmp_path: Path, engine: ScriptedEngine) -> Outcome:
    return run_campaign(extend_campaign(tmp_path / "out", blocks=None, report=lambda _: None), engine, Silent(), 1)


def counted(folder: CampaignFolder) -> dict[int, Counter[str]]:
    """How many trials of each block count, by machine."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for block, machine, trials in (
        connect(folder).execute("SELECT block, place, count(DISTINCT trial) FROM analysed GROUP BY ALL").fetchall()
    ):
        found[block][machine] = trials
    return found


def whole_in_one_place(folder: CampaignFolder) -> bool:
    """Every trial of every block counts exactly once, and none of another machine does."""
    machines = counted(folder)
    return len(machines) == BLOCKS and all(list(found.values()) == [EACH] for found in machines.values())


def moves(folder: CampaignFolder) -> list[tuple[int, str, str, str]]:
    return [(e["block"], e["before"], e["place"], e["why"]) for e in folder.events() if e["event"] == "moved"]


def test_a_block_stays_in_one_place_and_a_faster_place_does_more_of_them(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path, SMALL), Apart()
    assert run(campaign, engine).valid == TRIALS == len(engine.ran)
    assert whole_in_one_place(campaign.folder)
    blocks = Counter(machine for found in counted(campaign.folder).values() for machine in found)
    assert blocks["fast"] > blocks["slow"] > 0
    assert Counter(name.split("-")[0] for name in engine.checked) == {f"b{n:02}": 1 for n in range(1, BLOCKS + 1)}
    for block in campaign.plan.blocks:
        assert [name for name, _ in engine.ran if name in {t.id for t in block}] == [t.id for t in block]
    told = next(event for event in campaign.folder.events() if event["event"] == "campaign")
    assert told["places"] == {"fast": FAST.facts, "slow": SLOW.facts}


@pytest.mark.parametrize("ended", [0, 1, 3, 4])
def test_a_place_that_dies_loses_its_block_and_not_the_campaign(tmp_path: Path, ended: int) -> None:
    campaign, engine = start(tmp_path, SMALL), Apart(dies={"slow": ended})
    assert run(campaign, engine).valid == TRIALS
    assert whole_in_one_place(campaign.folder)
    assert sum("slow" in found for found in counted(campaign.folder).values()) == ended // EACH
    begun = {e["block"] for e in events(campaign) if e["place"] == "slow" and not e["valid"]}
    assert [(block, *rest) for block, *rest in moves(campaign.folder)][: len(begun)] == [
        (block, "slow", "fast", "its power failed") for block in sorted(begun)
    ]
    given = [e for e in events(campaign) if not e["valid"]]
    assert len(given) == ended % EACH
    assert all(e["reasons"][0]["code"] == "moved" for e in given)
    assert not list(campaign.folder.trials.glob("*.partial"))
    assert len(engine.placed) == len(set(engine.placed))


def test_the_links_of_a_block_that_moved_are_checked_again(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path, SMALL), Apart(dies={"slow": 2})
    run(campaign, engine)
    (moved,) = {block for block, *_ in moves(campaign.folder)}
    checks = [name for name in engine.checked if name.startswith(f"b{moved:02}")]
    assert len(checks) == 2
    again = [e for e in events(campaign) if e["block"] == moved and e["place"] == "fast"]
    assert sorted(e["position"] for e in again) == list(range(1, EACH + 1))


def test_the_campaign_pauses_where_no_place_is_left(tmp_path: Path) -> None:
    campaign = start(tmp_path, SMALL)
    with pytest.raises(UserError, match="its power failed"):
        run(campaign, Apart(dies={"slow": 1, "fast": 4}))
    assert resume(tmp_path, Apart()).valid == TRIALS
    assert whole_in_one_place(campaign.folder)


def test_a_resumed_block_goes_on_where_it_was(tmp_path: Path) -> None:
    campaign, first, second = start(tmp_path, SMALL), Apart(ends=5), Apart()
    with pytest.raises(KeyboardInterrupt):
        run(campaign, first)
    assert resume(tmp_path, second).valid == TRIALS
    assert whole_in_one_place(campaign.folder)
    assert moves(campaign.folder) == []
    assert len(events(campaign)) == TRIALS


def test_a_place_that_is_gone_when_the_campaign_goes_on_loses_its_unfinished_block(tmp_path: Path) -> None:
    campaign = start(tmp_path, SMALL)
    with pytest.raises(KeyboardInterrupt):
        run(campaign, Apart(ends=5))
    assert resume(tmp_path, Apart(machines=[FAST])).valid == TRIALS
    assert whole_in_one_place(campaign.folder)
    ((_, before, machine, why),) = moves(campaign.folder)
    assert (before, machine, why) == ("slow", "fast", "this machine is not there any more")
    resumed = Apart()
    assert resume(tmp_path, resumed).valid == TRIALS
    assert resumed.ran == [], "what is whole stays where it is"


def test_a_disturbed_trial_is_repeated_in_the_place_of_its_block(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    campaign = start(tmp_path, SMALL)
    victims = {block[0].id for block in campaign.plan.blocks}
    engine = Apart(late_ns=late(victims, 1))
    run(campaign, engine)
    assert whole_in_one_place(campaign.folder)
    assert set(engine.probed) == {"fast", "slow"}
    assert len(engine.ran) == TRIALS + len(victims)


def test_a_place_that_dies_at_the_end_leaves_its_disturbed_trials_as_they_are(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    campaign = start(tmp_path, SMALL)
    engine = Apart(late_ns=late({t.id for t in campaign.plan.trials()}, 1), dies={"slow": EACH})
    assert run(campaign, engine).valid == TRIALS
    assert whole_in_one_place(campaign.folder)
    assert sum("slow" in found for found in counted(campaign.folder).values()) == 1


def test_trials_of_the_virtual_clock_run_only_where_its_kernel_is(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("h123.execution.preparation.virtual_kernel", lambda: tmp_path / "linux")
    campaign, engine = start(tmp_path, SMALL, clock="virtual"), Apart()
    assert run(campaign, engine).valid == TRIALS
    assert {machine for _, machine in engine.placed} == {"fast"}


def test_journals_of_earlier_versions_had_one_place(tmp_path: Path) -> None:
    campaign = start(tmp_path, SMALL)
    with pytest.raises(KeyboardInterrupt):
        run(campaign, Apart(machines=[SLOW], ends=5))
    journal = tmp_path / "out/journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    old = [{key: line[key] for key in line if key not in ("place", "places", "digest")} for line in lines]
    journal.write_text("".join(json.dumps(line) + "\n" for line in old))
    engine = ScriptedEngine(machine=IDLE)
    assert resume(tmp_path, engine).valid == TRIALS
    assert len(engine.ran) == TRIALS - 5
    assert moves(campaign.folder) == []
    assert {e.get("place") for e in events(campaign)} == {None, HERE.name}
    assert analyse(campaign.folder)["places"] == []


def test_summary_verdicts_and_report_name_the_places_where_there_are_several(tmp_path: Path) -> None:
    campaign = start(tmp_path, SMALL)
    run(campaign, Apart(dies={"slow": EACH + 1}))
    verdicts = analyse(CampaignFolder.open(campaign.folder.path))
    assert verdicts["blocks"]["complete"] == BLOCKS
    fast, slow = verdicts["places"]
    assert (fast["name"], fast["trials"], fast["machine"]) == ("fast", TRIALS - EACH, FAST.facts)
    assert (slow["name"], slow["blocks"], slow["machine"]) == ("slow", [2], SLOW.facts)
    with NO_PICTURES:
        page = write_report(campaign.folder).read_text()
    out = io.StringIO()
    print_summary(verdicts, Console(file=out, width=400))
    for text in (out.getvalue(), page):
        assert re.search(
            r"trials ran in 2 places, each block whole in one \(fast: blocks [\d, ]+; slow: block 2\)", text
        )
    assert "Old One" in page
    assert "its block was done again in another place" in page
