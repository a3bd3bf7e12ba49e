"""Reads and writes a journal: one JSON object per line, appended and synced, so that the journal survives a crash at
any moment."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.files.jsontext import parse_json

Line = dict[str, Any]
"""A line of the journal as JSON. `event` is its kind."""
_SIGNED = re.compile(rb'(.*), "digest": "([0-9a-f]{16})"}', re.DOTALL)
"""Matches a line whose last field is the digest of everything before it. Lines from earlier versions have no digest."""


def append_event(path: Path, event: Mapping[str, object]) -> None:
    """Append `event` to the journal, and sync it to the disk. Adds the time if the event has none.

    Repairs a line that a crash left incomplete.
    """
    stamped = {"event": event["event"], "time": now(), **event}
    line = json.dumps(stamped, allow_nan=False, ensure_ascii=False).encode(errors="backslashreplace").removesuffix(b"}")
    with path.open("a+b") as journal:
        _mend_tail(journal.fileno(), path)
        journal.write(line + b', "digest": "%s"}\n' % _digest(line))
        journal.flush()
        os.fsync(journal.fileno())


def now() -> str:
    """Return the current time in the format of events."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read_events(path: Path) -> list[Line]:
    """Return all events, oldest first. Ignores an incomplete last line, which a crash can leave.

    Raises UserError if any other line is not an event, or does not match its digest, because then something else has
    changed the file.
    """
    if not path.exists():
        return []
    complete, _ = _split_tail(path.read_bytes())
    return [_parse(path, number, line) for number, line in enumerate(complete.split(b"\n")[:-1], start=1)]


def _parse(path: Path, number: int, line: bytes) -> Line:
    signed = _SIGNED.fullmatch(line)
    try:
        event = parse_json(line)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise damaged_line(path, number, "not an event of a journal")
    if signed and _digest(signed[1]) != signed[2]:
        raise damaged_line(path, number, "it has changed since it was written")
    event.pop("digest", None)
    return event


def damaged_line(path: Path, number: int, what: str) -> UserError:
    return UserError(
        f"{path}, line {number}: {what}",
        remedy="a crash can damage only the last line; restore the file from a copy, or begin again in a new folder",
    )


def _digest(line: bytes) -> bytes:
    return hashlib.sha256(line).hexdigest()[:16].encode()


def _split_tail(content: bytes) -> tuple[bytes, bytes]:
    """Split content into its complete lines and the rest after the last line break (empty unless a write was
    interrupted)."""
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def _mend_tail(descriptor: int, path: Path) -> None:
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return
    complete, _ = _split_tail(path.read_bytes())
    os.ftruncate(descriptor, len(complete))
