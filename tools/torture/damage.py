"""Mischiefs that damage the files of a finished campaign."""

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

from commands import CAMPAIGN
from reference_campaign import events
from rounds import Round

_READERS = (("run", "--out", "campaign"), ("analyse", "campaign"), ("report", "campaign"), ("export", "campaign"))
_HEART = ("journal.jsonl", "campaign.json")


def flips(this: Round) -> None:
    """Flip some bits of a file and run a command that reads it. No command may take changed data for measured data."""
    this.take_up(2)
    file = _file(this)
    name, whole, verdicts = file.relative_to(CAMPAIGN), file.read_bytes(), _verdicts()
    needed = _needed()
    places, words = [this.draws.random() for _ in range(this.draws.choice([1, 1, 2, 8]))], this.draws.choice(_READERS)
    _flip(file, places)
    this.notes.append(f"bits of {name} flipped at {', '.join(f'{place:.6f}' for place in places)} of its length")
    attempt = name.parts[1] if name.parts[0] == "trials" and file.read_bytes() != whole else None
    command = this.commands.call(*words, expected={0, 1, 2} if attempt is None else {0, 1})
    status = command.wait()
    if words[0] == "run" and attempt in needed:
        this.harmed.add(str(attempt))  # it must have been repeated
    elif status == 0 and (attempt in needed or (words[0] != "export" and _verdicts() != verdicts)):
        this.wrong.append(f"{command} took {name} although it was changed")
    elif attempt or status:
        file.write_bytes(whole)  # who refuses it has changed nothing
    else:
        shutil.rmtree(CAMPAIGN)
        this.take_up(2)


def cut_journal(this: Round) -> None:
    """Cut the journal at a random byte. It may end with zeros, as a file system leaves them after a power loss."""
    this.take_up(this.draws.choice([1, 2]))
    journal = CAMPAIGN / "journal.jsonl"
    whole = journal.read_bytes()
    kept, tail = int(this.draws.random() * len(whole)), this.draws.choice([b"", b"", b"\0" * 100, b"\xff{"])
    journal.write_bytes(whole[:kept] + tail)
    this.notes.append(f"the journal ends after {kept} of {len(whole)} bytes, with {tail[:2]!r}")


def deleted_trial(this: Round) -> None:
    """Delete folders of finished trials, and run a command that reads the rest."""
    this.take_up(2)
    attempts = sorted(path.name for path in (CAMPAIGN / "trials").iterdir())
    gone, needed = this.draws.sample(attempts, this.draws.choice([1, 1, 2])), _needed()
    words = this.draws.choice(_READERS)
    for name in gone:
        shutil.rmtree(CAMPAIGN / "trials" / name)
    this.harmed |= set(gone)
    this.notes.append(f"deleted {', '.join(gone)}")
    command = this.commands.call(*words, expected={0, 1})
    if command.wait() == 0 and words[0] != "run" and needed & set(gone):
        this.wrong.append(f"{command} did not miss {', '.join(gone)}")


def _file(this: Round) -> Path:
    """Choose a file of the campaign, preferably one that matters."""
    files = sorted(path for path in CAMPAIGN.rglob("*") if path.is_file())
    samples = [path for path in files if path.suffix == ".parquet"]
    heart = [CAMPAIGN / name for name in _HEART]
    return this.draws.choice(this.draws.choice([samples, heart, files, files]))


def _flip(file: Path, places: list[float]) -> None:
    """Flip one bit at each place, given as a share of the file's length from 0 to 1."""
    content = bytearray(file.read_bytes())
    for place in places:
        bit = int(place * len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


def _needed() -> set[str]:
    """Return the attempts that are the only valid one of their trial."""
    valid = defaultdict[str, list[str]](list)
    for event in events(CAMPAIGN):
        if event["event"] == "trial" and event["valid"]:
            valid[event["trial"]].append(f"{event['trial']}~{event['attempt']}")
    return {names[0] for names in valid.values() if len(names) == 1}


def _verdicts() -> dict[str, Any] | None:
    """Return the verdicts of the last analysis, or None if they cannot be read."""
    try:
        found: dict[str, Any] = json.loads((CAMPAIGN / "verdicts.json").read_text(encoding="utf-8"))
    except ValueError:
        return None
    return found
