"""What is said of disturbed trials: their number and share, what changes without them, and what to do."""

from pathlib import Path
from typing import Any

from h123.analysis import analyse
from h123.report.text.trust.disturbances import disturbed_lines
from h123.study import PlannedTrial
from synthetic import Scenario, make_campaign


def lines(path: Path, disturbed: Any, **scenario: Any) -> list[str]:
    verdicts = analyse(make_campaign(path, Scenario(seed=2, disturbed=disturbed, **scenario)))
    return [line.replace("\u00a0", " ") for line in disturbed_lines(verdicts)]


def test_nothing_is_said_of_nothing(tmp_path: Path) -> None:
    assert lines(tmp_path / "c", lambda _: 0.0) == []
    assert disturbed_lines({"h123": "verdicts/1"}) == [], "written by an earlier version"


def test_answers_that_stay(tmp_path: Path) -> None:
    def one(trial: PlannedTrial) -> float:
        return 0.03 if trial.block == 3 and trial.cell == {"protocol": "h3", "network": "poor"} else 0.0

    assert lines(tmp_path / "c", one, blocks=8) == [
        "1 of 96 trials was disturbed by the machine: typically up to 3 % of a time may be its doing "
        "(2.5 % is tolerated)",
        "without the disturbed trials: no answer changes",
    ]


def test_too_few_are_left_and_what_to_do(tmp_path: Path) -> None:
    said = lines(tmp_path / "c", lambda trial: 0.1 if trial.cell["network"] == "poor" else 0.0, blocks=6)
    assert said[0].startswith("24 of 72 trials were disturbed by the machine: typically up to 10 % of a time")
    assert said[1] == "without the disturbed trials too few are left to decide 1 of the answers (on poor)"
    assert "--retry" in said[2]
    assert "--clock virtual" in said[2]
