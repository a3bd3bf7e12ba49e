"""Reads the files (cards) that curl's scorecard.py writes with `--json`, and writes campaigns as such files.

A card is about one build of curl that sends requests to one server over one protocol. Each cell is the mean rate of a
few complete runs of curl: bytes per second in `downloads` and `uploads`, requests per second in `requests`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.jsontext import parse_json
from h123.base.files.textfile import read_bytes

_Json = dict[str, Any]
"""A JSON object of a card."""
TABLES = ("downloads", "uploads", "requests")
_KIND = re.compile(r"(?P<kind>single|serial|parallel)(?:\((?P<count>\d+)(?:x\d+)?\))?")
_AT_A_TIME = re.compile(r"(\d+) max")
_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB"))
_NEAR = 1.1
_NO_VALUE = -1
"""The value that scorecard.py writes if no run succeeded."""


@dataclass(frozen=True)
class CardRun:
    """The content of one cell: a number of transfers, and the time that they took, which follows from the cell's mean
    rate."""

    where: str
    columns: dict[str, str]


def read_card(path: Path) -> Iterator[CardRun]:
    """Yield the cells of a card that have a value. Raises UserError if the file is not a card."""
    card = _card(path)
    try:
        meta = {name: str(value) for name, value in card["meta"].items() if not isinstance(value, dict | list)}
        for table in TABLES:
            if table in card:
                yield from _runs(table, card[table], meta)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        raise _no_card(path, f"`{table}` is not a table of a card") from None


def _card(path: Path) -> _Json:
    try:
        card = parse_json(read_bytes(path, sizes.DOCUMENT))
    except ValueError as error:
        raise _no_card(path, str(error)) from None
    if not isinstance(card, dict) or not isinstance(card.get("meta"), dict) or "protocol" not in card["meta"]:
        raise _no_card(path, "it contains no `meta` with a `protocol`")
    if limit := card["meta"].get("limit-rate"):
        raise UserError(
            f"{path}: measured with --limit-rate {limit}: its figures only show how well curl kept the limit",
            remedy="run scorecard.py without --limit-rate",
        )
    return card


def _no_card(path: Path, why: str) -> UserError:
    return UserError(
        f"{path}: not what scorecard.py writes: {why}",
        remedy="write it with `scorecard.py --json ... > FILE`; save the two cards of two servers separately",
    )


def _runs(table: str, content: Mapping[str, Any], meta: Mapping[str, str]) -> Iterator[CardRun]:
    names = content["cols"]
    for row in content["rows"]:
        size = int(row[0]["val"])
        for name, cell in zip(names[1:], row[1:], strict=True):
            match = _AT_A_TIME.fullmatch(name) if table == "requests" else _KIND.fullmatch(name)
            if not match or cell["val"] <= 0:
                continue
            count = int(content["meta"]["count"]) if table == "requests" else int(match["count"] or 1)
            load = f"requests-{match[1]}" if table == "requests" else f"{match['kind']}-{_binary(size)}"
            rate = cell["val"] / size if table != "requests" else cell["val"]
            yield CardRun(
                f"{table}, {name}, {row[0]['sval']}",
                {
                    **meta,
                    "stack": meta["implementation"] if meta["protocol"] == "h3" else meta["protocol"],
                    "load": f"upload-{load}" if table == "uploads" else load,
                    "start": "0",
                    "seconds": f"{count / rate:.9f}",
                    "bytes_up": str(count * size if table == "uploads" else 0),
                    "bytes_down": str(0 if table == "uploads" else count * size),
                },
            )


def _binary(size: int) -> str:
    """Format a size as in the names of studies' levels: 10KiB."""
    return _sized(size).replace("B", "iB") if size >= _UNITS[-1][0] else _sized(size)


def _sized(size: float) -> str:
    """Format a size as scorecard.py does: 10KB means 10 x 1024 bytes."""
    factor, unit = next(((factor, unit) for factor, unit in _UNITS if size >= factor), (1, "B"))
    return f"{size / factor:.0f}{unit}"


