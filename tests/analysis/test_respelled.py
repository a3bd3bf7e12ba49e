"""verdicts.json of the version before is read with the words of this one."""

import json
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse, read_verdicts
from h123.analysis.respelled import respelled_verdicts
from h123.base.errors import UserError
from synthetic import Scenario, make_campaign

COMPARISONS = [("latency", "faster"), ("cpu", "faster"), ("sent_up", "slower"), ("goodput", "slower")]
NOW = ["faster", "lower", "higher", "slower"]


def _content(verdicts: list[str], cause: str) -> dict[str, Any]:
    rows = [{"metric": name, "verdict": verdict} for (name, _), verdict in zip(COMPARISONS, verdicts, strict=True)]
    factors = [
        {"metric": row["metric"], "whole": row, "steps": [row, {**row, "small": row["verdict"]}]} for row in rows
    ]
    parts = [{"cause": cause, "group": cause}, {"cause": "loss", "group": "loss"}]
    return {
        "comparisons": rows,
        "disturbances": {"without": [{**row, "all": row["verdict"], "small": None} for row in rows]},
        "ladder": factors,
        "causes": [{"sums": {f"a_{cause}": 0.0, "a_requests": 1.0}, "parts": parts}, {"parts": parts}],
    }


def test_old_words_are_read_as_new_ones() -> None:
    old, new = _content([verdict for _, verdict in COMPARISONS], "untold"), _content(NOW, "unattributed")
    assert old != new
    assert respelled_verdicts(json.loads(json.dumps(old))) == new
    assert respelled_verdicts(json.loads(json.dumps(new))) == new


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"comparisons": 1, "causes": {}, "ladder": [1], "disturbances": []},
        {"comparisons": [{"metric": 1}], "causes": [{"sums": 1, "parts": [{"cause": []}]}]},
        {"comparisons": [{"metric": "cpu", "verdict": ["faster"]}], "ladder": [{"metric": "cpu", "steps": 3}]},
    ],
)
def test_what_has_another_shape_is_left_alone(content: dict[str, Any]) -> None:
    assert respelled_verdicts(json.loads(json.dumps(content))) == content


def test_a_campaign_of_the_version_before_is_read(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=6))
    now, file = json.loads(json.dumps(analyse(folder))), folder.verdicts
    now["comparisons"][0] |= {"metric": "cpu", "verdict": "lower"}
    old = json.loads(json.dumps(now))
    old["comparisons"][0]["verdict"] = "faster"
    file.write_text(json.dumps(old))
    assert read_verdicts(folder) == now
    del old["comparisons"][0]["metric"]
    file.write_text(json.dumps(old))
    with pytest.raises(UserError, match="not as h123 writes it"):
        read_verdicts(folder)
