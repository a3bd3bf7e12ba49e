"""The JSON Schemas hold for what a campaign leaves."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from documents import check_campaign
from h123.analysis import analyse
from h123.documents.lab_report import Report
from h123.json_schemas import DOCUMENTS, main, schemas
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign


def test_each_document_has_a_schema_file(tmp_path: Path) -> None:
    main(tmp_path / "schemas")
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "schemas").iterdir()}
    assert written == dict(schemas())
    assert {*written} == {f"{name}.schema.json" for name in DOCUMENTS}


def test_a_campaign_is_as_they_say(tmp_path: Path) -> None:
    scenario = Scenario(blocks=3, as_published=True, clocks=True, missing={"b02-t01-poor-h3"})
    analyse(make_campaign(tmp_path / "c", scenario))
    seen = check_campaign(tmp_path / "c")
    others = {"workload", "gate", "diff", "result-head", "result-page", "machine", "order", "pool-event"}
    others |= {"tuning", "tuning-answer"}
    assert seen == {*DOCUMENTS} - others  # which it is not asked for, or others have


def test_what_is_not_as_they_say_is_found(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1))
    file = next(_reports(folder))
    file.write_text(json.dumps({**json.loads(file.read_text()), "started_unix_ns": "early"}))
    with pytest.raises(AssertionError, match="early"):
        check_campaign(folder.path)


def test_every_document_says_its_format() -> None:
    assert Report.form() == "report/1"
    assert json.loads(dict(schemas())["report.schema.json"])["properties"]["h123"]["const"] == "report/1"


def _reports(folder: CampaignFolder) -> Iterator[Path]:
    return folder.trials.glob("*/report.json")
