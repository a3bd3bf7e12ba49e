"""With --json a command writes one JSON document to standard output, and nothing else."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from h123.cli.app import app
from h123.json_schemas import schemas
from synthetic import Scenario, make_campaign


def answer(*arguments: object, status: int = 0) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == status, done.output
    return json.loads(done.stdout)


def held_by_schema(document: Any, name: str) -> bool:
    jsonschema.validate(document, json.loads(dict(schemas())[f"{name}.schema.json"]))
    return True


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("json") / "c", Scenario(seed=2, blocks=6)).path


def test_answers_are_documents_that_have_a_schema(campaign: Path, tmp_path: Path) -> None:
    verdicts = answer("analyse", campaign)
    assert held_by_schema(verdicts, "verdicts")
    assert verdicts == json.loads((campaign / "verdicts.json").read_text())
    gate = answer("gate", campaign, "--fail-if", "latency h3/h2 > 100")
    assert held_by_schema(gate, "gate")
    assert gate["verdict"] == "passed"
    later = make_campaign(tmp_path / "later", Scenario(seed=3, blocks=6)).path
    diff = answer("diff", campaign, later, "--out", tmp_path / "diff", "--fail-if", "latency after/before > 2")
    assert held_by_schema(diff, "diff")
    assert (tmp_path / "diff/gate.json").is_file()


def test_lists_are_rows() -> None:
    networks = {row["name"]: row for row in answer("list", "networks")}
    assert networks["poor"]["up"]["delay_ns"] > 0
    assert {"quick", "smoke"} <= {row["name"] for row in answer("list", "studies")}
    (go,) = answer("list", "subjects", "go")
    assert go["name"] == "go"
    assert "installed_bytes" in go
    assert {row["title"] for row in answer("claims")}


def test_a_plan_lists_its_trials() -> None:
    plan = answer("plan", "smoke", "--blocks", 2)
    assert plan["blocks"] == 2
    assert {trial["block"] for trial in plan["trials"]} == {1, 2}
    assert plan["seconds"] == pytest.approx(sum(trial["seconds"] for trial in plan["trials"]))


def test_two_forms_of_one_answer_are_refused(campaign: Path) -> None:
    done = CliRunner().invoke(app, ["analyse", str(campaign), "--details", "--json"])
    assert done.exit_code != 0
    assert "cannot be combined" in str(done.exception)


def test_a_quiet_answer_is_its_table(campaign: Path) -> None:
    done = CliRunner().invoke(app, ["analyse", str(campaign), "-q"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["network", "lan", "medium", "poor"]
