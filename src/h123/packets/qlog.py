"""Reads the qlog files that QUIC stacks write about their connections, in all forms that stacks use."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

QLOG_FOLDER = "qlog"
"""The subfolder of a trial with the server's qlog files, one for each connection."""
RECORD_SEPARATOR = "\x1e"
"""The character before each record of a JSON text sequence (RFC 7464)."""
_OLD_FIELDS = ("relative_time", "category", "event", "data")
"""The fields of events that are written as lists, as in old drafts."""
_PER_MS = {"us": 1000, "ns": 10**6}
"""How many of each time unit make a millisecond. A file that declares no unit uses milliseconds."""

Event = Mapping[str, Any]
"""An event: `time` (ms), `name`, `data`."""


def packet_events(folder: Path) -> int:
    """Return the number of events about packets in the files of a folder. Raises ValueError if a file is not JSON."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return sum(kind(event) in ("packet_sent", "packet_received") for path in files for event in events(path))


def kind(event: Event) -> str:
    """Return the kind of an event: `packet_sent` for `transport:packet_sent` and `quic:packet_sent`."""
    return str(event.get("name")).rpartition(":")[2]


def events(path: Path) -> Iterator[Event]:
    """Yield the events in a file. Raises ValueError if it is not JSON."""
    try:
        for record in _records(path):
            yield from _events(record)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is not qlog: {error}") from None


def ill_formed(folder: Path) -> int:
    """Return the number of records in a folder's qlog files that were skipped because they are not valid JSON."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and _is_separated(path))
    return sum(_is_ill_formed(record) for path in files for record in list(_lines(path))[:-1])


def _records(path: Path) -> Iterator[Any]:
    """Yield the records of a file: a single JSON document, or a sequence with one record per line. The last record
    may be incomplete, because the server was stopped. In a sequence with record separators, a malformed record does not
    affect the others (RFC 7464, section 2.2), but the first one must be well-formed."""
    if _is_document(path):
        yield json.loads(path.read_text(encoding="utf-8"))
        return
    separated, cut, whole = _is_separated(path), None, False
    for record in _lines(path):
        if cut is not None:
            raise cut
        try:
            content = json.loads(record)
        except ValueError as error:
            if not whole:
                raise
            cut = None if separated else error
            continue
        whole = True
        yield content


def _is_ill_formed(record: str) -> bool:
    try:
        json.loads(record)
    except ValueError:
        return True
    return False


def _is_separated(path: Path) -> bool:
    with path.open(encoding="utf-8") as file:
        return RECORD_SEPARATOR in file.readline()


def _is_document(path: Path) -> bool:
    """Return whether the file is a single document rather than a sequence of records."""
    return not _is_separated(path) and _is_ill_formed(next(_lines(path), ""))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield from filter(None, map(str.strip, line.split(RECORD_SEPARATOR)))


def _events(record: Any) -> Iterator[Event]:
    """Yield the events of a record: the record itself in a sequence, or the events of its traces."""
    if not isinstance(record, dict):
        return
    for trace in _list(record.get("traces")) or [record.get("trace", record)]:
        if isinstance(trace, dict):
            records = _list(trace.get("events")) if "events" in trace else [trace]
            yield from (event for event in map(_Shape(trace).event, records) if event)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Shape:
    """The form in which a trace writes its events."""

    def __init__(self, trace: Mapping[str, Any]) -> None:
        self._fields = [str(field).lower() for field in _list(trace.get("event_fields")) or _OLD_FIELDS]
        configuration = trace.get("configuration")
        units = configuration.get("time_units") if isinstance(configuration, dict) else None
        self._per_ms = _PER_MS.get(units, 1) if isinstance(units, str) else 1

    def event(self, record: Any) -> Event | None:
        """Return the record as an event, or None if it is not an event."""
        if isinstance(record, list):
            fields = dict(zip(self._fields, record, strict=False))
            name = f"{fields.get('category')}:{fields.get('event', fields.get('event_type'))}"
            record = {"time": fields.get("relative_time"), "name": name, "data": fields.get("data")}
        if not isinstance(record, dict) or "name" not in record:
            return None
        if self._per_ms != 1 and isinstance(record.get("time"), int | float):
            return {**record, "time": record["time"] / self._per_ms}
        return record
