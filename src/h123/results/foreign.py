"""Rows of foreign files as samples: what each says of its request, and which trial it belongs to, by a schema."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, TypedDict

from h123.errors import UserError
from h123.results.samples import LIMIT, PHASES
from h123.results.scorecard import read_card
from h123.strict import choose
from h123.study import Samples, Schema, Source

TLS = ("1.0", "1.1", "1.2", "1.3", "none")
RESUMED = {"yes": True, "no": False, "1": True, "0": False}
ERRORS = ("timeout", "reset", "refused", "tls", "protocol", "wrong-bytes")
_SCALE = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_EPOCH_NS = (946_684_800 * 10**9, 7_258_118_400 * 10**9)
"""The years 2000 to 2200: what a time since 1970 must lie in, or its unit is another."""
_FIRST_STATUS = 100
_SHOWN = 60
"""Characters of something that should not be there."""
_MOST_DIGITS = 40
"""Of a number; `1e999999` would take minutes to write out."""

Fields = dict[str, str]
"""A row of a foreign file, by its columns."""


@dataclass(frozen=True)
class Place:
    """Which trial a request belongs to; labels as the file has them."""

    block: str | None
    run: str
    levels: tuple[str, ...]
    """In the order of the study's factors."""


class Tls(NamedTuple):
    """What is known of a request's connection."""

    version: str | None
    """`none` without TLS."""
    resumed: bool


class ForeignSample(TypedDict):
    """Columns of samples.parquet, as far as foreign tools tell them."""

    phase: str
    start_ns: int
    first_byte_ns: int | None
    end_ns: int
    status: int
    bytes_up: int | None
    bytes_down: int | None
    protocol: str | None
    error: str


@dataclass(frozen=True)
class Request:
    """One row."""

    place: Place
    sample: ForeignSample
    tls: Tls | None


def read_requests(path: Path, schema: Schema) -> Iterator[Request]:
    """The requests in one file, in its order. Raises UserError naming file, line and reason."""
    samples, named = schema.samples, _from_name(path, schema.samples.file_name)
    columns = _columns(samples)
    for line, row in _rows(path, samples):
        try:
            if any(row.get(name) != wanted for name, wanted in samples.where.items()):
                continue
            row = {**named, **row}
            if absent := [name for name in columns if name not in row]:
                raise ValueError(f"there is no column {absent[0]!r}; {choose(absent[0], row)}")
            yield Request(_place(row, schema, path.stem), _sample(row, samples), _tls(row, samples))
        except ValueError as fault:
            raise UserError(f"{path}:{line}: {fault}") from None


def _rows(path: Path, samples: Samples) -> Iterator[tuple[int | str, Fields]]:
    """Line number, or another place in the file, and row. The fields of nested objects are named `data.tags.status`."""
    if samples.format == "scorecard":
        yield from ((run.where, run.columns) for run in read_card(path))
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if samples.format == "jsonl":
                yield from _json_rows(path, file)
                return
            reader = csv.reader(file, delimiter="\t" if samples.format == "tsv" else ",", strict=True)
            header = samples.header or next(reader, [])
            for fields in reader:
                if not fields:
                    continue
                # A file without a header line may have more columns than the schema knows.
                if len(fields) < len(header) or (len(fields) > len(header) and samples.header is None):
                    raise UserError(f"{path}:{reader.line_num}: {len(fields)} fields instead of {len(header)}")
                yield reader.line_num, dict(zip(header, fields, strict=False))
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def _json_rows(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, Fields]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            content = json.loads(line, parse_float=str, parse_int=str)
            if not isinstance(content, dict):
                raise UserError(f"{path}:{number}: not an object, but {line.strip()[:40]!r}")
            row = dict(_flat(content, ""))
        except RecursionError:
            raise UserError(f"{path}:{number}: nested too deeply") from None
        except ValueError as error:
            raise UserError(f"{path}:{number}: not JSON: {error}") from None
        yield number, row


