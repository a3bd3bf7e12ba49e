"""Disturbed trials: the answers without them, whether they hit the levels alike, and when nothing can be decided."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.analysis.audits.disturbances import disturbed_unlike
from h123.analysis.gathering import gather
from h123.study import PlannedTrial
from synthetic import Scenario, make_campaign


def analysed(path: Path, **scenario: Any) -> dict[str, Any]:
    return analyse(make_campaign(path, Scenario(seed=2, blocks=8, **scenario)))


def answer(verdicts: dict[str, Any], network: str) -> dict[str, Any]:
    found = [c for c in verdicts["comparisons"] if c["family"] == f"answer/{network}" and not c["twin"]]
    assert len(found) == 1
    return found[0]


def test_without_disturbances_there_is_nothing_to_say(tmp_path: Path) -> None:
    found = analysed(tmp_path / "c")["disturbances"]
    assert found == {"tolerated": 0.025, "trials": 0, "of": 96, "typical": None, "without": []}


def test_answers_without_the_disturbed_trials(tmp_path: Path) -> None:
    """Two blocks of h3 on poor are slowed down by the machine to twice the time."""

    def disturbed(trial: PlannedTrial) -> float:
        hit = trial.block in (3, 5) and trial.cell == {"protocol": "h3", "network": "poor"}
        return 0.5 if hit else 0.0

    verdicts = analysed(tmp_path / "c", disturbed=disturbed)
    found = verdicts["disturbances"]
    assert (found["trials"], found["of"], found["typical"]) == (2, 96, 0.5)
    (without,) = found["without"]
    assert (without["cell"], without["blocks"], without["verdict"]) == ({"network": "poor"}, 6, "faster")
    assert without["all"] == answer(verdicts, "poor")["verdict"]
    assert without["low"] <= 0.71 * 1.03
    assert without["high"] >= 0.71 * 0.97
    assert answer(verdicts, "poor")["high"] > without["high"]


@pytest.mark.parametrize(("share", "decided"), [(0.4, True), (0.6, False)])
def test_what_may_be_mostly_the_machines_is_not_decided(tmp_path: Path, share: float, decided: bool) -> None:
    verdicts = analysed(tmp_path / "c", disturbed=lambda trial: share if trial.cell["network"] == "poor" else 0.0)
    poor, lan = answer(verdicts, "poor"), answer(verdicts, "lan")
    assert (poor["verdict"], lan["verdict"]) == ("faster" if decided else "inconclusive", "slower")
    assert ("may have caused most of these values" in (poor["note"] or "")) == (not decided)
    assert (poor["withheld"] or {}).get("kind") == (None if decided else "machine")
    # More blocks on the same machine would be as disturbed.
    assert poor["projection"] == (None if decided else {"blocks": None, "basis": "machine"})


def test_levels_that_are_disturbed_alike_pass_and_others_fail(tmp_path: Path) -> None:
    def unlike(trial: PlannedTrial) -> float:
        if trial.cell["network"] != "poor":
            return 0.0
        return 0.3 if trial.cell["protocol"] == "h3" else 0.05

    def findings(name: str, disturbed: Any) -> dict[str, bool]:
        folder = make_campaign(tmp_path / name, Scenario(seed=2, blocks=8, disturbed=disturbed))
        case = gather(folder)
        return {f.detail.partition(":")[0]: f.passed for f in disturbed_unlike(case.trials.attempts, case.plan)}

    assert findings("none", lambda _: 0.0) == {}
    assert findings("alike", lambda trial: 0.1 if trial.cell["network"] == "poor" else 0.0) == {"poor": True}
    folder = make_campaign(tmp_path / "unlike", Scenario(seed=2, blocks=8, disturbed=unlike))
    case = gather(folder)
    found = {f.detail.split(" (p")[0]: f.passed for f in disturbed_unlike(case.trials.attempts, case.plan)}
    assert found == {
        "poor: up to 30.0% of h3's times may be the machine's, 5.0% of h2's": False,
        "poor: up to 30.0% of h3's times may be the machine's, 5.0% of h1's": False,
        "poor: up to 5.0% of h2's times may be the machine's, 5.0% of h1's": True,
    }


def test_a_ratio_that_may_be_the_machines_doing_is_not_judged(tmp_path: Path) -> None:
    """Its audit failed, and a gate on it passed all the same."""

    def disturbed(trial: PlannedTrial) -> float:
        return 0.2 if trial.cell == {"protocol": "h3", "network": "lan"} else 0.0

    folder = make_campaign(tmp_path / "c", Scenario(seed=2, blocks=8, disturbed=disturbed))
    verdicts = analyse(folder)
    lan, poor = answer(verdicts, "lan"), answer(verdicts, "poor")
    assert lan["withheld"]["kind"] == "disturbed"
    assert "up to 20.0% of h3's times may be the machine's, 0.0% of h2's" in lan["withheld"]["why"]
    assert poor["withheld"] is None
    failed = [row for row in verdicts["audits"] if row["audit"] == "disturbed-unlike" and not row["passed"]]
    assert len(failed) == 2  # h3 against h2, and against h1
    kinds = {
        (c["a"], c["b"], c["metric"])
        for c in verdicts["comparisons"]
        if c["cell"]["network"] == "lan" and (c["withheld"] or {}).get("kind") == "disturbed"
    }
    assert ("h3", "h2", "latency") in kinds
    assert not any(a == "h2" and b == "h1" for a, b, _ in kinds)
    assert not any(metric == "cpu" for *_, metric in kinds)
