"""An undisturbed campaign. Rounds begin with copies of it and are compared with it."""

import io
import json
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import box
import duckdb
from commands import CACHE, CAMPAIGN, DISK, STUDY, TEMPORARY, Commands

BLOCKS = (1, 2)


@dataclass(frozen=True)
class Reference:
    """The undisturbed campaign of torture.yaml."""

    subject: bytes
    """An archive of the installed subject."""
    campaigns: dict[int, bytes]
    """Archives of the finished campaign, by its number of blocks."""
    trials: dict[int, dict[str, int]]
    """The number of samples by the planned trial's ID, for each number of blocks."""
    span_s: float
    """The seconds that a whole `h123 run` takes on this machine."""


def make_reference(subject: Path) -> Reference:
    """Run the undisturbed campaign. Raises RuntimeError if it does not end well."""
    archived = archive(subject)  # out here: the cache may be in the /tmp that a box replaces
    return box.inside(lambda: _measure(archived))


def furnish(subject: bytes) -> None:
    """Create the disk of a box, with the subject in the cache."""
    DISK.mkdir()
    box.mount("-t", "tmpfs", "tmpfs", str(DISK))
    for folder in (TEMPORARY, CACHE / "subjects"):
        folder.mkdir(parents=True)
    extract(subject, CACHE / "subjects")


def _measure(subject: bytes) -> Reference:
    furnish(subject)
    commands, campaigns, trials, spans = Commands(), dict[int, bytes](), dict[int, dict[str, int]](), list[float]()
    for blocks in BLOCKS:
        began = time.monotonic()
        study = [str(STUDY)] if blocks == 1 else []
        command = commands.call("run", *study, "--out", str(CAMPAIGN), "--blocks", str(blocks), expected={0})
        if command.wait() != 0:
            raise RuntimeError(f"an undisturbed campaign failed:\n{command.said}")
        spans.append(time.monotonic() - began)
        campaigns[blocks] = archive(CAMPAIGN)
        trials[blocks] = {
            event["trial"]: samples(CAMPAIGN, event) for event in events(CAMPAIGN) if event["event"] == "trial"
        }
    return Reference(subject, campaigns, trials, min(spans))


def events(campaign: Path) -> list[dict[str, Any]]:
    """Return the events in a campaign's journal."""
    lines = (campaign / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def samples(campaign: Path, event: dict[str, Any]) -> int:
    """Return the number of samples of an attempt."""
    file = campaign / f"trials/{event['trial']}~{event['attempt']}/samples.parquet"
    return len(duckdb.read_parquet(str(file)))


def archive(folder: Path) -> bytes:
    """Return an archive of a folder, which keeps the folder's name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, arcname=folder.name)
    return buffer.getvalue()


def extract(archived: bytes, into: Path) -> None:
    """Extract what `archive` returned."""
    with tarfile.open(fileobj=io.BytesIO(archived)) as tar:
        tar.extractall(into)
