"""Converts rows of other tools' files to samples and to the labels of their trials, according to a schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.store.columns import PHASES
from h123.store.foreign.distribution import COUNT
from h123.store.foreign.file import Fields, from_name, read_rows, stem
from h123.store.foreign.values import (
    WrongValue,
    coarse,
    is_absent,
    is_timeout,
    one_of,
    quoted,
    status,
    time_ns,
    whole_number,
)
from h123.study import ColumnSource, Samples, Schema

TLS = ("1.0", "1.1", "1.2", "1.3", "none")
RESUMED = {"yes": True, "no": False, "1": True, "0": False}
SUCCEEDED = {"true": True, "yes": True, "1": True, "ok": True, "false": False, "no": False, "0": False, "ko": False}
ERRORS = ("timeout", "reset", "refused", "tls", "protocol", "wrong-bytes")
OPTIONAL = ("block", "run", "error", "succeeded")
"""Sources in a schema whose columns a file may lack. What they would say is then unknown."""
_FIRST_STATUS = 100
_REDIRECTS = range(300, 400)
_NOT_MODIFIED = 304
_LONGEST_LEVEL = 60
_NO_COLUMN = "correct the name in the schema, or name the schema of the tool that wrote the file"


@dataclass(frozen=True)
class TrialLabels:
    """The labels that identify a request's trial, as in the file."""

    block: str | None
    run: str
    levels: tuple[str, ...]
    """Levels in the order of the study's factors."""


class ForeignTls(NamedTuple):
    """The TLS version that a request used, and whether the session was resumed."""

    version: str | None
    """The version, or `none` without TLS."""
    resumed: bool


class ForeignSample(TypedDict):
    """The columns of samples.parquet that files from other tools can provide."""

    phase: str
    start_ns: int
    first_byte_ns: int | None
    end_ns: int | None
    """The end of the request, in ns. None if the request failed at an unknown time."""
    status: int
    bytes_up: int | None
    bytes_down: int | None
    protocol: str | None
    error: str


@dataclass(frozen=True)
class ForeignRequest:
    """One row of another tool's file."""

    place: TrialLabels
    sample: ForeignSample
    tls: ForeignTls | None
    began_ns: int | None
    """The start in ns on a clock that all runs share, perhaps only to the second. None if unknown."""
    timed: bool
    """Whether the request's times are exact."""
    count: int = 1
    """The number of equal requests that the row represents."""


@dataclass(frozen=True)
class ForeignFile:
    """The requests in one file of another tool."""

    requests: list[ForeignRequest]
    redirects: int
    """The number of redirects in the file, including those that are left out of `requests`."""


def read_requests(path: Path, schema: Schema) -> ForeignFile:
    """Return the requests in one file, in the order of its rows. Raises UserError with file, line and reason."""
    rows = list(_rows(path, schema))
    levels = _levels(path, schema, rows)
    redirects = sum(row.redirect for row in rows)
    drop = schema.samples.redirects == "left-out"
    return ForeignFile([row.request(levels) for row in rows if not (drop and row.redirect)], redirects)


@dataclass(frozen=True)
class _Row:
    """A row whose levels may still be unknown."""

    line: int | str
    block: str | None
    run: str
    levels: tuple[str | None, ...]
    sample: ForeignSample
    tls: ForeignTls | None
    began_ns: int | None
    timed: bool
    count: int

    @property
    def redirect(self) -> bool:
        code = self.sample["status"]
        return code in _REDIRECTS and code != _NOT_MODIFIED

    def request(self, levels_of_file: tuple[str, ...]) -> ForeignRequest:
        """Return the request. `levels_of_file` replaces levels that the row does not give."""
        levels = tuple(own or other for own, other in zip(self.levels, levels_of_file, strict=True))
        place = TrialLabels(self.block, self.run, levels)
        return ForeignRequest(place, self.sample, self.tls, self.began_ns, self.timed, self.count)


