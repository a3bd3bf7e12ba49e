"""The impossible and mistaken numbers of four published studies are flagged, be they brought in as files or as claims;
made right they raise nothing."""

import lzma
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from analysis.brought import SECOND, Row, bring, closed_loop, failed
from h123.analysis.claims.arithmetic import check
from h123.study.claims.checks import Check

NUMBERS = yaml.safe_load(lzma.decompress(Path(__file__).with_name("published_numbers.yaml.xz").read_bytes()))
ONE: TypeAdapter[Check] = TypeAdapter(Check)
HOUR = 3600 * SECOND


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    """What the schema says and reads, as `bring` takes it."""
    columns = {"ttfb": "ttfb", "tls": "tls", "resumed": "resumed", "cold": "phase"}
    told = [column for name, column in columns.items() if name in entry]
    return {"timed": entry.get("timed", False), "told": told, **entry.get("settings", {})}


def _rows(entry: dict[str, Any]) -> list[Row]:
    rows = [
        row
        for block in range(1, entry.get("blocks", 6) + 1)
        for level in entry["printed"]
        for row in _trial(entry, level, block)
    ]
    if entry.get("apart"):
        rows = [replace(row, start=row.start + 100 * HOUR) if row.protocol == "h2" else row for row in rows]
    return list(_each_a_block(rows, list(entry["printed"]))) if entry.get("each_a_block") else rows


def _trial(entry: dict[str, Any], level: str, block: int) -> list[Row]:
    users = entry.get("settings", {}).get("users", 1)
    requests = entry.get("requests", max(2, 12 // users))
    # A printed figure is a median, or an average: half of the requests are quicker.
    rows = closed_loop(level, block, seconds=entry["printed"][level], users=users, requests=requests, spread=0.02)
    if "ttfb" in entry:
        rows = [replace(row, ttfb=int(entry["ttfb"][level] * SECOND)) for row in rows]
    if "cold" in entry:
        cold = closed_loop(level, block, seconds=entry["cold"][level], requests=1, spread=0)
        rows = [replace(cold[0], phase="cold"), *rows]
    same = {name: entry[name][level] for name in ("tls", "resumed") if name in entry}
    return [replace(row, **same) for row in rows]


def _each_a_block(rows: list[Row], levels: list[str]) -> Iterator[Row]:
    for level in levels:
        for number, row in enumerate((row for row in rows if row.protocol == level), 1):
            yield replace(row, block=number)


def _named(entries: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("entry", entries, ids=[entry["where"] for entry in entries])


@_named(NUMBERS["imports"])
def test_as_a_file(tmp_path: Path, entry: dict[str, Any]) -> None:
    assert failed(bring(tmp_path / "printed", _rows(entry), **_told(entry))) == set(entry["audits"])
    right = {**entry, **entry["right"]}
    assert failed(bring(tmp_path / "right", _rows(right), **_told(right))) == set()


@_named(NUMBERS["claims"])
def test_as_a_claim(entry: dict[str, Any]) -> None:
    printed = check(ONE.validate_python(entry["check"]))
    assert not printed.passed, printed.text
    right = check(ONE.validate_python({**entry["check"], **entry["right"]}))
    assert right.passed, right.text
