"""Campaigns of earlier versions, whose samples have no `group` and no `resource`, are read like any other."""

from pathlib import Path

import pytest

from h123.analysis import analyse
from h123.measures import export, load_attempts
from h123.store import CampaignFolder, connect
from h123.store.columns import COLUMNS, EARLIER_COLUMNS, TEXT_COLUMNS
from h123.store.rows import Rows, Texts
from results.test_seal import unseal
from synthetic import Scenario, make_campaign


def _earlier(rows: Rows) -> Rows:
    """With the columns that there were."""
    numbers = {name: rows[name] for name in EARLIER_COLUMNS if name not in TEXT_COLUMNS}
    return Rows(numbers, {name: Texts.of(one[name] for one in rows.samples()) for name in TEXT_COLUMNS})


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["begun and ended", "begun, and gone on with"])
def test_samples_of_an_earlier_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    usual, written = Rows.write, list[Path]()

    def write(rows: Rows, target: Path) -> None:
        usual(_earlier(rows) if len(written) < share * count else rows, target)
        written.append(target)

    now = make_campaign(tmp_path / "now", Scenario(blocks=2))
    count = len(now.sealed())
    monkeypatch.setattr(Rows, "write", write)
    earlier = make_campaign(tmp_path / "earlier", Scenario(blocks=2))
    assert [a.summary for a in load_attempts(earlier)] == [a.summary for a in load_attempts(now)]
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
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