def _rows(path: Path, schema: Schema) -> Iterator[_Row]:
    samples, labels = schema.samples, from_name(path, schema.samples.file_name)
    columns = _columns(samples)
    for line, fields in read_rows(path, samples):
        try:
            if any(fields.get(name) != value for name, value in samples.where.items()):
                continue
            row = {**labels, **fields}
            if samples.format == "jsonl":
                # A failed request has no protocol, and some tools then omit its key.
                row = {**{source.column: "" for source in samples.levels.values() if source.column}, **row}
            if lacking := [name for name in columns if name not in row]:
                raise WrongValue(f"there is no column {lacking[0]!r}; {choose(lacking[0], row)}", _NO_COLUMN)
            yield _row(row, schema, stem(path), line)
        except WrongValue as fault:
            raise UserError(f"{path}:{line}: {fault}", remedy=fault.remedy) from None


def _row(row: Fields, schema: Schema, file: str, line: int | str) -> _Row:
    """Convert one row. If the schema does not say which run a row is from, the whole file is one run."""
    samples = schema.samples
    sample = _sample(row, samples)
    run = f"{file}:{line}" if samples.rows == "runs" else _label(row, samples.run) or file
    levels = tuple(_level(row, schema, factor, sample) for factor in schema.study.factors)
    moment = samples.start or samples.end
    dated = moment is not None and not is_absent(_text(row, moment))
    loose = moment is not None and dated and coarse(_text(row, moment), str(moment.unit))
    start_ns = sample["start_ns"] if dated else None
    if loose:
        duration_ns = None if sample["end_ns"] is None else sample["end_ns"] - sample["start_ns"]
        first = sample["first_byte_ns"]
        sample = {
            **sample,
            "start_ns": 0,
            "end_ns": duration_ns,
            "first_byte_ns": None if first is None else first - sample["start_ns"],
        }
    return _Row(
        line,
        _label(row, samples.block),
        run,
        levels,
        sample,
        _tls(row, samples),
        start_ns,
        dated and not loose,
        int(row[COUNT]) if samples.format in ("autocannon", "locust", "nighthawk") else 1,
    )


def _level(row: Fields, schema: Schema, factor: str, sample: ForeignSample) -> str | None:
    """Return the level of a factor, or None if a failed request does not give it."""
    names, level = schema.study.factors[factor], _text(row, schema.samples.levels[factor])
    if level in names:
        return level
    if sample["error"] and is_absent(level):
        return None
    raise WrongValue(
        f"{level[:_LONGEST_LEVEL]!r} is not a level of factor {factor!r}; {choose(level, names)}",
        f"if it means one of them, say so in the schema's `levels`: `values: {{{quoted(level)}: {next(iter(names))}}}`",
    )


def _levels(path: Path, schema: Schema, rows: list[_Row]) -> tuple[str, ...]:
    """Return the levels for requests that do not give any: those of all other requests in the file, if these agree."""
    levels_of_file = []
    for index, factor in enumerate(schema.study.factors):
        levels = {row.levels[index] for row in rows}
        silent = next((row.line for row in rows if row.levels[index] is None), None)
        names = sorted(level for level in levels if level)
        if silent is not None and len(names) != 1:
            raise UserError(
                f"{path}:{silent}: a failed request does not give its {factor}, and the file contains "
                f"{' and '.join(names) or 'no other'}",
                remedy=f"write each {factor} to a separate file, or add the {factor} to the row",
            )
        levels_of_file.append(names[0] if names else "")
    return tuple(levels_of_file)


def _columns(samples: Samples) -> list[str]:
    needed = [name for name in Samples.model_fields if name not in OPTIONAL]
    written_sources = [source for name in needed if isinstance(source := getattr(samples, name), ColumnSource)]
    sources = [*written_sources, *samples.levels.values()]
    return [source.column for source in sources if source.column]


def _label(row: Fields, source: ColumnSource | None) -> str | None:
    if source is None or (source.column is not None and source.column not in row):
        return None
    return _text(row, source)


def _text(row: Fields, source: ColumnSource) -> str:
    if source.column is None:
        return str(source.value)
    text = row[source.column]
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise WrongValue(f"{source.column} is {quoted(text)}, which is not Unicode text", "correct the row")
    meanings = {str(name): str(value) for name, value in source.values.items()}
    return meanings.get(text, text)


