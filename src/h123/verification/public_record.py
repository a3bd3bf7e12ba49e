"""Publishes verification records in docs/verified, without details that concern only one machine.

All records are in one compressed file, because they are many and similar.
"""

import json
import lzma
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.durable import replacement
from h123.base.files.textfile import read_bytes
from h123.base.paths import cache_folder, data_remedy, project_root
from h123.base.strict import Strict
from h123.catalogue import Subject, fingerprint, installation
from h123.documents import fault_of
from h123.verification.record import Record, keep_record, read_record

FORMAT: Literal["published-verification/1"] = "published-verification/1"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
_MACHINE = ("cpus_usable", "cpu", "distribution")
_MEASURED = ("constants", "profile", "moves", "paths")
_LISTS = ("results", *_MEASURED)
_OF_A_FOLDER = re.compile(r" \(/[^()]*\)$")
"""The path of a failed trial's folder on the machine where the trial ran."""
_MOST_DETAIL = 300


class PublicRecord(Strict):
    """The published record of a verified subject."""

    h123: Literal["published-verification/1"] = FORMAT
    seconds: float | None
    """The seconds that the subject's installation took. None if unknown."""
    bytes: int | None
    """The bytes that the installed subject takes up on the disk. None if unknown."""
    record: Record

    def holds_for(self, subject: Subject) -> bool:
        """Return whether the subject's present files are those that were verified."""
        return self.record.fingerprint == fingerprint(subject)


def public_file() -> Path:
    """Return the project's file of public records."""
    return project_root() / "docs" / "verified" / "records.json.xz"


def has_news(subject: Subject) -> bool:
    """Return whether the cache contains results for the subject's present files that its public record lacks. The
    result is False if the public record covers the same files and is newer."""
    record, public = read_record(subject), public_record(subject)
    if record is None or public is None:
        return record is not None
    outdated = not public.holds_for(subject) or _time(public.record) < _time(record)
    return outdated or (_time(public.record) == _time(record) and public.record != _general(completed(record, public)))


def _time(record: Record) -> datetime:
    return datetime.fromisoformat(record.time)


def publish(subject: Subject) -> bool:
    """Write the public record from the cache's results for the subject's present files. Returns False if there are
    none.

    The record keeps measurements that only other machines have made of the same files. It keeps the installation's
    figures unless the checks have run again.
    """
    record = read_record(subject)
    if record is None:
        return False
    before = public_record(subject)
    install = before if before and before.record.time == record.time else installation(subject)
    public = PublicRecord(
        seconds=install.seconds if install else None,
        bytes=install.bytes if install else None,
        record=_general(completed(record, before)),
    )
    contents = {**_contents(), subject.name: _content(public)}
    public_file().parent.mkdir(parents=True, exist_ok=True)
    text = ",\n".join(f"{json.dumps(name)}: {_record_text(contents[name])}" for name in sorted(contents))
    with replacement(public_file()) as temporary:
        temporary.write_bytes(lzma.compress(f"{{\n{text}\n}}\n".encode(), filters=_FILTERS))
    return True


def completed(record: Record, public: PublicRecord | None) -> Record:
    """Return the record, completed with the measurements of the same files that only the public record contains."""
    if public is None or public.record.fingerprint != record.fingerprint:
        return record
    elsewhere: dict[str, Any] = {
        name: getattr(public.record, name) for name in _MEASURED if getattr(record, name) is None
    }
    return record.model_copy(update=elsewhere)


def begin_record(subject: Subject) -> None:
    """Copy the project's record of the subject's present files to the cache, if the cache has none, so that
    measurements can be added to it."""
    public = public_record(subject)
    if public and public.holds_for(subject) and read_record(subject) is None:
        keep_record(subject, public.record)


def public_records() -> dict[str, PublicRecord]:
    """Return all public records, keyed by the subject's name."""
    return {name: _read(name, content) for name, content in _contents().items()}


def public_record(subject: Subject) -> PublicRecord | None:
    """Return the public record of one subject, or None."""
    content = _contents().get(subject.name)
    return _read(subject.name, content) if content else None


def _read(name: str, content: Any) -> PublicRecord:
    try:
        return PublicRecord.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UserError(f"{public_file()}: {name} is not of the format {FORMAT}: {fault_of(error)}") from None


def _contents() -> dict[str, Any]:
    """Return all records as parsed JSON, keyed by the subject's name."""
    path = public_file()
    return _unpacked(path, path.stat().st_mtime_ns) if path.is_file() else {}


@lru_cache(maxsize=1)
def _unpacked(path: Path, _: int) -> dict[str, Any]:
    try:
        contents: dict[str, Any] = json.loads(lzma.decompress(read_bytes(path, sizes.DOCUMENT)))
    except (lzma.LZMAError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}", remedy=data_remedy()) from None
    return contents


def _general(record: Record) -> Record:
    results = [result.model_copy(update={"detail": _general_words(result.detail)}) for result in record.results]
    machine = {name: record.machine.get(name) for name in _MACHINE}
    machine["kernel"] = ".".join(str(record.machine.get("kernel", "")).split(".")[:2])
    measured: dict[str, Any] = {name: getattr(record, name) for name in _MEASURED}
    for name, findings in measured.items():
        measured[name] = findings and [_general_finding(finding) for finding in findings]
    return record.model_copy(update={"results": results, "machine": machine, **measured})


def _general_finding(finding: Any) -> Any:
    why: str | dict[str, str] = finding.unknown
    reasons = {name: _general_words(one) for name, one in why.items()} if isinstance(why, dict) else _general_words(why)
    return finding.model_copy(update={"unknown": reasons})


def _general_words(detail: str) -> str:
    words = _OF_A_FOLDER.sub("", detail)
    for folder, name in ((cache_folder(), "CACHE"), (project_root(), "PROJECT")):
        words = words.replace(str(folder.resolve()), name)
    return words if len(words) <= _MOST_DETAIL else words[:_MOST_DETAIL] + "..."


def _content(public: PublicRecord) -> dict[str, Any]:
    content: dict[str, Any] = public.model_dump(mode="json")
    for name in _LISTS:
        items: Sequence[Strict] = getattr(public.record, name) or []
        if items:
            content["record"][name] = [item.model_dump(mode="json", exclude_defaults=True) for item in items]
    return content


def _record_text(content: Mapping[str, Any]) -> str:
    """Return the record as JSON with one line per result or protocol, so that people can compare two verifications."""
    lists = {name: content["record"][name] for name in _LISTS if content["record"].get(name)}
    emptied = {**content, "record": content["record"] | {name: [] for name in lists}}
    whole = json.dumps(emptied, indent=1, ensure_ascii=False)
    for name, items in lists.items():
        listed = ",\n".join(f"   {json.dumps(item, ensure_ascii=False)}" for item in items)
        whole = whole.replace(f'"{name}": []', f'"{name}": [\n{listed}\n  ]')
    return whole