def _flat(content: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, "" if value is None else str(value)


def _columns(samples: Samples) -> list[str]:
    """The columns that a row must have. `block`, `run` and `error` may be missing: then there is none."""
    needed = [name for name in Samples.model_fields if name not in ("block", "run", "error")]
    given = [source for name in needed if isinstance(source := getattr(samples, name), Source)]
    sources = [*given, *samples.levels.values()]
    return [source.column for source in sources if source.column]


def _from_name(path: Path, patterns: list[str]) -> Fields:
    """What the first pattern that fits finds in the file's name. Raises UserError where none fits."""
    for pattern in patterns:
        parts = re.split(r"\{(\w+)\}", pattern)
        expression = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
        if found := re.fullmatch(expression, path.stem):
            return found.groupdict()
    if patterns:
        raise UserError(
            f"{path}: the file name matches none of the schema's patterns",
            remedy=f"rename it so that it matches, without its extension, one of: {', '.join(patterns)}",
        )
    return {}


def _place(row: Fields, schema: Schema, file: str) -> Place:
    """Where no run is declared, a file is one."""
    samples, levels = schema.samples, []
    for factor, known in schema.study.factors.items():
        level = _text(row, samples.levels[factor])
        if level not in known:
            raise ValueError(f"{level[:_SHOWN]!r} is not a level of factor {factor!r}; {choose(level, known)}")
        levels.append(level)
    return Place(_label(row, samples.block), _label(row, samples.run) or file, tuple(levels))


def _label(row: Fields, source: Source | None) -> str | None:
    if source is None or (source.column is not None and source.column not in row):
        return None
    return _text(row, source)


def _text(row: Fields, source: Source) -> str:
    if source.column is None:
        return str(source.value)
    written = row[source.column]
    if not written.isascii() and any("\ud800" <= character <= "\udfff" for character in written):
        raise ValueError(f"{source.column} is {written[:_SHOWN]!r}, which is not Unicode text")
    meant = {str(name): str(value) for name, value in source.values.items()}
    return meant.get(written, written)


def _sample(row: Fields, samples: Samples) -> ForeignSample:
    start, end = _times(row, samples)
    ttfb = _number(row, "ttfb", samples.ttfb) if samples.ttfb else None
    status = _whole(row, "status", samples.status)
    error = _error(row, samples.error, status)
    phase = _text(row, samples.phase) if samples.phase else "warm"
    if phase not in PHASES:
        raise ValueError(f"phase is {phase[:_SHOWN]!r}, not one of {', '.join(PHASES)}")
    return {
        "phase": phase,
        "start_ns": start,
        "first_byte_ns": start + ttfb if ttfb is not None and not error else None,
        "end_ns": end,
        "status": max(status, 0),
        "bytes_up": _whole(row, "bytes_up", samples.bytes_up) if samples.bytes_up else None,
        "bytes_down": _whole(row, "bytes_down", samples.bytes_down) if samples.bytes_down else None,
        "protocol": _text(row, samples.protocol) if samples.protocol else None,
        "error": error,
    }


def _tls(row: Fields, samples: Samples) -> Tls | None:
    """None where neither is told; an empty field tells nothing."""
    version = _text(row, samples.tls) if samples.tls else ""
    resumed = _text(row, samples.resumed) if samples.resumed else ""
    if version and version not in TLS:
        raise ValueError(f"tls is {version[:_SHOWN]!r}, not one of {', '.join(TLS)}")
    if resumed and resumed not in RESUMED:
        raise ValueError(f"resumed is {resumed[:_SHOWN]!r}, not one of {', '.join(RESUMED)}")
    return Tls(version or None, RESUMED.get(resumed, False)) if version or resumed else None


def _times(row: Fields, samples: Samples) -> tuple[int, int]:
    """Start and end in ns; a request of which only the duration is known starts at 0 (`Samples.timed` is false)."""
    start = _number(row, "start", samples.start) if samples.start else None
    end = _number(row, "end", samples.end) if samples.end else None
    if samples.latency is not None:
        latency = _number(row, "latency", samples.latency)
        if latency < 0:
            raise ValueError("latency is negative")
        start = start if start is not None else (end - latency if end is not None else 0)
        end = start + latency
    assert start is not None  # a schema without latency has both
    assert end is not None
    if end < start:
        raise ValueError("the request ends before it starts")
    return start, end


def _number(row: Fields, name: str, source: Source) -> int:
    """A time in ns."""
    written, unit = _text(row, source), str(source.unit)
    shown = repr(written[:_SHOWN])
    if unit == "rfc3339":
        whole = _rfc3339(written)
    else:
        try:
            value = Decimal(written) * _SCALE[unit.removeprefix("unix-")]
            whole = int(value.to_integral_value()) if value.adjusted() < _MOST_DIGITS else LIMIT
        except (ArithmeticError, ValueError):
            raise ValueError(f"{name} is {shown}, not a number") from None
    if unit.startswith(("unix-", "rfc3339")) and not _EPOCH_NS[0] <= whole <= _EPOCH_NS[1]:
        raise ValueError(f"{name} is {shown}, which is not a date for the unit {unit}")
    if abs(whole) >= LIMIT:
        raise ValueError(f"{name} is {shown}: too large for a time in {unit}")
    return whole


def _rfc3339(written: str) -> int:
    """`2017-05-09T14:34:45.625742514+02:00` in ns since 1970, no digit lost."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:\d\d)", written)
    if not found:
        raise ValueError(f"{written[:_SHOWN]!r} is not a time such as 2017-05-09T14:34:45.625742514+02:00")
    whole = datetime.fromisoformat(found[1] + found[3].replace("Z", "+00:00"))
    return int(whole.timestamp()) * 10**9 + int((found[2] or "").ljust(9, "0"))


def _whole(row: Fields, name: str, source: Source) -> int:
    written = _text(row, source)
    try:
        value = int(written)
    except ValueError:
        raise ValueError(f"{name} is {written[:_SHOWN]!r}, not a whole number") from None
    if abs(value) >= LIMIT:
        raise ValueError(f"{name} is {written[:_SHOWN]!r}: too large")
    return value


def _error(row: Fields, source: Source | None, status: int) -> str:
    """An error in the words of the contract; a request without a status had no answer."""
    written = (_label(row, source) or "").strip()
    if not written:
        return "" if status >= _FIRST_STATUS else "other: no answer"
    return written if written in ERRORS else f"other: {written}"
