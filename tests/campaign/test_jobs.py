"""Trials at once: the rule as a pure function, and the course of a campaign with lanes on a scripted engine."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import ScriptedEngine, interrupting, run_scripted
from campaign.test_runner import STUDY, WRONG, Silent, go_on, start
from h123.campaign import Campaign
from h123.documents.lab_report import NO_REPORT, MachineLoad, Report
from h123.execution import Jobs
from h123.execution.jobs import CALM_TRIALS, Forecast
from h123.progress.display import Standing
from h123.store import connect

IDLE = {"cpus": 2, "wall_ns": 2_000_000_000, "busy_ns": 200_000_000, "cpu_pressure_ns": 0}
CROWDED_NS = 300_000_000
"""That a server waits for processors: more than any study tolerates."""


def events(campaign: Campaign) -> list[dict[str, Any]]:
    return [event for event in campaign.folder.events() if event["event"] == "trial"]


def told(machine: dict[str, int]) -> Report:
    """A report of a lab without roles."""
    return NO_REPORT.model_copy(update={"machine": MachineLoad.model_validate(machine)})


@pytest.mark.parametrize(
    ("network", "cpus", "busy", "width"),
    [
        ("poor", 2, 0.0, 16),  # eight a processor at most
        ("poor", 1, 0.0, 8),
        ("home", 2, 0.0, 2),  # 200 Mbit/s over all
        ("lan", 64, 0.0, 1),  # nothing limits the link
        ("poor", 2, 0.1, 4),  # 40 % of the processors
        ("poor", 2, 0.9, 1),
        ("poor", 16, 0.01, 40),
    ],
)
def test_automatic_choice(tmp_path: Path, network: str, cpus: int, busy: float, width: int) -> None:
    plan = start(tmp_path, STUDY.replace("[lan, poor]", "[lan, poor, home]")).plan
    lanes = Jobs.of(plan, None, cpus=cpus, memory_bytes=2**33)
    trial = next(t for t in plan.trials() if t.parameters.network == network)
    machine = {**IDLE, "cpus": cpus, "lab_ns": int(busy * IDLE["wall_ns"] * cpus)}
    lanes.learn(
        {"parameters": {"clock": "wall", "network": network}, "valid": True, "alone": True, "crowded": False},
        told(machine),
    )
    assert lanes.width(trial) == width


def test_trials_of_several_networks_share_what_there_is(tmp_path: Path) -> None:
    plan = start(tmp_path, STUDY.replace("[lan, poor]", "[poor, home]")).plan
    lanes = Jobs.of(plan, None, cpus=2, memory_bytes=2**33)
    poor, home = (next(t for t in plan.trials() if t.parameters.network == name) for name in ("poor", "home"))
    assert not lanes.admits(home, [poor] * 4), "nothing is known of either"
    for network, lab_ns in (("poor", 200_000_000), ("home", 800_000_000)):
        lanes.learn(
            {"parameters": {"clock": "wall", "network": network}, "valid": True, "alone": True, "crowded": False},
            told({**IDLE, "lab_ns": lab_ns}),
        )
    # 5 and 20 % of the processors, of which 40 are to be had; 10 and 100 of 200 Mbit/s.
    assert lanes.admits(home, [home])
    assert not lanes.admits(poor, [home, home])
    assert lanes.admits(poor, [home, *[poor] * 3])
    assert not lanes.admits(poor, [home, *[poor] * 4])


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_never_more_at_once_and_unshaped_ones_alone(tmp_path: Path, most: int) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine(machine=IDLE)
    outcome = run_scripted(campaign, engine, Silent(), most)
    assert outcome.valid == 16
    assert max(map(len, engine.abreast)) == min(most, 8)  # two blocks of four shaped trials
    for together in engine.abreast:
        assert len(together) == 1 or not any("-lan-" in name for name in together)
    assert sorted(engine.ran) == sorted((t.id, 1) for t in campaign.plan.trials())


def test_order_is_told_by_the_journal(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine(machine=IDLE)
    run_scripted(campaign, engine, Silent(), 2)
    for network in ("lan", "poor"):
        planned = [t.id for t in campaign.plan.trials() if t.parameters.network == network]
        assert [name for name, _ in engine.ran if f"-{network}-" in name] == planned, "all are as long as one another"
    starts = {name: place for place, (name, _) in enumerate(engine.ran)}
    for block in {e["block"] for e in events(campaign)}:
        ran = sorted((e for e in events(campaign) if e["block"] == block), key=lambda e: starts[e["trial"]])
        assert [e["position"] for e in ran] == list(range(1, 9)), block
        assert all(e["alone"] == (e["parameters"]["network"] == "lan") for e in ran)
    assert {e["lane"] for e in events(campaign) if not e["alone"]} == {1, 2}


def test_starts_alone_first_then_by_block_the_longest_first_and_compared_levels_as_planned(tmp_path: Path) -> None:
    study = STUDY.replace("  network:", "  size: [1kB, 1MB]\n  network:").replace("size: 1kB, ", "")
    plan = start(tmp_path, study).plan
    ordered = Jobs.of(plan, 2, cpus=2, memory_bytes=2**33).order(plan.blocks)
    kinds = [(t.parameters.network, t.block, t.cell["size"]) for t in ordered]
    assert kinds[:16] == [("lan", t.block, t.cell["size"]) for t in plan.trials() if t.parameters.network == "lan"]
    assert [kind for kind, _ in itertools.groupby(kinds[16:])] == [
        ("poor", block, size) for block in (1, 2) for size in ("1MB", "1kB")
    ]
    for block in plan.blocks:
        small = [t.id for t in block if t.parameters.network == "poor" and t.cell["size"] == "1kB"]
        assert [t.id for t in ordered if t.id in small] == small


def test_link_is_checked_once_a_block_however_many_start_together(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine(machine=IDLE)
    run_scripted(campaign, engine, Silent(), 4)
    firsts = [next(t.id for t in block if t.parameters.network == "poor") for block in campaign.plan.blocks]
    assert engine.checked == firsts


def test_crowded_trial_is_kept_and_repeated_alone_after_all_others(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine(machine=IDLE, waiting_ns=CROWDED_NS)
    assert run_scripted(campaign, engine, Silent(), 2).valid == 16
    crowded = [e for e in events(campaign) if e["crowded"]]
    assert crowded
    first = next(place for place, (_, attempt) in enumerate(engine.ran) if attempt > 1)
    assert all(attempt > 1 for _, attempt in engine.ran[first:])
    for event in crowded:
        assert event["valid"]
        assert event["disturbed"]
        assert not event["alone"]
        again = next(e for e in events(campaign) if (e["trial"], e["attempt"]) == (event["trial"], 2))
        assert not again["disturbed"]
        assert again["alone"]
    counted = connect(campaign.folder).execute("SELECT count(*) FROM analysed WHERE disturbed").fetchone()
    assert counted == (0,)


def test_crowded_trials_take_lanes_away_and_calm_ones_give_them_back(tmp_path: Path) -> None:
    plan = start(tmp_path).plan
    lanes = Jobs.of(plan, 3, cpus=2, memory_bytes=2**33)
    poor = next(t for t in plan.trials() if t.parameters.network == "poor")
    ran = {"parameters": {"clock": "wall", "network": "poor"}, "valid": True, "reasons": []}
    report = told(IDLE)
    for width in (2, 1, 1):
        lanes.learn({**ran, "alone": False, "crowded": True}, report)
        assert lanes.width(poor) == width
    for width in (2, 3):  # the first of these trials had no lane beside them
        for _ in range(CALM_TRIALS):
            assert lanes.width(poor) == width - 1
            lanes.learn({**ran, "alone": width == 2, "crowded": False}, report)
        assert lanes.width(poor) == width


def test_repeats_run_alone(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victims = {t.id for t in campaign.plan.trials() if t.parameters.network == "poor" and not t.twin}
    engine = ScriptedEngine(lambda trial, n: [WRONG] if trial["id"] in victims and n < 3 else [], machine=IDLE)
    assert run_scripted(campaign, engine, Silent(), 4).valid == 16
    repeats = [e for e in events(campaign) if e["attempt"] > 1]
    assert len(repeats) == 2 * len(victims)
    assert all(e["alone"] for e in repeats)


@pytest.mark.parametrize("stopped_after", [0, 5, 6, 13])
def test_interrupted_amid_lanes_goes_on_with_exactly_the_missing(tmp_path: Path, stopped_after: int) -> None:
    campaign = start(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_scripted(campaign, ScriptedEngine(interrupting(stopped_after), IDLE), Silent(), 3)
    assert campaign.folder.events()[-1]["event"] == "interrupted"
    kept = [e["trial"] for e in events(campaign)]
    assert len(kept) == stopped_after
    second = ScriptedEngine(machine=IDLE)
    assert go_on(tmp_path, second).valid == 16
    assert {name for name, _ in second.ran} == {t.id for t in campaign.plan.trials()} - set(kept)
    assert len(events(campaign)) == 16
    assert not list((tmp_path / "out/trials").glob("*.partial"))


def test_positions_are_in_the_order_of_starts_after_an_interruption_too(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    after_those_that_run_alone = interrupting(10)
    first = ScriptedEngine(after_those_that_run_alone, IDLE, newest_first=True)
    second = ScriptedEngine(machine=IDLE)
    with pytest.raises(KeyboardInterrupt):
        run_scripted(campaign, first, Silent(), 3)
    go_on(tmp_path, second)
    starts = [name for name, _ in [*first.ran, *second.ran]]
    for block in (1, 2):
        # A trial that was interrupted and started again has the place of its second start.
        begun = sorted((e for e in events(campaign) if e["block"] == block), key=lambda e: int(e["position"]))
        places = [len(starts) - starts[::-1].index(e["trial"]) for e in begun]
        assert places == sorted(places)
        assert len({e["position"] for e in begun}) == len(begun)


@pytest.mark.parametrize(("busy", "abreast"), [(0.05, 8), (0.13, 3), (0.9, 1)])
def test_headroom_is_assumed_first_and_then_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: float, abreast: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    campaign, own = start(tmp_path, STUDY.replace("blocks: 2", "blocks: 6")), int(busy * IDLE["wall_ns"] * IDLE["cpus"])
    engine = ScriptedEngine(machine={**IDLE, "busy_ns": own, "lab_ns": own})
    run_scripted(campaign, engine, Silent())
    poor = [len(together) for together in engine.abreast if "-poor-" in together[-1]]
    assert poor[:4] == [1, 2, 3, 4], "as many as an assumed tenth each allows"
    assert max(poor[4:]) == abreast


def test_what_others_do_takes_no_headroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    busy = {**IDLE, "busy_ns": IDLE["wall_ns"] * IDLE["cpus"], "lab_ns": IDLE["wall_ns"] // 10}
    engine = ScriptedEngine(machine=busy)
    run_scripted(start(tmp_path), engine, Silent())
    assert max(map(len, engine.abreast)) > 1


def test_span_counts_what_runs_at_once(tmp_path: Path) -> None:
    plan = start(tmp_path).plan
    lanes = Jobs.of(plan, 3, cpus=2, memory_bytes=2**33)
    forecast = Forecast({t.id: 2.0 for t in plan.trials()})
    # Eight over a plain veth one by one, eight others in three lanes: 3, 3 and 2.
    assert lanes.span(lanes.order(plan.blocks), forecast.seconds) == pytest.approx(8 * 2.0 + 3 * 2.0)
    alone = Jobs.of(plan, 1, cpus=2, memory_bytes=2**33)
    assert alone.span(alone.order(plan.blocks), forecast.seconds) == pytest.approx(16 * 2.0)
    assert lanes.span([], forecast.seconds) == 0


def test_standing_names_all_that_run(tmp_path: Path) -> None:
    seen: list[Standing] = []

    class Watching(Silent):
        def show(self, *given: Any) -> None:
            seen.extend(given)

    run_scripted(start(tmp_path), ScriptedEngine(machine=IDLE), Watching(), 2)
    assert {len(standing.running) for standing in seen} == {1, 2}
    assert seen[0].left_s > seen[-1].left_s > 0
    assert all(standing.total == 16 for standing in seen)
