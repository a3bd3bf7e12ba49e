"""Recognises the columns of a table of measurements by their names."""

import re
from dataclasses import dataclass

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.study.networks.record_table import RecordTable

SCALES = {
    "time": {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "rate": {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "loss": {"%": 0.01, "share": 1},
}
"""The units of each quantity, with the factors that convert them to s, bit/s and fractions."""
KINDS = {
    "time": ("time", 1),
    "rate": ("rate", 1),
    "up": ("rate", 1),
    "down": ("rate", 1),
    "delay": ("time", 1),
    "rtt": ("time", 0.5),
    "up-delay": ("time", 1),
    "down-delay": ("time", 1),
    "loss": ("loss", 1),
}
"""Maps each kind of column to its quantity and to the factor that converts its values to values of one direction of the
link."""
_SUFFIXES = {
    **{suffix: suffix for suffix in ("s", "ms", "us", "ns")},
    **{f"{prefix.lower()}{end}": f"{prefix}bit/s" for prefix in ("", "k", "M", "G") for end in ("bps", "bit_s", "bit")},
    **dict.fromkeys(("percent", "pct"), "%"),
    **dict.fromkeys(("share", "ratio"), "share"),
}
_NAMES = {
    "time": "time timestamp elapsed t",
    "rate": "rate bandwidth throughput capacity bitrate",
    "down": "down download dl downlink download_rate dl_rate dl_bitrate down_rate downlink_rate",
    "up": "up upload ul uplink upload_rate ul_rate ul_bitrate up_rate uplink_rate",
    "delay": "delay latency one_way_delay owd",
    "rtt": "rtt ping round_trip min_rtt",
    "loss": "loss packet_loss loss_rate",
}
_PUBLISHED = [
    # G-NetTrack Pro, as in the Irish 4G and 5G datasets
    {"dl_bitrate": "down:kbit/s", "ul_bitrate": "up:kbit/s", "pingavg": "rtt:ms", "pingloss": "loss:%"},
    # WetLinks (Starlink): iperf, ping
    {"timestamp_start": "time:s", "download": "down:bit/s", "upload": "up:bit/s"},
    {"timestamp_start": "time:s", "ping_avg": "rtt:ms", "packet_loss": "loss:%"},
    # LENS (Starlink): irtt, ping
    {"timestamp": "time:s", "rtt": "rtt:ms", "uplink": "up-delay:ms", "downlink": "down-delay:ms"},
    {"timestamp": "time:s", "rtt": "rtt:ms"},
]
"""The columns of published datasets in which the columns' names do not include the unit."""


@dataclass(frozen=True)
class Column:
    """A column that is used: its kind, and the factor that converts its values to s, bit/s or fractions."""

    index: int
    kind: str
    factor: float


def parse_column(text: str) -> tuple[str, str, str]:
    """Return the kind, the name and the unit in `KIND=NAME:UNIT`. Raises UserError."""
    kind, _, rest = text.partition("=")
    name, _, unit = rest.rpartition(":")
    if kind in KINDS and name and unit in SCALES[KINDS[kind][0]]:
        return kind, name, unit
    units = " ".join(unit for scale in SCALES.values() for unit in scale)
    raise UserError(
        f"--column {excerpt(text)}: write KIND=NAME:UNIT, with one of {', '.join(KINDS)}", remedy=f"units: {units}"
    )


def recognise(table: RecordTable, chosen: list[str]) -> list[Column]:
    """Return those columns of a table that are used. `chosen`: the user's descriptions of columns, as for
    `parse_column`. Raises UserError."""
    path, line, names = table.path, table.line, table.names
    if table.nameless() and not chosen:
        raise UserError(
            f"{path}:{line}: the table has no line of names",
            remedy="describe its columns by number, such as --column time=1:s --column rate=2:Mbit/s",
        )
    columns, unitless = dict[str, Column](), dict[str, int]()
    for sort, name, unit in map(parse_column, chosen):
        if name not in names:
            raise UserError(f"{path}:{line}: there is no column {excerpt(name)}, only {', '.join(names)}")
        columns[sort] = _column(names.index(name), sort, unit)
    plain = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in names]
    published = next((known for known in _PUBLISHED if len(known.keys() & set(plain)) == len(known)), {})
    described = {column.index for column in columns.values()}
    for index, name in enumerate(plain):
        if index in described:
            continue
        if found := _read(published.get(name), name):
            columns.setdefault(found[0], _column(index, *found))
        elif kind := _kind(name):
            if kind == "time":
                columns.setdefault(kind, _column(index, kind, "s"))
            else:
                unitless.setdefault(kind, index)
    if "time" not in columns:
        raise UserError(
            f"{path}:{line}: no column is a time, so the rows are no record of a link: {', '.join(names)[:100]}",
            remedy="name the column of times: --column time=NAME:s",
        )
    for kind, index in unitless.items():
        if kind not in columns:
            asked = f"--column '{kind}={names[index]}:{next(iter(SCALES[KINDS[kind][0]]))}'"
            raise UserError(
                f"{path}:{line}: the unit of the column {excerpt(names[index])} is unknown",
                remedy=f"write it into the name, or pass {asked}",
            )
    if len(columns) < 2:
        raise UserError(
            f"{path}:{line}: no column is known as a rate, delay or loss: {', '.join(names)[:100]}",
            remedy="name it, such as --column down=NAME:Mbit/s",
        )
    return list(columns.values())


def _read(published: str | None, name: str) -> tuple[str, str] | None:
    if published:
        kind, _, unit = published.partition(":")
        return kind, unit
    for suffix, unit in _SUFFIXES.items():
        if not name.endswith(f"_{suffix}"):
            continue
        named = _kind(name.removesuffix(f"_{suffix}"))
        if named and unit in SCALES[KINDS[named][0]]:
            return named, unit
    return None


def _kind(name: str) -> str | None:
    return next((kind for kind, names in _NAMES.items() if name in names.split()), None)


def _column(index: int, kind: str, unit: str) -> Column:
    quantity, factor = KINDS[kind]
    return Column(index, kind, SCALES[quantity][unit] * factor)
