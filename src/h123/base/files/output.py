"""Writes a result to a file that the user names, completely or not at all. Replaces only regular files, and only on
request.

If the name refers to a terminal, another device or a pipe (`/dev/stdout`, `/dev/null`), h123 writes the text into it.
"""

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

from h123.base.errors import UserError
from h123.base.files.durable import write_atomically
from h123.base.files.textfile import KINDS
from h123.base.limits import FULL

_CAMPAIGN = "campaign.json"
_OWN = {
    *(_CAMPAIGN, "journal.jsonl", "study.yaml", "verdicts.json", "report.html", "tls", "uploads", "trials", "figures"),
    *("gate.json", "gate.xml", "gate.md", "gate-benchmark.json", "gate.prom"),
}
"""Names of files that h123 itself writes in a campaign's folder."""


def write_output(path: Path, text: str, *, force: bool, mode: int = 0o666) -> None:
    """Write `text` to the file `path`, or into the device or pipe of this name. Raises OSError or UserError."""
    check_output(path, force=force)
    if _takes_a_stream(path):
        _write_into(path, text)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(Path(os.path.realpath(path)), text, mode)


def check_output(path: Path, *, force: bool) -> None:
    """Raise UserError if `path` cannot or must not be written to. With `force`, an existing file may be replaced."""
    try:
        whole = Path(os.path.realpath(path))
        exists, status = os.path.lexists(path), path.stat() if path.exists() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if exists and status is None:
        raise UserError(f"{path} is a link that leads nowhere", remedy="remove it, or name another file")
    if status and not stat.S_ISREG(status.st_mode) and not _takes_a_stream(path):
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise UserError(f"{path} is {kind}; results need a file", remedy="name a file, such as ./result.html")
    if not whole.name or (status is None and str(path).endswith("/")):
        raise UserError(f"{path} names no file", remedy="name a file, such as ./result.html")
    _refuse_own(whole)
    if status and stat.S_ISREG(status.st_mode) and not force:
        raise UserError(f"{path} is there already", remedy="name another file, or replace it with --force")
    if not _takes_a_stream(path):
        check_place(whole.parent)


def _refuse_own(path: Path) -> None:
    for folder in path.parents:
        top = path.relative_to(folder).parts[0]
        if (top in _OWN or top.endswith((".tmp", ".partial"))) and (folder / _CAMPAIGN).is_file():
            raise UserError(
                f"{path} belongs to the campaign in {folder}", remedy="name a file outside the campaign's folder"
            )


def _takes_a_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _write_into(path: Path, text: str) -> None:
    try:
        # Without O_NONBLOCK, opening a pipe without a reader would wait.
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}", status=1) from None


def check_place(path: Path) -> None:
    """Raise UserError if the folder `path` cannot be made or written to. The check leaves nothing behind."""
    nearest = next(place for place in (path.absolute(), *path.absolute().parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise UserError(
            f"{nearest} is a file, or a link that leads nowhere; results need a folder", remedy="name another place"
        )
    try:
        with TemporaryDirectory(prefix=".h123-", dir=nearest) as trial:
            Path(trial, "file").touch()
    except OSError as error:
        why = FULL.get(error.errno or 0) or error.strerror
        raise UserError(f"{nearest} cannot be written to: {why}", remedy="name another place") from None
