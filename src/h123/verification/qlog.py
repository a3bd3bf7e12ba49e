"""The files that a server wrote: whether they are qlog, and what events they hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORD_SEPARATOR = "\x1e"
"""Before each record of a JSON text sequence (RFC 7464)."""


def packet_events(folder: Path) -> int:
    """How many events about packets the files in a folder hold. Raises ValueError where one is not JSON."""
    return sum(_packet_events(path) for path in sorted(folder.rglob("*")) if path.is_file())


def _packet_events(path: Path) -> int:
    return sum(_is_packet(event) for event in events(path))


def events(path: Path) -> list[Any]:
    """The events that a file holds. Raises ValueError where it is not JSON."""
    try:
        records = list(_records(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path.name} is not qlog: {error}") from None
    return [event for record in records for event in _events(record)]


def _records(text: str) -> Iterator[Any]:
    """One JSON document, or a sequence of them, one a line, of which the last may be cut off: by the server's end."""
    if RECORD_SEPARATOR not in text:
        try:
            yield json.loads(text)
            return
        except ValueError:
            pass
    *lines, last = [line for line in text.replace(RECORD_SEPARATOR, "\n").splitlines() if line.strip()] or [""]
    yield from (json.loads(line) for line in lines)
    try:
        yield json.loads(last)
    except ValueError:
        if not lines:
            raise


def _events(record: Any) -> Iterator[Any]:
    """The events of a document: itself, in a sequence; or those of its traces."""
    if not isinstance(record, dict):
        return
    traces = record.get("traces") or [record.get("trace", record)]
    for trace in traces:
        if isinstance(trace, dict):
            yield from trace.get("events", [trace])


def _is_packet(event: Any) -> bool:
    """`transport:packet_sent`, `quic:packet_received`; of old drafts, where events are lists, a field of it."""
    fields = event if isinstance(event, list) else [event.get("name")] if isinstance(event, dict) else []
    return any(str(field).rpartition(":")[2] in ("packet_sent", "packet_received") for field in fields)
