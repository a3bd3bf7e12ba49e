"""A campaign on several machines that share nothing with it: fast ones, slow ones, and some that die."""

import contextlib
import json
import random
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import HERE, ScriptedEngine, run_scripted
from campaign.test_jobs import IDLE, events
from campaign.test_runner import Silent, extended, start, two_levels
from campaign.worker import Wanted
from campaign.workers import GrowingWorkers, Workers, forge
from documents import changed_events, check_documents
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import cache_folder, project_root
from h123.campaign import Campaign, Outcome, run_campaign
from h123.execution import BlockOrder, LocalPool
from h123.report import write_report
from h123.store import CampaignFolder, connect, seal
from h123.virtual import installed_kernel
from hasty import NO_PICTURES
from printing import summary
from stored import stored_rows

BLOCKS, EACH = 5, 3
"""Trials of a block."""
TRIALS = EACH * BLOCKS
SMALL = two_levels(BLOCKS)
FAST = {"cpu": "Quick One", "virtual_kernel": True}
SLOW = {"cpu": "Old One", "virtual_kernel": False}


@pytest.fixture(scope="module")
def making(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with forge(tmp_path_factory.mktemp("forge")) as address:
        yield address


@pytest.fixture
def two(tmp_path: Path) -> list[Wanted]:
    """A fast machine and a slow one. Neither sees the folder that the campaign is in, nor has the other's processor."""
    return [
        Wanted("fast", str(tmp_path), (0,), FAST, takes_s=0.01),
        Wanted("slow", str(tmp_path), (1,), SLOW, takes_s=0.1),
    ]


def run(making: str, campaign: Campaign, wanted: Sequence[Wanted]) -> Outcome:
    return run_campaign(campaign, Workers(making, campaign.folder.arrivals, wanted), Silent(), 1)


def again(tmp_path: Path, blocks: int | None = None) -> Campaign:
    return extended(tmp_path / "out", blocks)


def counted(folder: CampaignFolder) -> dict[int, Counter[str]]:
    """How many trials of each block count, by machine."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for block, machine, trials in (
        connect(folder).execute("SELECT block, place, count(DISTINCT trial) FROM analysed GROUP BY ALL").fetchall()
    ):
        found[block][machine] = trials
    return found


def whole_on_one_machine(folder: CampaignFolder, blocks: int = BLOCKS) -> bool:
    """Every trial of every block counts exactly once, and none of another machine does."""
    found = counted(folder)
    return len(found) == blocks and all(list(trials.values()) == [EACH] for trials in found.values())


def check_wire(tmp_path: Path, workers: Workers) -> None:
    """Orders and events are as their schemas say, and name no folder of the controller's."""
    assert workers.orders
    assert workers.happened
    for name, documents in {"order": workers.orders, "pool-event": workers.happened}.items():
        check_documents(name, documents)
    folders = [tmp_path, cache_folder(), project_root(), Path.home(), Path.cwd()]
    wire = "\n".join(workers.orders + workers.happened).replace("\\/", "/")
    assert [str(folder) for folder in folders if f"{folder}/" in wire or f'{folder}"' in wire] == []


def moves(folder: CampaignFolder) -> list[tuple[int, str, str, str]]:
    return [(e["block"], e["before"], e["place"], e["why"]) for e in folder.events() if e["event"] == "moved"]


def nothing_is_left_over(campaign: Campaign) -> bool:
    """Sealed attempts are those of the journal, as they were sealed, and nothing else is there."""
    folder = CampaignFolder.open(campaign.folder.path)
    known = {folder.attempt(event): event["seal"] for event in folder.events() if event["event"] == "trial"}
    broken = [path for path, digest in known.items() if seal.broken(path, digest)]
    return not broken and sorted(folder.trials.iterdir()) == sorted(known)


def test_a_block_stays_on_one_machine_and_a_faster_one_does_more_of_them(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    assert run(making, campaign, [fast, replace(slow, takes_s=1.0)]).valid == TRIALS == len(events(campaign))
    assert whole_on_one_machine(campaign.folder)
    assert nothing_is_left_over(campaign)
    blocks = Counter(machine for found in counted(campaign.folder).values() for machine in found)
    assert blocks["fast"] > blocks["slow"] > 0
    for block in campaign.plan.blocks:
        ran = sorted((e for e in events(campaign) if e["block"] == block[0].block), key=lambda e: e["position"])
        assert [e["trial"] for e in ran] == [trial.id for trial in block]
        files = [json.loads((campaign.folder.attempt(e) / "trial.json").read_text()) for e in ran]
        assert [file["check"] for file in files] == [True, False, False]
    told = next(event for event in campaign.folder.events() if event["event"] == "campaign")
    assert told["places"]["fast"]["cpu"] == FAST["cpu"]
    assert [told["places"][name]["cpus_usable"] for name in ("fast", "slow")] == [1, 1]


@pytest.mark.parametrize("ended", [0, 1, 3, 4])
def test_a_machine_that_dies_loses_its_block_and_not_the_campaign(
    tmp_path: Path, making: str, two: list[Wanted], ended: int
) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    workers = Workers(making, campaign.folder.arrivals, [fast, replace(slow, dies=ended, takes_s=0.0)])
    assert run_campaign(campaign, workers, Silent(), 1).valid == TRIALS
    check_wire(tmp_path, workers)
    assert whole_on_one_machine(campaign.folder)
    assert nothing_is_left_over(campaign)
    theirs = {number for number, found in counted(campaign.folder).items() if "slow" in found}
    assert (2 in theirs) == (ended >= EACH), "its first block is the second"
    assert len(theirs) <= ended // EACH
    lost = [e for e in events(campaign) if not e["valid"]]
    assert all((e["place"], e["reasons"][0]["code"]) == ("slow", "moved") for e in lost)
    assert len(lost) == len([e for e in events(campaign) if e["place"] == "slow"]) - EACH * len(theirs) <= EACH
    for block, *rest in moves(campaign.folder):
        assert rest == ["slow", "fast", "its power failed"]
        anew = [e for e in events(campaign) if (e["block"], e["place"]) == (block, "fast")]
        assert sorted(e["position"] for e in anew) == list(range(1, EACH + 1))
        checks = [json.loads((campaign.folder.attempt(e) / "trial.json").read_text())["check"] for e in anew]
        assert sum(checks) == 1, "its links are checked again"


def test_the_campaign_pauses_where_no_machine_is_left(tmp_path: Path, making: str, two: list[Wanted]) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    with pytest.raises(UserError, match="its power failed"):
        run(making, campaign, [replace(fast, dies=4), replace(slow, dies=1)])
    assert run(making, again(tmp_path), two).valid == TRIALS
    assert whole_on_one_machine(campaign.folder)
    assert nothing_is_left_over(campaign)


def test_a_resumed_block_goes_on_where_it_was(tmp_path: Path, making: str, two: list[Wanted]) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    with pytest.raises(UserError):
        run(making, campaign, [replace(fast, dies=4), replace(slow, dies=1)])
    begun = len(events(campaign))
    homes = {e["block"]: e["place"] for e in events(campaign) if e["valid"]}
    moved = len(moves(campaign.folder))
    assert run(making, again(tmp_path), two).valid == TRIALS
    assert len(events(campaign)) - begun == TRIALS - len([e for e in events(campaign)[:begun] if e["valid"]])
    assert len(moves(campaign.folder)) == moved
    assert {block: machine for block, machine in homes.items() if counted(campaign.folder)[block][machine]} == homes


def test_a_machine_that_is_gone_when_the_campaign_goes_on_loses_its_unfinished_block(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    with pytest.raises(UserError):
        run(making, campaign, [replace(slow, dies=1)])
    assert run(making, again(tmp_path), [fast]).valid == TRIALS
    assert whole_on_one_machine(campaign.folder)
    assert moves(campaign.folder) == [(1, "slow", "fast", "this machine is gone")]
    before = len(events(campaign))
    assert run(making, again(tmp_path), two).valid == TRIALS
    assert len(events(campaign)) == before, "what is whole stays where it is"


def test_a_disturbed_trial_is_repeated_on_the_machine_of_its_block(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    campaign = start(tmp_path, SMALL)
    victims = tuple(block[0].id for block in campaign.plan.blocks)
    run(making, campaign, [replace(one, late=victims) for one in two])
    assert whole_on_one_machine(campaign.folder)
    assert len(events(campaign)) == TRIALS + len(victims)
    assert {e["trial"] for e in events(campaign) if e["attempt"] == 2} == set(victims)


def test_a_machine_that_dies_at_the_end_leaves_its_disturbed_trials_as_they_are(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    late = tuple(trial.id for trial in campaign.plan.trials())
    assert run(making, campaign, [fast, replace(slow, late=late, dies=EACH)]).valid == TRIALS
    assert whole_on_one_machine(campaign.folder)
    assert "slow" in counted(campaign.folder)[2]


def test_trials_of_the_virtual_clock_run_only_where_its_kernel_is(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    if installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed")
    campaign = start(tmp_path, SMALL, clock="virtual")
    assert run(making, campaign, two).valid == TRIALS
    assert {e["place"] for e in events(campaign)} == {"fast"}


def test_what_did_not_arrive_as_it_was_sealed_is_refused(
    tmp_path: Path, making: str, two: list[Wanted], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, taken = start(tmp_path, SMALL), CampaignFolder.take_in

    def damaged(folder: CampaignFolder, archive: Path, event: Any, digest: str) -> Path:
        if event["position"] == 2:
            (archive / "report.json").write_text((archive / "report.json").read_text() + " ")
        return taken(folder, archive, event, digest)

    monkeypatch.setattr(CampaignFolder, "take_in", damaged)
    with pytest.raises(UserError, match=r"did not arrive as it was sealed: report\.json has changed"):
        run(making, campaign, two[:1])
    assert len(events(campaign)) == 1
    monkeypatch.undo()
    assert run(making, again(tmp_path), two[:1]).valid == TRIALS
    assert nothing_is_left_over(campaign)


def test_a_machine_that_joins_later_gets_blocks(tmp_path: Path, making: str, two: list[Wanted]) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    pool = GrowingWorkers(making, campaign.folder.arrivals, [slow], {EACH: fast})
    assert run_campaign(campaign, pool, Silent(), 1).valid == TRIALS == len(events(campaign))
    assert whole_on_one_machine(campaign.folder)
    assert {machine for found in counted(campaign.folder).values() for machine in found} == {"fast", "slow"}
    assert moves(campaign.folder) == []
    (joined,) = [event for event in campaign.folder.events() if event["event"] == "joined"]
    assert joined["places"]["fast"]["cpu"] == FAST["cpu"]


def test_a_campaign_that_lost_its_last_machine_goes_on_with_the_next(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    """The same machine goes on with its block; another one does the block again."""
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    later = {4: replace(fast, dies=4), 8: slow}
    pool = GrowingWorkers(making, campaign.folder.arrivals, [replace(fast, dies=4)], later)
    assert run_campaign(campaign, pool, Silent(), 1).valid == TRIALS
    assert whole_on_one_machine(campaign.folder)
    assert nothing_is_left_over(campaign)
    assert moves(campaign.folder) == [(3, "fast", "slow", "its power failed")]


def test_a_campaign_without_any_machine_left_says_why(tmp_path: Path, making: str, two: list[Wanted]) -> None:
    campaign = start(tmp_path, SMALL)
    pool = GrowingWorkers(making, campaign.folder.arrivals, [replace(two[0], dies=4)], {})
    with pytest.raises(UserError, match="its power failed"):
        run_campaign(campaign, pool, Silent(), 1)
    assert len(events(campaign)) == 4


@pytest.mark.parametrize(
    ("kills", "real"),
    [
        (4, False),
        pytest.param(50, False, marks=pytest.mark.heavy),
        pytest.param(50, True, marks=pytest.mark.heavy),
    ],
)
def test_killed_at_any_moment_nothing_is_lost_or_doubled(
    tmp_path: Path, making: str, two: list[Wanted], kills: int, *, real: bool
) -> None:
    """`real`: with the lab's trials, under the virtual clock."""
    if real and installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed")
    chance, blocks = random.Random(kills), BLOCKS
    campaign = start(tmp_path, SMALL, clock="virtual" if real else None)
    both = [replace(one, takes_s=0.01, facts={} if real else one.facts, real=real) for one in two]
    for _ in range(kills // 2):
        pool = Workers(making, campaign.folder.arrivals, both)
        timers = [threading.Timer(chance.uniform(0, 5.0 if real else 1.0), pool.kill, [one.name]) for one in both]
        for timer in timers:
            timer.start()
        with contextlib.suppress(UserError):  # both have been killed
            run_campaign(campaign, pool, Silent(), 1)
            blocks += BLOCKS
        for timer in timers:
            timer.join()
        before = {(e["trial"], e["attempt"]): e["seal"] for e in events(campaign)}
        campaign = again(tmp_path, blocks)
        assert before.items() <= {(e["trial"], e["attempt"]): e["seal"] for e in events(campaign)}.items()
    assert run(making, campaign, both).valid == EACH * blocks
    assert whole_on_one_machine(campaign.folder, blocks)
    assert nothing_is_left_over(campaign)
    assert analyse(CampaignFolder.open(campaign.folder.path))["blocks"]["complete"] == blocks


MIX = "kind: mix, mix: [{size: 1kB}, {method: POST, file: order.json}], users: 1, requests: 4"
UPLOADING = SMALL.replace("blocks: 5", "blocks: 1").replace("method: GET, size: 1kB, users: 1, requests: 1", MIX)


def test_a_block_of_another_machine_is_sealed_and_analysed_like_a_local_one(tmp_path: Path, making: str) -> None:
    """Under the virtual clock it even comes to the same samples."""
    if installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed")
    (tmp_path / "order.json").write_text(json.dumps(["x" * 700]))
    local, remote = (start(tmp_path, UPLOADING, tmp_path / name, clock="virtual") for name in ("local", "remote"))
    pool = LocalPool(local.folder.arrivals, local.folder.tls)
    assert run_campaign(local, pool, Silent(), 1).valid == EACH
    workers = Workers(making, remote.folder.arrivals, [Wanted("other", str(tmp_path), (1,), {}, real=True)])
    assert run_campaign(remote, workers, Silent(), 1).valid == EACH
    check_wire(tmp_path, workers)
    assert nothing_is_left_over(local)
    assert nothing_is_left_over(remote)
    for trial in local.plan.trials():
        here, there_too = (campaign.folder.trial(trial.id, 1) for campaign in (local, remote))
        assert sorted(file.name for file in here.rglob("*")) == sorted(file.name for file in there_too.rglob("*"))
        assert stored_rows(here / "samples.parquet") == stored_rows(there_too / "samples.parquet")
    here, there_too = (analyse(CampaignFolder.open(campaign.folder.path)) for campaign in (local, remote))
    # Its name, and what further blocks would take by the wall clock.
    assert {key for key, value in here.items() if value != there_too[key]} <= {"campaign", "projection"}


def test_an_order_has_no_path_of_this_machine_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text("[]")
    campaign, orders = start(tmp_path, UPLOADING), list[BlockOrder]()

    class Noting(LocalPool):
        def submit(self, _machine: Any, order: BlockOrder, _archives: Any) -> None:
            orders.append(order)
            raise UserError("it is not run")

    pool = Noting(campaign.folder.arrivals, campaign.folder.tls, engine=ScriptedEngine(), machine=HERE)
    with pytest.raises(UserError, match="it is not run"):
        run_campaign(campaign, pool, Silent(), 1)
    (order,) = orders
    text = order.model_dump_json()
    assert str(tmp_path) not in text
    assert BlockOrder.read(text) == order
    assert BlockOrder.read(text).trials() == campaign.plan.trials()


def test_journals_of_earlier_versions_had_one_machine(tmp_path: Path, making: str, two: list[Wanted]) -> None:
    campaign = start(tmp_path, SMALL)
    with pytest.raises(UserError):
        run(making, campaign, [replace(two[1], dies=5)])
    with changed_events(tmp_path / "out") as journal:
        for event in journal:
            event.pop("place", None)
            event.pop("places", None)
    engine = ScriptedEngine(machine=IDLE)
    assert run_scripted(again(tmp_path), engine, Silent(), 1).valid == TRIALS
    assert len(engine.ran) == TRIALS - 5
    assert moves(campaign.folder) == []
    assert {e.get("place") for e in events(campaign)} == {None, HERE.name}
    assert analyse(campaign.folder)["places"] == []


def test_summary_verdicts_and_report_name_the_machines_where_there_are_several(
    tmp_path: Path, making: str, two: list[Wanted]
) -> None:
    campaign, (fast, slow) = start(tmp_path, SMALL), two
    run(making, campaign, [replace(fast, takes_s=0.3), replace(slow, takes_s=0.0, dies=EACH + 1)])
    verdicts = analyse(CampaignFolder.open(campaign.folder.path))
    assert verdicts["blocks"]["complete"] == BLOCKS
    first, second = verdicts["places"]
    assert (first["name"], first["trials"], first["machine"]["cpu"]) == ("fast", TRIALS - EACH, FAST["cpu"])
    assert (second["name"], second["blocks"], second["machine"]["cpu"]) == ("slow", [2], SLOW["cpu"])
    with NO_PICTURES:
        page = write_report(campaign.folder).read_text()
    for text in (summary(verdicts, width=400), page):
        assert re.search(
            r"trials ran in 2 places, each block whole in one \(fast: blocks [\d, ]+; slow: block 2\)", text
        )
    assert "Old One" in page
    assert "its block ran again on a different machine" in page
