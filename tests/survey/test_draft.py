"""The study that a survey suggests is one that h123 reads, plans and would run."""

from pathlib import Path

import pytest

from h123.catalogue import OwnServer
from h123.study import load_network, load_study, make_plan
from h123.survey import Answer, Draft, Inquiry, Load, Site

GOOD = Answer(
    status=200, bytes=20_000, sha256="", endless=False, error="", ns=1_000_000, location="", encoding="",
    authenticate="", alt_svc="",
)  # fmt: skip
SITE = Site("localhost", 8443, ("/a", "/b?c=1"))
SERVER = OwnServer(command="./my-server --port 8443", host="localhost", protocols=["h1", "h2", "h3"])


def draft(**changes: object) -> Draft:
    networks = {name: load_network(name) for name in ("lan", "cellular")}
    values = {"servers": {"server": SERVER}, "inquiry": Inquiry(SITE), "protocols": ["h1", "h2", "h3"]}
    return Draft(**{**values, "answers": [[GOOD], [GOOD]], "networks": networks, **changes})  # type: ignore[arg-type]


def test_protocols_of_one_server(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft().text())
    study = load_study(path)
    assert study.compare.pairs == ["h3/h2", "h2/h1", "h3/h1"]
    assert study.servers["server"].command == "./my-server --port 8443"
    assert all(len(family.metrics) == 1 and family.each == ["network"] for family in study.compare.families)
    plan = make_plan(study)
    assert len(plan.blocks[0]) == 8  # three protocols and the twin, over two networks
    trial = plan.blocks[0][0].parameters
    assert [(entry.path, entry.answer) for entry in trial.mix] == [("/a", 20_000), ("/b?c=1", 20_000)]
    assert (trial.server, trial.port, trial.users, trial.cold) == ("server", 8443, 4, True)


def test_two_builds(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft(servers={"base": SERVER, "new": SERVER}, protocols=["h3"], clock="virtual").text())
    study = load_study(path)
    assert (study.compare.factor, study.compare.pairs, study.compare.twin) == ("server", ["new/base"], "base")
    assert {trial.parameters.clock for trial in make_plan(study).trials()} == {"virtual"}


def test_an_answer_that_is_not_always_of_one_length_is_held_against_none(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft(answers=[[GOOD, GOOD.model_copy(update={"bytes": 1})], [GOOD]]).text())
    first = make_plan(load_study(path)).blocks[0][0].parameters.mix
    assert [entry.answer for entry in first] == [None, 20_000]


@pytest.mark.parametrize(("size", "most"), [(1000, 100), (10_000_000, 5)])
def test_a_trial_takes_a_second_or_two(size: int, most: int) -> None:
    answers = [[GOOD.model_copy(update={"bytes": size})]] * 2
    levels = draft(answers=answers)._levels()
    assert levels["cellular"]["requests"] <= most
    assert draft(answers=answers, load=Load(2, 7))._levels()["cellular"]["requests"] == 7
    assert levels["lan"]["requests"] >= levels["cellular"]["requests"] >= 5