def _sample(row: Fields, samples: Samples) -> ForeignSample:
    code = status(_text(row, samples.status))
    error = _error(row, samples, code)
    start, end, unknown = _times(row, samples, failed=bool(error))
    error = error or unknown
    ttfb = _duration(row, "ttfb", samples.ttfb, failed=bool(error)) if samples.ttfb else None
    phase = one_of("phase", _text(row, samples.phase), PHASES) if samples.phase else "warm"
    return {
        "phase": phase,
        "start_ns": start,
        "first_byte_ns": start + ttfb if ttfb is not None and not error else None,
        "end_ns": end,
        "status": code or 0,
        "bytes_up": _bytes(row, "bytes_up", samples.bytes_up, failed=bool(error)),
        "bytes_down": _bytes(row, "bytes_down", samples.bytes_down, failed=bool(error)),
        "protocol": (_text(row, samples.protocol) or None) if samples.protocol else None,
        "error": error,
    }


def _tls(row: Fields, samples: Samples) -> ForeignTls | None:
    """Return the TLS facts, or None if neither is known. An empty field means unknown."""
    version = _text(row, samples.tls) if samples.tls else ""
    resumed = _text(row, samples.resumed) if samples.resumed else ""
    if version:
        one_of("tls", version, TLS)
    if resumed:
        one_of("resumed", resumed, RESUMED)
    return ForeignTls(version or None, RESUMED.get(resumed, False)) if version or resumed else None


def _times(row: Fields, samples: Samples, *, failed: bool) -> tuple[int, int | None, str]:
    """Return the start and the end in ns, and the error of a request that seems successful but has no end. A request
    with only a duration starts at 0 (`Samples.timed` is false), and so does a failed request without a start."""
    start, end = (_moment(row, name, samples, failed=failed) for name in ("start", "end"))
    if samples.latency is None:
        if start is None or end is None:
            return start or 0, None, "" if failed else "other: no time"
        if end < start and not failed:
            raise WrongValue("the request ends before it starts", "correct `start` and `end` in the schema, or the row")
        return start, max(start, end), ""
    latency = _duration(row, "latency", samples.latency, failed=failed)
    if latency is None:
        text = _text(row, samples.latency)
        bound = "timeout" if is_timeout(text) else f"other: latency is {quoted(text)}" if text else "other: no latency"
        return start if start is not None else end or 0, None, "" if failed else bound
    start = start if start is not None else (end - latency if end is not None else 0)
    return start, start + latency, ""


def _moment(row: Fields, name: str, samples: Samples, *, failed: bool) -> int | None:
    source: ColumnSource | None = getattr(samples, name)
    exists = source is not None and not is_absent(_text(row, source))
    if source is None or (not exists and (failed or samples.latency is not None)):
        return None
    return time_ns(name, _text(row, source), str(source.unit))


def _duration(row: Fields, name: str, source: ColumnSource, *, failed: bool) -> int | None:
    """Return the duration, or None if the file gives none, as for failed requests."""
    text = _text(row, source)
    if is_absent(text):
        return None
    try:
        duration_ns = time_ns(name, text, str(source.unit))
        if duration_ns < 0:
            raise WrongValue(f"{name} is negative", "a clock was set back: leave out that run")
    except WrongValue:
        if failed:
            return None
        raise
    return duration_ns


def _bytes(row: Fields, name: str, source: ColumnSource | None, *, failed: bool) -> int | None:
    if source is None or is_absent(_text(row, source)):
        return None
    try:
        return whole_number(name, _text(row, source))
    except WrongValue:
        if failed:
            return None
        raise


def _error(row: Fields, samples: Samples, code: int | None) -> str:
    """Return an error in the contract's words, or an empty text. A request without a status had no response."""
    text = (_label(row, samples.error) or "").strip()
    if text:
        return text if text in ERRORS else f"other: {text}"
    if code is None:
        status_text = _text(row, samples.status).strip()
        return (
            "timeout" if is_timeout(status_text) else f"other: {status_text}" if status_text else "other: no response"
        )
    if code < _FIRST_STATUS:
        return "other: no response"
    outcome = (_label(row, samples.succeeded) or "").strip().lower()
    if outcome:
        one_of("succeeded", outcome, SUCCEEDED)
    return "" if SUCCEEDED.get(outcome, True) else f"other: not what the tool expected (status {code})"
