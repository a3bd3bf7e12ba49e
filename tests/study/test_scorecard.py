"""The scorecard study, and what it needs of studies: levels that run only where they are asked for."""

from pathlib import Path

import pytest

from h123.errors import UserError
from h123.study import find_study, load_study, make_plan

STUDY = find_study("scorecard")


def test_it_runs_over_the_unshaped_link_unless_told_otherwise() -> None:
    study = load_study(STUDY)
    assert {trial.cell["network"] for trial in make_plan(study, blocks=1).trials()} == {"lan"}
    few = {"load": ["serial-10KiB"], "server": ["caddy"]}
    asked = make_plan(study, blocks=1, only={**few, "network": ["long", "home"]})
    assert {trial.cell["network"] for trial in asked.trials()} == {"long", "home"}
    assert make_plan(study, blocks=1, only=few).only == {**few, "network": ["lan"]}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("network: [lam]", "'lam' is not a level of 'network'; did you mean lan"),
        ("net: [lan]", "'net' is not a factor"),
    ],
)
def test_a_wrong_only_names_file_and_line(tmp_path: Path, written: str, said: str) -> None:
    file = tmp_path / "mine.yaml"
    text = STUDY.read_text().replace("only:\n  network: [lan]", f"only:\n  {written}")
    file.write_text(text)
    line = text.splitlines().index(f"  {written}") + 1
    with pytest.raises(UserError) as caught:
        load_study(file)
    assert said in caught.value.message
    assert caught.value.message.startswith(f"{file}:{line}:")


def test_each_total_is_what_the_scorecard_asks() -> None:
    for name, level in load_study(STUDY).factors["load"].items():
        total = level["users"] * level["requests"]
        assert 5000 <= total <= 5100 if name.startswith("requests") else total == 50
