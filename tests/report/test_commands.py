"""Commands that a person is to copy name the campaign at hand."""

import json
from pathlib import Path

import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.cli.campaigns import requirements
from h123.cli.comparisons import gate
from printing import summary
from synthetic import Scenario, make_campaign


def test_the_summary_names_the_folder_and_the_stored_text_does_not(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "my campaign", Scenario(seed=2, disturbed=lambda *_: 0.1, blocks=6))
    verdicts = analyse(folder)
    printed = summary(verdicts, Path("my campaign"), width=2000).replace("\u00a0", " ")
    assert "h123 run --out 'my campaign' --retry" in printed
    assert "--out DIR" not in printed
    assert "my campaign" not in json.dumps(verdicts["audit_summary"])


def test_a_gate_without_a_condition_proposes_one_of_this_campaign(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=2))
    with pytest.raises(UserError) as caught:
        gate.hold(folder.path, [])
    assert caught.value.remedy is not None
    example = caught.value.remedy.partition("'")[2].rstrip("'")
    assert "new/base" not in example
    assert gate.hold(folder.path, requirements.forbidding([example], "interval")) in (0, 98, 99)
