"""Fuzzes the campaign's journal, and everything that follows from its events alone."""

import json
from pathlib import Path

from campaign_files import sample_files, without_digests
from reader import Reader

from h123.analysis.verdicts.outlook import seconds_per_trial
from h123.report.page.provenance import invalid_attempts, order_rows
from h123.store import CampaignFolder
from h123.store.tables import counting


def _read(case: bytes, folder: Path) -> None:
    (folder / "journal.jsonl").write_bytes(case)
    opened = CampaignFolder(folder, json.loads(sample_files("campaign.json")[0]))
    events = opened.events()
    counting(opened)
    seconds_per_trial(events)
    order_rows(events, "protocol")
    invalid_attempts(events)


def _corpus() -> list[bytes]:
    files = sample_files("journal.jsonl")
    few = [b"\n".join(file.splitlines()[:4]) + b"\n" for file in files]
    return few + without_digests(few)


JOURNAL = Reader("journal", _read, _corpus, words=("trial", "resume", "retry", "finished", "b01-t01-lan-h2-twin"))
