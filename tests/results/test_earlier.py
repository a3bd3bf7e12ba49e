"""Campaigns of earlier versions, whose samples have no `group` and no `resource`, are read like any other."""

from pathlib import Path

import pyarrow as pa
import pytest

from h123.analysis import analyse
from h123.measures import export, load_attempts
from h123.store import CampaignFolder, connect, samples
from h123.store.samples import EARLIER_COLUMNS, SCHEMA
from results.test_seal import unseal
from synthetic import Scenario, make_campaign


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["begun and ended", "begun, and gone on with"])
def test_samples_of_an_earlier_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    usual, written = samples.write_samples, list[Path]()

    def write(table: pa.Table, target: Path) -> None:
        usual(table.select(EARLIER_COLUMNS) if len(written) < share * count else table, target)
        written.append(target)

    now = make_campaign(tmp_path / "now", Scenario(blocks=2))
    count = len(now.sealed())
    monkeypatch.setattr(samples, "write_samples", write)
    earlier = make_campaign(tmp_path / "earlier", Scenario(blocks=2))
    assert [a.summary for a in load_attempts(earlier)] == [a.summary for a in load_attempts(now)]
    columns = ", ".join(f'"{name}"' for name in SCHEMA.names)
    query = f"SELECT trial, {columns} FROM samples ORDER BY trial, user, start_ns"
    assert connect(earlier).execute(query).fetchall() == connect(now).execute(query).fetchall()
    assert all(file.stat().st_size for file in export(earlier, "csv", tmp_path / "out"))
    assert analyse(earlier)["comparisons"] == analyse(now)["comparisons"]


def test_a_journal_with_the_earlier_word_for_the_default_controller_is_read(tmp_path: Path) -> None:
    path = make_campaign(tmp_path / "c", Scenario(blocks=1)).path
    unseal(path)
    for name in ("campaign.json", "journal.jsonl"):
        file = path / name
        file.write_text(file.read_text().replace('"congestion": "cubic"', '"congestion": "own"'))
    events = CampaignFolder.open(path).events()
    assert {event["parameters"]["congestion"] for event in events if event["event"] == "trial"} == {"default"}
    analyse(CampaignFolder.open(path))
