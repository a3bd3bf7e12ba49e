"""Files of a foreign tool, made up, and what the analysis says of them once they are imported.

    verdicts = bring(folder, campaign(0.05, users=4), size="100kB", users=4, timed=True)

A row has all columns; which of them the schema reads is chosen, so that the same requests can be told with more or
less.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import yaml

from h123.analysis import analyse
from h123.store import import_samples
from h123.study import load_schema

MS, SECOND = 1_000_000, 1_000_000_000
BLOCKS = range(1, 7)
_EPOCH = 1_790_000_000 * SECOND
_BLOCK = 3600 * SECOND
_LEVELS = ("h2", "h3", "h1")


@dataclass(frozen=True)
class Row:
    """One request, as a file tells it."""

    protocol: str
    block: int
    start: int
    latency: int
    ttfb: int
    phase: str = "warm"
    bytes_down: int = 0
    tls: str = ""
    resumed: str = ""
    status: int = 200


def closed_loop(
    protocol: str,
    block: int,
    *,
    seconds: float,
    users: int = 1,
    requests: int = 20,
    size: int = 0,
    spread: float = 0.05,
) -> list[Row]:
    """Requests of users who each wait for their last answer, about so many seconds long; those of a block are made one
    level after another, in an order that changes from block to block."""
    random = np.random.default_rng([block, _LEVELS.index(protocol)])
    turn = (_LEVELS.index(protocol) + block) % len(_LEVELS)
    rows = []
    for _ in range(users):
        at = _EPOCH + block * _BLOCK + turn * _BLOCK // len(_LEVELS)
        for latency in (seconds * SECOND * np.exp(random.normal(0, spread, requests))).astype(np.int64).tolist():
            rows.append(Row(protocol, block, at, latency, int(0.7 * latency), bytes_down=size))
            at += latency + 1
    return sorted(rows, key=lambda row: row.start)


def campaign(seconds: float, *, levels: Sequence[str] = ("h2", "h3"), **load: Any) -> list[Row]:
    """The same load for each level, in each block."""
    return [row for block in BLOCKS for level in levels for row in closed_loop(level, block, seconds=seconds, **load)]


def slower(rows: Sequence[Row], times: float, *levels: str) -> list[Row]:
    """The same with other durations, of some levels (none: all)."""
    return [
        replace(row, latency=int(row.latency * times), ttfb=int(row.ttfb * times))
        if not levels or row.protocol in levels
        else row
        for row in rows
    ]


def bring(
    folder: Path,
    rows: Sequence[Row],
    *,
    timed: bool = False,
    blocks: bool = True,
    told: Sequence[str] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Import and analyse them. `timed`: with start times; `blocks`: whether the trials are paired, or nothing but runs;
    `told`: further columns that the schema reads; `settings`: what is known of the conditions."""
    levels = list(dict.fromkeys(row.protocol for row in rows))
    sources: dict[str, Any] = {name: {"column": name} for name in ("status", "latency", *told)}
    sources["block" if blocks else "run"] = {"column": "block"}
    sources["levels"] = {"protocol": {"column": "protocol"}}
    for name in {"latency", "ttfb"} & set(sources):
        sources[name]["unit"] = "ns"
    if timed:
        sources["start"] = {"column": "start", "unit": "unix-ns"}
    compare = {
        "factor": "protocol",
        "pairs": [f"{levels[1]}/{levels[0]}"],
        "families": [{"name": "answer", "correction": "holm", "metrics": ["latency"]}],
    }
    schema = {"h123": "import/1", "name": "brought", "question": "?", "factors": {"protocol": levels}}
    schema |= {"settings": settings, "compare": compare, "samples": sources}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.yaml").write_text(yaml.safe_dump(schema))
    names = [field.name for field in fields(Row)]
    lines = [",".join(names), *(",".join(str(getattr(row, name)) for name in names) for row in rows)]
    (folder / "samples.csv").write_text("\n".join(lines) + "\n")
    read = load_schema(str(folder / "schema.yaml"))
    with patch("os.fsync"), patch("h123.analysis.claims.section.ledgers_of", return_value=[]):
        # These outlast no power failure, and no claims are about them: that would be most of the time.
        return analyse(import_samples([folder / "samples.csv"], read, folder / "campaign"))


def failed(verdicts: dict[str, Any]) -> set[str]:
    """The audits that failed."""
    return {row["audit"] for row in verdicts["audit_summary"] if row["failed"]}


def answer(verdicts: dict[str, Any]) -> dict[str, Any]:
    """The comparison that was asked for."""
    found: dict[str, Any] = verdicts["comparisons"][0]
    return found
