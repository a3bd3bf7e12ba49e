"""What changed together is said beside the answer, in our own campaigns and in imported samples."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.report.text.sections import trust
from h123.store import import_samples
from h123.study import load_schema
from synthetic import NETWORKS, Scenario, make_campaign

SCHEMA = """h123: import/1
name: loads
question: "?"
factors:
  protocol: [h2, h3]
  users: {"5": {users: 5}, "20": {users: 20}}
  requests: {"20": {requests: 20}, "25": {requests: 25}}
compare: {factor: protocol, pairs: [h3/h2]}
samples:
  latency: {column: latency, unit: ms}
  status: {value: 200}
  levels: {protocol: {column: protocol}, users: {column: users}, requests: {column: requests}}
"""


def told(verdicts: dict[str, Any]) -> list[str]:
    return [line for line in trust(verdicts) if "cannot be known" in line]


def test_a_load_of_users_and_requests_is_told(tmp_path: Path) -> None:
    loads = {"low": {"users": 2, "requests": 4}, "high": {"users": 4, "requests": 5}}
    one = {"lan": NETWORKS["lan"]}
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(blocks=1, networks=one, loads=loads)))
    assert verdicts["confounded"] == [{"factor": "load", "together": ["requests", "users"]}]
    assert told(verdicts) == [
        "Levels of load change requests and users together: which of them makes a difference cannot be known"
    ]


@pytest.mark.parametrize("crossed", [False, True])
def test_imported_columns_that_change_together_are_told(tmp_path: Path, crossed: bool) -> None:
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    loads = [(5, 20), (20, 25), *([(5, 25), (20, 20)] if crossed else [])]
    rows = [f"{p},{u},{r},{10 + n}" for p in ("h2", "h3") for u, r in loads for n in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["protocol,users,requests,latency", *rows]) + "\n")
    folder = import_samples([tmp_path / "a.csv"], load_schema(str(tmp_path / "schema.yaml")), tmp_path / "c")
    verdicts = analyse(folder)
    assert verdicts["confounded"] == ([] if crossed else [{"factor": None, "together": ["users", "requests"]}])
    assert len(told(verdicts)) == (not crossed)
