"""Reads files from other tools as rows of fields, in any of their formats, with or without gzip."""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.textfile import csv_fault, open_bounded
from h123.base.units import format_bytes
from h123.store.foreign.distribution import read_distribution
from h123.store.foreign.scorecard import read_card
from h123.study import Samples

Fields = dict[str, str]
"""A row, keyed by column."""
_GZIP = ".gz"
_LONGEST_FIELD = 1_000_000
_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar"}
_OTHER_TOOL = "name the schema of the tool that wrote the file with --schema (docs/import.md lists them)"


def read_rows(path: Path, samples: Samples) -> Iterator[tuple[int | str, Fields]]:
    """Yield each row with its line number or another position in the file. A field of a nested object has a name such
    as `data.tags.status`."""
    match samples.format:
        case "scorecard":
            yield from ((run.where, run.columns) for run in read_card(path))
        case "autocannon" | "locust" | "nighthawk":
            with _text(path) as file:
                yield from _readable(path, read_distribution(path, file, samples.format))
        case "jsonl":
            with _text(path) as file:
                yield from _readable(path, _objects(path, file))
        case _:
            with _text(path) as file:
                yield from _readable(path, _table(path, file, samples))


def stem(path: Path) -> str:
    """Return the file's name without its extensions."""
    return Path(path.name.removesuffix(_GZIP)).stem if path.name.endswith(_GZIP) else path.stem


def from_name(path: Path, patterns: list[str]) -> Fields:
    """Return the labels that the first matching pattern finds in the file's name. Raises UserError if none matches."""
    for pattern in patterns:
        if (labels := _match_labels(pattern, stem(path))) is not None:
            return labels
    if patterns:
        raise UserError(
            f"{path}: the file name matches none of the schema's patterns",
            remedy=f"rename it so that it matches, without its extension, one of: {', '.join(patterns)}",
        )
    return {}


def _match_labels(pattern: str, name: str) -> Fields | None:
    """Return the labels that a pattern such as `{protocol}-{block}` finds in a name, each as short as possible. None if
    the name does not match."""
    first, *rest = re.split(r"\{(\w+)\}", pattern)
    if not name.startswith(first):
        return None
    labels, at = Fields(), len(first)
    for part, after in zip(rest[::2], rest[1::2], strict=True):
        last = len(labels) == len(rest) // 2 - 1
        end = len(name) - len(after) if last else name.find(after, at + 1)
        if end <= at or not name.endswith(after if last else ""):
            return None
        labels[part], at = name[at:end], end + len(after)
    return labels if rest or at == len(name) else None


def _text(path: Path) -> TextIO:
    file: io.BufferedReader = open_bounded(path, sizes.SAMPLES)
    if path.name.endswith(_GZIP):
        file = io.BufferedReader(_Unpacked(path, file))
    return io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to the largest size of samples, because the content may be a thousand times larger
    than the file."""

    def __init__(self, path: Path, packed: io.BufferedReader) -> None:
        self._path, self._content, self._remaining = path, gzip.GzipFile(fileobj=packed), sizes.SAMPLES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        piece = self._content.read(len(buffer))
        self._remaining -= len(piece)
        if self._remaining < 0:
            raise UserError(
                f"{self._path}: cannot be read: unpacked it is larger than {format_bytes(sizes.SAMPLES)}",
                remedy="import a part of it",
            )
        buffer[: len(piece)] = piece
        return len(piece)


def _readable(path: Path, rows: Iterator[tuple[int | str, Fields]]) -> Iterator[tuple[int | str, Fields]]:
    try:
        yield from rows
    except UnicodeDecodeError:
        packed = "" if path.name.endswith(_GZIP) else "; a file packed with gzip must be named .gz"
        raise UserError(f"{path}: not UTF-8 text{packed}", remedy="save it as UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path}: not a complete gzip file", remedy="copy it again, or unpack it with gunzip") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def _table(path: Path, file: TextIO, samples: Samples) -> Iterator[tuple[int, Fields]]:
    csv.field_size_limit(_LONGEST_FIELD)
    separator = "\t" if samples.format == "tsv" else ","
    reader = csv.reader(file, delimiter=separator, strict=True)
    try:
        header = samples.header or next(reader, [])
        if samples.header is None:
            _check_separator(f"{path}:{reader.line_num}", header, separator)
        for fields in reader:
            if not fields:
                continue
            if len(fields) < len(header):
                _check_separator(f"{path}:{reader.line_num}", fields, separator)
            # A file without a header line may have more columns than the schema lists.
            if len(fields) < len(header) or (len(fields) > len(header) and samples.header is None):
                raise UserError(
                    f"{path}:{reader.line_num}: {len(fields)} fields instead of {len(header)}",
                    remedy=f"put a field that has a {_SEPARATORS[separator]} in quotes; remove a row that was cut "
                    f"off; or {_OTHER_TOOL}",
                )
            yield reader.line_num, dict(zip(header, fields, strict=False))
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {_csv_message(error)}") from None


def _check_separator(where: str, fields: list[str], separator: str) -> None:
    """Raise UserError if a line seems to use a different separator."""
    if len(fields) == 1 and (other := next((mark for mark in _SEPARATORS if mark in fields[0]), None)):
        raise UserError(
            f"{where}: a {_SEPARATORS[other]} separates the columns, but the schema reads files with a "
            f"{_SEPARATORS[separator]} there",
            remedy=_OTHER_TOOL,
        )


def _csv_message(error: csv.Error) -> str:
    return f"a field of over {_LONGEST_FIELD} characters" if "field larger" in str(error) else csv_fault(error)


def _objects(path: Path, lines: TextIO) -> Iterator[tuple[int, Fields]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            content = json.loads(line, parse_float=str, parse_int=str)
            if not isinstance(content, dict):
                raise UserError(f"{path}:{number}: not an object, but {line.strip()[:40]!r}", remedy=_OTHER_TOOL)
            row = dict(_flat(content, ""))
        except RecursionError:
            raise UserError(f"{path}:{number}: nested too deeply") from None
        except ValueError:
            raise UserError(
                f"{path}:{number}: not JSON, but {excerpt(line.strip()[:40])}", remedy=_OTHER_TOOL
            ) from None
        yield number, row


def _flat(content: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, "" if value is None else str(value)
