"""Makes a network from one or more files with recordings of a link."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from h123.base.errors import UserError
from h123.base.units import format_span
from h123.study.networks.network import Network
from h123.study.networks.network_file import read_network
from h123.study.networks.record import OPPORTUNITY_BYTES
from h123.study.networks.recordings.readers import WAYS, Reading, read_recording
from h123.study.networks.recordings.track import Track

LEAST_QUEUE_BYTES, QUEUE_S = 100_000, 0.1
"""An imported network's queue holds what arrives in QUEUE_S seconds at the average rate, but at least
LEAST_QUEUE_BYTES."""
_WORDS = {"up": {"up", "ul", "uplink", "upload"}, "down": {"down", "dl", "downlink", "download"}}


@dataclass(frozen=True)
class ImportedNetwork:
    """A network made from recordings."""

    network: Network
    files: dict[str, str]
    """The contents of the network's file and of its records, by file name."""
    notes: list[str]
    """Notes on what the recordings lack, and on what was assumed."""

    def summary(self) -> str:
        """Return one line about the length of the network's records and about its directions."""
        up, down = self.network.describe()
        records = self.network.records
        assert records
        longest = max(record.period_ns for record in (records.up, records.down) if record)
        return (
            f"{format_span(longest / 1e9)} of {'both directions: ' + up if up == down else f'up: {up}; down: {down}'}"
        )


@dataclass(frozen=True)
class ImportOptions:
    """What the user specifies about the recordings and the network."""

    columns: Sequence[str] = ()
    load: str = "heavy"
    """Which of CellReplay's two rates to use: `light` or `heavy`."""
    delay: str | None = None
    """The one-way delay, if none was recorded."""
    step: float = 0.1
    """The shortest time in s between two rows of a record."""
    source: str | None = None
    licence: str | None = None


def import_network(paths: Sequence[Path], name: str, options: ImportOptions) -> ImportedNetwork:
    """Make a network from the recordings and return it. Raises UserError."""
    readings = [(path, read_recording(path, list(options.columns))) for path in paths]
    tracks = _directions(readings)
    notes = list(dict.fromkeys(note for _, reading in readings for note in reading.notes))
    records, lines = {}, []
    for way in WAYS:
        if not tracks[way]:
            notes.append(f"Only one direction was recorded; {way} has the same record.")
        track = _joined(tracks[way] or tracks["down"] or tracks["up"], options)
        if track.trace is None and len(track.times) < 2:
            raise UserError(f"{paths[0]}: a record needs at least two rows with a rate, delay or loss")
        ending = "csv" if track.trace is None else "trace"
        records[f"{name}-{way}.{ending}"] = track.record(options.step)
        lines.append(f"{way}: {{{', '.join(_fields(track, way, f'{name}-{way}.{ending}', options, notes))}}}")
    notes = list(dict.fromkeys(notes))
    kinds = " and ".join(dict.fromkeys(reading.format for _, reading in readings))
    names = ", ".join(path.name for path in paths)
    comments = [
        f"Source: {options.source or names} ({kinds}).",
        f"Licence: {options.licence or 'not stated; ask the source before you pass the record on'}.",
        *notes,
    ]
    head = [f"h123: network/1\nname: {name}\ntitle: {name}, recorded", *(f"# {_line(each)}" for each in comments)]
    files = {f"{name}.yaml": "\n".join([*head, *lines]) + "\n", **records}
    return ImportedNetwork(_checked(files, f"{name}.yaml"), files, notes)


def _directions(readings: Sequence[tuple[Path, Reading]]) -> dict[str, list[Track]]:
    """Return the tracks of each direction. If a track does not say which direction it belongs to, its file's name
    decides."""
    tracks: dict[str, list[Track]] = {"up": [], "down": []}
    kinds: set[tuple[str, str]] = set()
    for path, reading in readings:
        words = set(re.split(r"[^a-z]+", path.name.lower()))
        named = [way for way in WAYS if words & _WORDS[way]]
        if len(readings) > 1 and "both" in reading.tracks and len(named) != 1:
            raise UserError(
                f"{path}: the direction is unknown", remedy="name one file so that `up` is a word in it, and one `down`"
            )
        for way, track in reading.tracks.items():
            for direction in (named if len(named) == 1 and len(readings) > 1 else WAYS) if way == "both" else (way,):
                if (reading.format, direction) in kinds:
                    raise UserError(f"{path}: another {reading.format} says what happens {direction}")
                kinds.add((reading.format, direction))
                tracks[direction].append(track.known())
    return {way: [each for each in found if each.trace or each.values] for way, found in tracks.items()}


def _joined(tracks: list[Track], options: ImportOptions) -> Track:
    """Join the tracks of one direction. (CellReplay writes its heavy load to a separate file.)"""
    if not tracks:
        raise UserError("the recording has no values", remedy="check its columns, or name them with --column")
    traces = [track.trace for track in tracks if track.trace is not None]
    rows = next((track for track in tracks if track.trace is None), None)
    if rows is None:
        return tracks[0]
    if not traces or options.load == "light":
        return rows
    trace, step = traces[0], options.step
    bins = [0] * max(int(trace[-1] / 1000 / step), 1)
    for time in trace:
        bins[min(int(time / 1000 / step), len(bins) - 1)] += 1
    rates: list[float | None] = [count * OPPORTUNITY_BYTES * 8 / step for count in bins]
    begin, places = rows.times[0], range(len(bins))
    indexes = [max(bisect_right(rows.times, begin + place * step) - 1, 0) for place in places]
    others = {name: [values[i] for i in indexes] for name, values in rows.values.items() if name != "rate"}
    return Track([place * step for place in places], {"rate": rates, **others})


def _fields(track: Track, way: str, record: str, options: ImportOptions, notes: list[str]) -> list[str]:
    fields = [f"record: {record}"]
    if "delay" not in track.values:
        fields += [f"delay: {options.delay}"] if options.delay else []
        notes.append(f"No delay was recorded; each direction has {options.delay or 'none: pass --delay, or add one'}.")
    if "loss" not in track.values:
        notes.append("No losses were recorded: packets are lost only where the queue is full.")
    mean = _mean_rate(track)
    if mean is None:
        notes.append(f"The record of `{way}` has no rate: add `rate` and `queue` to limit one.")
        return fields
    queue = max(LEAST_QUEUE_BYTES, round(mean * QUEUE_S / 8, -3))
    notes.append("The queue was not recorded: it holds 100 ms of the average rate, and at least 100 kB.")
    return [*fields, f"queue: {queue:.0f}B"]


def _mean_rate(track: Track) -> float | None:
    if track.trace is not None:
        return len(track.trace) * OPPORTUNITY_BYTES * 8000 / track.trace[-1]
    known = [value for value in track.values.get("rate", []) if value is not None]
    return sum(known) / len(known) if known else None


def _line(text: str) -> str:
    return re.sub(r"[^ -~]+", " ", text)


def _checked(files: dict[str, str], main: str) -> Network:
    """Read the network from these files, as studies will do. Raises UserError."""
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        try:
            return read_network(Path(folder) / main)
        except UserError as error:
            raise UserError(f"the recording makes no network: {error.message.replace(folder + '/', '')}") from None
