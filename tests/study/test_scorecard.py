"""The scorecard study, and what it needs of studies: levels that run only where they are asked for."""

from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.campaign import check_campaign
from h123.study import Family, find_study, load_study, make_plan

STUDY = find_study("scorecard")


def test_it_runs_over_the_unshaped_link_unless_told_otherwise() -> None:
    study = load_study(STUDY)
    assert {trial.cell["network"] for trial in make_plan(study, blocks=1).trials()} == {"lan"}
    few = {"load": ["serial-10KiB"], "server": ["caddy"]}
    asked = make_plan(study, blocks=1, level_filter={**few, "network": ["long", "home"]})
    assert {trial.cell["network"] for trial in asked.trials()} == {"long", "home"}
    assert make_plan(study, blocks=1, level_filter=few).level_filter == {**study.filter, **few}


def test_the_program_runs_where_it_is_asked_for_and_never_beside_cold_requests() -> None:
    study = load_study(STUDY)
    assert not any(trial.parameters.client.startswith("curl-tool") for trial in make_plan(study, blocks=1).trials())
    tools = [level for level in study.factors["curl"] if level.startswith("tool-")]
    asked = make_plan(study, blocks=1, level_filter={"curl": tools, "server": ["caddy"], "load": ["serial-10KiB"]})
    assert {trial.parameters.client for trial in asked.trials()} == {
        f"curl-tool-{backend}" for backend in ("ngtcp2", "quiche", "openssl")
    }
    assert {(trial.parameters.cold, trial.parameters.warmup) for trial in asked.trials()} == {(False, 1)}


def test_a_family_asks_nothing_of_clients_that_it_does_not_compare() -> None:
    """The scorecard's handshakes are of the library alone, and no library has a program's start."""
    only = {"curl": ["ngtcp2", "quiche", "tool-ngtcp2", "tool-quiche"], "server": ["caddy"], "load": ["serial-10KiB"]}
    check_campaign(make_plan(load_study(STUDY), blocks=1, level_filter=only))
    study = load_study(STUDY)
    asked = study.compare.model_copy(
        update={"families": [Family(name="all", correction="holm", metrics=["handshake"], pairs=None)]}
    )
    with pytest.raises(UserError, match="curl-tool-ngtcp2 as a client does not measure handshake"):
        check_campaign(make_plan(study.model_copy(update={"compare": asked}), blocks=1, level_filter=only))


def test_more_at_once_than_the_program_can_have_is_refused_before_anything_runs() -> None:
    only = {"curl": ["tool-ngtcp2", "tool-quiche"], "server": ["caddy"], "load": ["requests-300"]}
    with pytest.raises(UserError, match="curl-tool-ngtcp2 has at most 100 requests at once over h3, not 300"):
        check_campaign(make_plan(load_study(STUDY), blocks=1, level_filter=only))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("network: [lam]", "'lam' is not a level of 'network'; did you mean lan"),
        ("net: [lan]", "'net' is not a factor"),
    ],
)
def test_a_wrong_only_names_file_and_line(tmp_path: Path, written: str, said: str) -> None:
    file = tmp_path / "mine.yaml"
    text = STUDY.read_text().replace("  network: [lan]\n", f"  {written}\n")
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
