"""The journal survives a crash at any byte of the last write, and only there."""

import json
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.files.journal import append_event, read_events


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    for number in range(3):
        append_event(path, {"event": "trial", "trial": f"ü{number}", "valid": True})
    return path


def test_events_come_back_in_order_and_with_their_time(journal: Path) -> None:
    events = read_events(journal)
    assert [event["trial"] for event in events] == ["ü0", "ü1", "ü2"]
    assert all(event["time"].startswith("20") for event in events)


def test_no_journal_is_no_events(tmp_path: Path) -> None:
    assert read_events(tmp_path / "journal.jsonl") == []


def test_a_write_torn_at_any_byte_is_passed_over_and_mended(journal: Path) -> None:
    whole = journal.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    for cut in range(1, last + 1):
        journal.write_bytes(whole[:-cut])
        assert [event["trial"] for event in read_events(journal)] == ["ü0", "ü1"], f"cut by {cut} bytes"
        append_event(journal, {"event": "resume"})
        assert [event["event"] for event in read_events(journal)] == ["trial", "trial", "resume"], f"cut by {cut} bytes"
        assert all(json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines())


def test_zeros_after_a_power_failure_are_passed_over(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes() + bytes(512))
    assert len(read_events(journal)) == 3


@pytest.mark.parametrize("damage", ["{torn", "[]", '{"time": 1}', ""])
def test_a_damaged_line_before_the_last_is_an_error_with_its_number(journal: Path, damage: str) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines()
    journal.write_text("\n".join([lines[0], damage, lines[2], ""]), encoding="utf-8")
    with pytest.raises(UserError, match="line 2"):
        read_events(journal)
