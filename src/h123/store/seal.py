"""Makes and checks the seal of a finished attempt: a file with the digests of the attempt's other files. The seal's own
digest is in the journal.

A seal reveals later changes, whether accidental or deliberate, but gives no protection against anyone who can write
both the folder and the journal.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.durable import sync, sync_tree
from h123.base.files.journal import now
from h123.documents.campaign_file import Seal
from h123.documents.events import AttemptFacts, EventFile
from h123.documents.reading import read_document, write_document
from h123.store.samples import unreadable

NAME = "seal.json"
ENTRY = "event.json"
PARTIAL = ".partial"
"""The suffix of folders of attempts that are not sealed yet."""
_PIECE = 2**20
"""The number of bytes that are read at once, enough for most files."""
ANALYSED = ("trial.json", "report.json", "client.json", "samples.parquet")
"""Files that the analysis reads. None of them may appear after the attempt was sealed."""


def make(folder: Path) -> None:
    """Write the seal of `folder`: a file with the digests of the folder's other files."""
    digests = {name: _digest(path) for name, path in sorted(_files(str(folder)))}
    write_document(folder / NAME, Seal(h123="seal/1", files=digests))


def seal_attempt(partial: Path, event: AttemptFacts) -> Path:
    """Write an attempt's journal entry and seal, flush its files to the disk, and move its folder to its final path.
    Return that path."""
    finished = partial.with_name(partial.name.removesuffix(PARTIAL))
    write_document(partial / ENTRY, EventFile(h123="event/1", event={**event, "time": now()}))
    make(partial)
    sync_tree(partial)
    partial.rename(finished)
    sync(finished.parent)
    return finished


def accept(archive: Path, finished: Path, digest: str) -> Path:
    """Move a sealed attempt from a folder on the same disk to its final path. Raises UserError if the attempt differs
    from its seal."""
    fault = broken(archive, digest) if archive.is_dir() else "its folder is gone"
    if fault or finished.exists():
        raise UserError(
            f"{finished.name} did not arrive as it was sealed: {fault or 'the campaign has it already'}",
            remedy="run the same command again: it continues where it stopped",
            status=1,
        )
    archive.rename(finished)
    sync(finished.parent)
    return finished


def digest_of(folder: Path) -> str | None:
    """Return the digest of the seal itself, for the journal, or None if there is no seal."""
    return _digest(folder / NAME) if (folder / NAME).is_file() else None


def damage(folder: Path, event: AttemptFacts) -> str | None:
    """Describe how the attempt in `folder` has changed since its journal event was written. Return None if it has
    not."""
    if not folder.is_dir():
        return "its folder is gone"
    if sealed := event.get("seal"):
        return broken(folder, sealed)
    samples = folder / "samples.parquet"
    if event["valid"] and not samples.is_file():
        return f"{samples.name} is gone"
    fault = unreadable(samples) if event["valid"] else None
    return f"{samples.name} {fault}" if fault else None


def broken(folder: Path, digest: str) -> str | None:
    """Describe the first file in `folder` that differs from the seal with this digest. Return None if all are
    unchanged."""
    files = dict(_files(str(folder)))
    if digest_of(folder) != digest:
        return f"{NAME} is not the one in the journal"
    digests = read_document(folder / NAME, Seal).files
    if missing := [name for name in digests if name not in files]:
        return f"{missing[0]} is gone"
    if changed := [name for name, sealed in digests.items() if _digest(files[name]) != sealed]:
        return f"{changed[0]} has changed since the trial ended"
    if added := [name for name in ANALYSED if name in files and name not in digests]:
        return f"{added[0]} was not there when the trial ended"
    return None


def _files(folder: str, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield the regular files below `folder`, without the seal: their names relative to it, and their paths. Both are
    strings, because the seals of a long campaign list tens of thousands of files."""
    with os.scandir(folder) as entries:  # entries know their type, so no file needs a stat
        for entry in entries:
            name = within + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{name}/")
            elif entry.is_file(follow_symlinks=False) and name != NAME:
                yield name, entry.path


def _digest(path: str | Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
