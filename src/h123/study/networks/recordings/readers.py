"""Reads recordings of links: Mahimahi, CellReplay, M-Lab's NDT7, iperf3, and tables of measurements."""

import json
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import read_text
from h123.study.networks.record import OPPORTUNITY_BYTES
from h123.study.networks.record_file import is_trace, trace_in
from h123.study.networks.record_table import RecordTable
from h123.study.networks.recordings.columns import Column, recognise
from h123.study.networks.recordings.track import Track

MOST_BYTES = 100_000_000
WAYS = ("up", "down")
TRANSFERRED = "A rate is what was transferred; the link may have been able to carry more."
_EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""The smallest values that are read as ns, us or ms since 1970, each with the factor that converts it to s."""
_CELLREPLAY = re.compile(r"\d{1,15}( +\d{1,9})+ *")
_OPPORTUNITIES = re.compile(r"^\d+ +\d+ +\d", re.MULTILINE)
"""Three numbers on a line, as in CellReplay traces but not in tables with two columns."""
_MEASUREMENTS = {"Download": ("down", "BytesAcked"), "Upload": ("up", "BytesReceived")}


@dataclass
class Reading:
    """What a file says about a link."""

    format: str
    tracks: dict[str, Track]
    """The tracks by direction: `up`, `down`, or `both`."""
    notes: list[str] = field(default_factory=list)
    """Notes on what the format cannot express."""


def read_recording(path: Path, columns: list[str]) -> Reading:
    """Return what the file says about a link. `columns`: the user's descriptions of columns. Raises UserError."""
    text = read_text(path, MOST_BYTES)
    first = text.partition("\n")[0].rstrip("\r")
    if is_trace(text):
        notes = ["A Mahimahi trace has delivery opportunities only. Its recorder kept the link saturated."]
        return Reading("Mahimahi trace", {"both": Track(trace=trace_in(path, text))}, notes)
    if _CELLREPLAY.fullmatch(first) and _OPPORTUNITIES.search(text):
        notes = [
            "CellReplay's rate depends on the load; here it is that of one load. Offsets by packet size are left out."
        ]
        return Reading("CellReplay trace", {"both": _cellreplay(path, text)}, notes)
    if text.lstrip().startswith("{"):
        return _result(path, text)
    return _table(RecordTable.of(path, text), columns)


def _cellreplay(path: Path, text: str) -> Track:
    """Read lines that each have a time, a one-way delay, and the opportunities of a light load (all in ms)."""
    track = Track([], {"delay": [], "rate": []})
    for number, line in enumerate(text.splitlines(), 1):
        if not _CELLREPLAY.fullmatch(line):
            raise UserError(f"{path}:{number}: {excerpt(line)} is not a time, a delay and opportunities in ms")
        time, delay, *opportunities = map(int, line.split())
        _append(track, path, number, time / 1000)
        track.values["delay"].append(delay / 1000)
        lasts = max(opportunities, default=0)
        track.values["rate"].append(len(opportunities) * OPPORTUNITY_BYTES * 8000 / lasts if lasts else None)
    return track


