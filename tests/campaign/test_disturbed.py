"""What the machine does is no fault: disturbed trials are repeated later, and never count towards giving up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.test_jobs import IDLE, events
from campaign.test_runner import WRONG, Silent, extended, go_on, start
from h123.base.errors import UserError
from h123.campaign import Outcome
from h123.execution.retry_policy import PATIENCE, RETRIES, disturbed, given_up
from h123.progress import Standing
from h123.store import CampaignFolder, connect

MS = 1_000_000
STALLED = {**IDLE, "stalls": [[[0, 400 * MS]], []]}
TIMED_OUT = {"code": "client-timeout", "detail": "as the script says"}


@pytest.fixture(autouse=True)
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


def late(victims: set[str], attempts: int, ns: int = 20 * MS) -> Callable[[dict[str, Any], int], int]:
    """The link of these trials' first attempts stalls through half of a request."""
    return lambda trial, attempt: ns if trial["id"] in victims and attempt <= attempts else 0


def run(tmp_path: Path, engine: ScriptedEngine) -> Outcome:
    return run_scripted(start(tmp_path), engine, Silent(), 1)


def test_disturbed_trial_is_repeated_after_all_others_and_the_clean_attempt_counts(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victim = campaign.plan.trials()[2].id
    engine = ScriptedEngine(machine=IDLE, late_ns=late({victim}, 1))
    outcome = run_scripted(campaign, engine, Silent(), 1)
    assert (outcome.valid, outcome.failed) == (16, [])
    assert engine.ran[-1] == (victim, 2)
    told = [(e["attempt"], e["valid"], e["disturbed"]) for e in events(campaign) if e["trial"] == victim]
    assert told == [(1, True, True), (2, True, False)]
    counted = "SELECT attempt FROM analysed WHERE trial = ?"
    assert connect(campaign.folder).execute(counted, [victim]).fetchone() == (2,)


def test_the_time_left_counts_what_is_to_be_repeated(tmp_path: Path) -> None:
    campaign, left = start(tmp_path), list[float]()

    class Watching(Silent):
        def end(self, event: Any, standing: Standing) -> None:
            assert standing.ended
            assert standing.ended.folder == campaign.folder.attempt(event)
            left.append(standing.left_s)

    engine = ScriptedEngine(machine=IDLE, late_ns=late({campaign.plan.trials()[2].id}, 1))
    run_scripted(campaign, engine, Watching(), 1)
    assert len(left) == 17
    assert left[14] > left[15] > left[16] == 0


def test_machine_that_never_calms_down_ends_the_campaign_whole_with_the_least_disturbed_attempts(
    tmp_path: Path,
) -> None:
    campaign = start(tmp_path)
    everything = {t.id for t in campaign.plan.trials()}
    engine = ScriptedEngine(machine={**IDLE, "busy_ns": 3 * 10**9}, late_ns=late(everything, 99), noises=[0.9])
    outcome = run_scripted(campaign, engine, Silent(), 1)
    assert (outcome.valid, outcome.failed) == (16, [])
    assert len(engine.ran) == 16, "nothing is repeated while the machine is as it was"
    assert connect(campaign.folder).execute("SELECT count(*) FROM analysed WHERE disturbed").fetchone() == (16,)


def test_least_disturbed_attempt_counts(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victim = campaign.plan.trials()[2].id
    took = {1: 20 * MS, 2: 5 * MS, 3: 10 * MS}
    engine = ScriptedEngine(machine=IDLE, late_ns=lambda t, n: took[n] if t["id"] == victim else 0)
    run_scripted(campaign, engine, Silent(), 1)
    assert [n for name, n in engine.ran if name == victim] == list(range(1, RETRIES.disturbed + 1))
    counted = "SELECT attempt FROM analysed WHERE trial = ?"
    assert connect(campaign.folder).execute(counted, [victim]).fetchone() == (2,)


def test_attempts_that_a_stalled_machine_ruined_never_count_towards_giving_up(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    engine = ScriptedEngine(lambda _, attempt: [TIMED_OUT] if attempt <= 3 else [], machine=STALLED)
    outcome = run_scripted(campaign, engine, Silent(), 1)
    assert (outcome.valid, outcome.failed) == (16, [])
    assert all(e["disturbed"] for e in events(campaign) if not e["valid"])


def test_they_end_all_the_same(tmp_path: Path) -> None:
    victim = "b01-t01"
    engine = ScriptedEngine(lambda trial, _: [TIMED_OUT] if trial["id"].startswith(victim) else [], machine=STALLED)
    outcome = run(tmp_path, engine)
    assert len(outcome.failed) == 1
    assert sum(name.startswith(victim) for name, _ in engine.ran) == RETRIES.ruined


def test_the_same_failure_on_a_calm_machine_is_a_fault(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda _trial, _attempt: [TIMED_OUT], machine=IDLE)
    with pytest.raises(UserError, match="3 trials in a row"):
        run(tmp_path, engine)
    assert len(engine.ran) == 9


def test_retry_tries_failed_and_disturbed_trials_again_and_nothing_else(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    failing, late_one = campaign.plan.trials()[1].id, campaign.plan.trials()[4].id
    script = lambda trial, _: [WRONG] if trial["id"] == failing else []  # noqa: E731
    noisy = ScriptedEngine(script, machine=IDLE, late_ns=late({late_one}, 9), noises=[0.9])
    assert run_scripted(campaign, noisy, Silent(), 1).failed == [failing]
    again = ScriptedEngine(noises=[0.9])
    assert go_on(tmp_path, again).failed == [failing]
    assert again.ran == [], "without --retry nothing is left to try"
    campaign = extended(tmp_path / "out")
    engine = ScriptedEngine(machine=IDLE)
    assert run_scripted(campaign, engine, Silent(), 1, retry=True).failed == []
    assert [name for name, _ in engine.ran] == [failing, late_one]
    # It is in the journal, so what comes after goes on from there.
    assert any(event["event"] == "retry" for event in CampaignFolder.open(tmp_path / "out").events())


def test_patience_grows_with_what_the_campaign_took() -> None:
    assert (PATIENCE.repeating_s(0), PATIENCE.waiting_s(0)) == (10, 3)
    assert (PATIENCE.repeating_s(1000), PATIENCE.waiting_s(1000)) == (150, 100)


@pytest.mark.parametrize(
    ("now", "then", "share", "calm"),
    [
        (0.01, 0.5, 0.9, True),  # calm in any case
        (0.2, 0.5, 0.9, False),
        (0.2, 0.5, 0.05, True),  # half of it is half the noise
        (0.3, 0.5, 0.05, False),
        (0.5, 0.5, 0.01, True),
    ],
)
def test_calm_is_what_would_not_disturb_this_trial(now: float, then: float, share: float, calm: bool) -> None:
    assert PATIENCE.calm_enough(now, [{"noise": then, "disturbance": share}], limit=0.025) == calm


def test_a_trial_with_a_fault_and_a_disturbance_is_given_up_for_faults_alone() -> None:
    fault: dict[str, Any] = {"valid": False, "disturbed": False, "reasons": [WRONG]}
    ruin: dict[str, Any] = {"valid": False, "disturbed": True, "reasons": [TIMED_OUT]}
    assert not given_up([fault, ruin, fault])
    assert given_up([fault, ruin, fault, fault])
    assert disturbed([fault, ruin])
    assert not disturbed([fault, fault, fault])
