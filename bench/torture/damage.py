"""Files of a finished campaign that are no longer what they were."""

import shutil

from commands import CAMPAIGN
from rounds import Round

READERS = (("run", "--out", "campaign"), ("analyse", "campaign"), ("report", "campaign"), ("export", "campaign"))


def flips(this: Round) -> None:
    """Some bits of a file are flipped, and a command reads it. In a sealed trial that must be noticed."""
    this.take_up(2)
    files = sorted(path for path in CAMPAIGN.rglob("*") if path.is_file())
    heart = [CAMPAIGN / name for name in ("journal.jsonl", "campaign.json", "study.yaml")]
    kind = this.draws.random()
    parquets = [path for path in files if path.suffix == ".parquet"]
    file = this.draws.choice(parquets if kind < 0.3 else heart if kind < 0.6 else files)
    whole, places = file.read_bytes(), [this.draws.random() for _ in range(this.draws.choice([1, 1, 2, 8]))]
    words, damaged = this.draws.choice(READERS), bytearray(whole)
    for place in places:
        bit = int(place * len(whole) * 8)
        damaged[bit // 8] ^= 1 << bit % 8
    file.write_bytes(damaged)
    name = file.relative_to(CAMPAIGN)
    this.notes.append(f"bits of {name} flipped at {', '.join(f'{place:.6f}' for place in places)} of its length")
    command = this.commands.call(*words, expected={0, 1, 2})
    sealed = name.parts[0] == "trials"
    if command.wait() == 0 and sealed and bytes(damaged) != whole:
        this.wrong.append(f"{command} took {name} although it was damaged")
    if sealed or command.wait() == 2:
        file.write_bytes(whole)  # a command that refuses has changed nothing
    else:
        shutil.rmtree(CAMPAIGN)
        this.take_up(2)


def cut_journal(this: Round) -> None:
    """The journal ends at any byte, perhaps with the zeros that a file system leaves where power was lost."""
    this.take_up(this.draws.choice([1, 2]))
    journal = CAMPAIGN / "journal.jsonl"
    whole = journal.read_bytes()
    kept, tail = int(this.draws.random() * len(whole)), this.draws.choice([b"", b"", b"\0" * 100, b"\xff{"])
    journal.write_bytes(whole[:kept] + tail)
    this.notes.append(f"the journal ends after {kept} of {len(whole)} bytes, with {tail[:2]!r}")


def deleted_trial(this: Round) -> None:
    """Folders of finished trials are deleted by hand."""
    this.take_up(2)
    attempts = sorted((CAMPAIGN / "trials").iterdir())
    gone = this.draws.sample(attempts, this.draws.choice([1, 1, 2]))
    for folder in gone:
        shutil.rmtree(folder)
    this.notes.append(f"deleted {', '.join(folder.name for folder in gone)}")
    this.commands.call(*this.draws.choice(READERS), expected={0, 1, 2}).wait()