def _result(path: Path, text: str) -> Reading:
    try:
        result = json.loads(text, parse_int=_finite, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        where = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else path
        raise UserError(f"{where}: not JSON: {getattr(error, 'msg', error)}") from None
    if result.get("intervals"):
        return Reading("iperf3 result", _iperf3(path, result), [TRANSFERRED])
    notes = ["Rates are those of one TCP connection, and losses its retransmissions: less than the link allows."]
    return Reading("NDT7 result", _ndt7(path, result), notes)


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{excerpt(text)} is not a finite number")


def _iperf3(path: Path, result: dict[str, Any]) -> dict[str, Track]:
    """Return the rates of each direction, from the sums of iperf3's intervals. The client is the sender or, with `-R`,
    the server."""
    tracks = {}
    try:
        asked = result["start"]["test_start"]
        for way, key in (("down" if asked["reverse"] else "up", "sum"), ("down", "sum_bidir_reverse")):
            sums = [each[key] for each in result["intervals"] if key in each and not each[key]["omitted"]]
            if asked["protocol"] == "UDP" and any(each.get("sender") for each in sums):
                raise UserError(
                    f"{path}: iperf3 counted what it sent over UDP, not what arrived",
                    remedy="import the server's result, or measure with -R",
                )
            if sums:
                rates = [each["bits_per_second"] + 0.0 for each in sums]
                tracks[way] = Track([each["start"] + 0.0 for each in sums], {"rate": rates})
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: iperf3's result lacks {excerpt(str(error))}") from None
    return tracks


def _ndt7(path: Path, result: dict[str, Any]) -> dict[str, Track]:
    tracks = {}
    for test, (way, counter) in _MEASUREMENTS.items():
        measured = result.get(test)
        try:
            snapshots = [each["TCPInfo"] for each in (measured or {}).get("ServerMeasurements") or []]
            if len(snapshots) > 2:
                tracks[way] = _from_snapshots(snapshots, counter)
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: {test}: a measurement lacks {excerpt(str(error))}") from None
    if not tracks:
        lacks = "ServerMeasurements of Download or Upload, as NDT7 results have, and no intervals, as iperf3's"
        raise UserError(f"{path}: it has no {lacks}")
    return tracks


def _from_snapshots(snapshots: list[dict[str, Any]], counter: str) -> Track:
    track = Track([], {"rate": [], "delay": [], "loss": []})
    for before, after in pairwise(snapshots):
        micros = after["ElapsedTime"] - before["ElapsedTime"]
        if micros <= 0:
            continue
        sent, resent = after["BytesSent"] - before["BytesSent"], after["BytesRetrans"] - before["BytesRetrans"]
        track.times.append(before["ElapsedTime"] / 1e6)
        track.values["rate"].append((after[counter] - before[counter]) * 8e6 / micros)
        track.values["delay"].append(after["MinRTT"] / 2e6)
        track.values["loss"].append(min(max(resent / sent, 0), 1) if sent > 0 and counter == "BytesAcked" else None)
    return track


def _append(track: Track, path: Path, line: int, time: float) -> None:
    if track.times and time < track.times[-1]:
        raise UserError(f"{path}:{line}: {time:.10g} s comes after {track.times[-1]:.10g} s; times must not decrease")
    track.times.append(time)


def _table(table: RecordTable, chosen: list[str]) -> Reading:
    columns = recognise(table, chosen)
    kinds = {column.kind for column in columns}
    ways = WAYS if kinds & {"up", "down", "up-delay", "down-delay"} else ("both",)
    tracks = {way: Track([], {name: [] for name in ("rate", "delay", "loss")}) for way in ways}
    state = table.names.index("State") if "State" in table.names and "down" in kinds else None
    phone = state is not None and "up" in kinds and not any(each.startswith("up=") for each in chosen)
    for line, cells in table.rows:
        values = {column.kind: _value(table, line, column, cells[column.index]) for column in columns}
        if state is not None and cells[state] == "I":  # G-NetTrack: the phone requested nothing
            values.update(up=None, down=None)
        if phone:
            values.update(up=None)
        time = values["time"]
        if time is None:
            raise UserError(f"{table.path}:{line}: the time is missing")
        for way, track in tracks.items():
            _append(track, table.path, line, time)
            track.values["rate"].append(_either(values, way, "rate"))
            delay = _either(values, f"{way}-delay", "delay", "rtt")
            track.values["delay"].append(delay if delay is None or delay > 0 else None)
            track.values["loss"].append(_loss(values, way, 0.5 if "rtt" in kinds else 1))
    if not any(value for track in tracks.values() for value in track.values["loss"]):
        for track in tracks.values():
            track.values["loss"] = [None] * len(track.times) if "loss" not in kinds else track.values["loss"]
    notes = [TRANSFERRED] if kinds & {"rate", "up", "down"} else []
    if phone:
        notes.append("The phone only downloaded: UL_bitrate is that of its acknowledgements, and is left out.")
    notes += ["Half of a round trip and of its losses counts for each direction."] if "rtt" in kinds else []
    return Reading("table", tracks, notes)


def _loss(values: dict[str, float | None], way: str, part: float) -> float | None:
    """Return the share of lost packets. A negative delay means a lost packet. `part`: the fraction of the losses of
    round trips that this direction is assumed to have."""
    if (share := values.get("loss")) is not None:
        return share * part
    delays = {kind: value for kind in (f"{way}-delay", "rtt", "delay") if (value := values.get(kind)) is not None}
    lost = [part if kind == "rtt" else 1.0 for kind, value in delays.items() if value < 0]
    return max(lost, default=0.0) if delays else None


def _either(values: dict[str, float | None], *kinds: str) -> float | None:
    return next((value for kind in kinds if (value := values.get(kind)) is not None), None)


def _value(table: RecordTable, line: int, column: Column, cell: str) -> float | None:
    name = table.names[column.index]
    if column.kind == "time":
        time = _date(cell)
        if time is None:
            time = table.number(line, name, cell, "neither a number nor a date")
            scale = next((scale for least, scale in _EPOCHS if time and time >= least), 1.0)
            return None if time is None else time * (scale if column.factor == 1 else column.factor)
        return time
    value = table.number(line, name, cell)
    if value is None:
        return None
    value *= column.factor
    if column.kind in ("rate", "up", "down", "loss") and (value < 0 or (column.kind == "loss" and value > 1)):
        raise UserError(f"{table.path}:{line}: {name} is {excerpt(cell)}, which no link can have")
    return value


def _date(cell: str) -> float | None:
    """Return the seconds since 1970 of a date such as `2024-05-17T10:00:00Z` or `2019.12.16_13.40.04`, or None."""
    text = re.sub(r"^(\d{4})\.(\d\d)\.(\d\d)_(\d\d)[.:](\d\d)[.:](\d\d)", r"\1-\2-\3T\4:\5:\6", cell)
    if not re.match(r"\d{4}-\d\d-\d\d.\d\d", text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