@dataclass(frozen=True)
class CardLoad:
    """The load of one cell of a card."""

    upload: bool
    size: int
    users: int
    """The number of simultaneous transfers."""
    requests: int

    @property
    def count(self) -> int:
        """The total number of requests across all users."""
        return self.users * self.requests


Rates = Mapping[CardLoad, Sequence[float]]
"""The bytes per second of each load in each trial."""


def card_of(meta: Mapping[str, object], rates: Rates) -> _Json:
    """Return the card that scorecard.py would write for these rates, as far as its format allows."""
    card: _Json = {"meta": dict(meta)}
    many = _requests(rates)
    for table, upload in (("downloads", False), ("uploads", True)):
        of_table = {load: values for load, values in rates.items() if load.upload is upload and load not in many}
        if of_table:
            card[table] = _transfers(f"{table.capitalize()} ({meta['protocol']}), {meta['server']}", of_table)
    if many:
        card["meta"]["request_parallels"] = [load.users for load in many]
        card["requests"] = _table_of_requests(f"Requests in parallel, {meta['server']}", many, rates)
    return card


def _requests(rates: Rates) -> list[CardLoad]:
    """Return the loads for the table `requests`: downloads of one size by different numbers of users, each of whom
    makes several requests."""
    repeated = [load for load in rates if not load.upload and load.users > 1 and load.requests > 1]
    sizes = {load.size for load in repeated}
    least, most = (pick((load.count for load in repeated), default=0) for pick in (min, max))
    size = min(sizes, default=0)
    # The total number is nearly equal, as far as the users divide it.
    near = range(round(least / _NEAR), round(most * _NEAR) + 1)
    alone = [load for load in rates if not load.upload and load.users == 1 and load.count in near]
    series = [load for load in (*repeated, *alone) if load.size == size]
    return sorted(series, key=lambda load: load.users)


def _transfers(title: str, rates: Rates) -> _Json:
    """Return a table with a row for each size and a column for each number of simultaneous transfers."""
    kinds = sorted({(load.users, load.count) for load in rates})
    count = max(count for _, count in kinds)
    rows = []
    for size in sorted({load.size for load in rates}):
        values_by_kind = {(load.users, load.count): values for load, values in rates.items() if load.size == size}
        rows.append([_value(size, _sized(size)), *(_mean(values_by_kind.get(kind, []), _per_second) for kind in kinds)])
    return {
        "meta": {"title": title, "count": count, "max-parallel": max(users for users, _ in kinds)},
        "cols": ["size", *(_kind(users, count) for users, count in kinds)],
        "rows": rows,
    }


def _kind(users: int, count: int) -> str:
    if users > 1:
        return f"parallel({count}x{users})"
    return f"serial({count})" if count > 1 else "single"


def _table_of_requests(title: str, loads: Sequence[CardLoad], rates: Rates) -> _Json:
    size, count = loads[0].size, min(load.count for load in loads)
    cells = [_mean([rate / size for rate in rates[load]], lambda rate: f"{rate:.0f} r/s") for load in loads]
    return {
        "meta": {"title": title, "count": count},
        "cols": ["size", "total", *(f"{load.users} max" for load in loads)],
        "rows": [[_value(size, _sized(size)), _value(count, str(count)), *cells]],
    }


def _per_second(rate: float) -> str:
    factor, unit = next(((factor, unit) for factor, unit in _UNITS if rate >= factor), (1, "B"))
    return f"{rate / factor:.3g} {unit}/s"


def _mean(values: Sequence[float], formatter: Any) -> _Json:
    if not values:
        return {**_value(_NO_VALUE, "--"), "errors": ["no valid trial"]}
    mean = sum(values) / len(values)
    return _value(mean, formatter(mean))


def _value(value: float, text: str) -> _Json:
    return {"val": value, "sval": text}
