"""What imported samples get wrong is flagged, each by the audit that is for it, and takes the verdict where nothing can
rest on such data; the same data made right raise nothing."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from analysis.brought import BLOCKS, MS, SECOND, Row, answer, bring, campaign, closed_loop, failed, slower
from h123.analysis.audits import SPOILS

HOUR = 3600 * SECOND


class Case(NamedTuple):
    """Rows gone wrong, the audits that say so, and the same rows made right."""

    wrong: list[Row]
    audits: set[str]
    right: list[Row]
    told: Mapping[str, Any] = MappingProxyType({})
    """As `bring` takes it."""
    right_told: Mapping[str, Any] | None = None
    """Where what is told was wrong, and not the rows."""
    judged: bool = False
    """Whether a verdict stands all the same, with the audits beside it."""


def _some_zero(rows: list[Row]) -> list[Row]:
    return [replace(row, latency=0, ttfb=0) if number % 3 == 0 else row for number, row in enumerate(rows)]


def _stalled(rows: list[Row], stuck: bool) -> list[Row]:
    """In each trial everything stands still for 20 s: what is in flight takes so long, or the client sends nothing."""
    made, begun = [], {}
    for row in rows:
        begins = begun.setdefault((row.protocol, row.block), row.start)
        if row.start < begins + SECOND:
            waits = stuck and row.start + row.latency >= begins + SECOND
            made.append(replace(row, latency=row.latency + 20 * SECOND) if waits else row)
        else:
            made.append(replace(row, start=row.start + 20 * SECOND))
    return made


def _cold(seconds: float, resumed: str) -> list[Row]:
    """One new connection a trial, its first request cold; what follows is right."""
    rows = []
    for block in BLOCKS:
        for level in ("h2", "h3"):
            warm = closed_loop(level, block, seconds=0.03)
            length = seconds if level == "h3" else 0.08
            first = replace(warm[0], phase="cold", latency=int(length * SECOND))
            rows += [replace(row, resumed=resumed, tls="1.3") for row in [first, *warm]]
    return rows


def _arms(rows: list[Row]) -> list[Row]:
    return [replace(row, start=row.start + (100 * HOUR if row.protocol == "h3" else 0)) for row in rows]


def _encrypted(versions: dict[str, str]) -> list[Row]:
    rows = campaign(0.05, levels=("h1", "h3"))
    return [replace(row, tls=versions[row.protocol]) for row in rows]


def _twice(rows: list[Row], every: int) -> list[Row]:
    return [row for number, row in enumerate(rows) for _ in range(2 if number % every == 0 else 1)]


def _series(rows: list[Row]) -> list[Row]:
    """Of each trial the last quarter once more."""
    made = []
    for block in BLOCKS:
        for level in ("h2", "h3"):
            mine = [row for row in rows if (row.protocol, row.block) == (level, block)]
            made += [*mine, *mine[3 * len(mine) // 4 :]]
    return made


def _copied(rows: list[Row]) -> list[Row]:
    """The first block's h3 stands in all blocks."""
    first = [row for row in rows if (row.protocol, row.block) == ("h3", 1)]
    others = [row for row in rows if row.protocol == "h2"]
    return others + [replace(row, block=block) for block in BLOCKS for row in first]


def _each_a_block(rows: list[Row]) -> list[Row]:
    """The nth request of either level is block n."""
    levels = [[row for row in rows if row.protocol == level] for level in ("h2", "h3")]
    return [replace(row, block=number) for level in levels for number, row in enumerate(level, 1)]


BIG = {"network": "poor", "method": "GET", "size": "2MB", "users": 20}
SMALL = {"network": "home", "method": "GET", "size": "1kB", "users": 1}
FOUR = campaign(0.05, users=4)
FIFTY = campaign(0.05, requests=60)
LONG = campaign(0.05, users=4, requests=40)
RIGHT_BIG = campaign(34.0, users=20, requests=2)
COLD = {"told": ("phase", "tls", "resumed"), **SMALL}

CASES = {
    "2 MB in 1028.6 ms by 20 users over 10 Mbit/s": Case(
        campaign(1.0286, users=20, requests=2), {"request-above-link", "users-above-link"}, RIGHT_BIG, BIG
    ),
    "2 MB in 2 s by 20 users over 10 Mbit/s, which one alone could have": Case(
        campaign(2.0, users=20, requests=2), {"users-above-link"}, RIGHT_BIG, BIG
    ),
    "the same with start times": Case(
        campaign(2.0, users=20, requests=2), {"goodput-above-link"}, RIGHT_BIG, {"timed": True, **BIG}
    ),
    "the same of a method that nobody tells": Case(
        campaign(2.0, users=20, requests=2),
        {"users-above-link"},
        RIGHT_BIG,
        {name: value for name, value in BIG.items() if name != "method"},
    ),
    "2.4 ms over 20 ms": Case(campaign(0.0024), {"request-below-round-trip"}, campaign(0.024), SMALL),
    "2.4 ms over 20 ms to the first byte": Case(
        [replace(row, ttfb=int(2.4 * MS)) for row in campaign(0.03)],
        {"first-byte-below-round-trip"},
        [replace(row, ttfb=int(20.4 * MS)) for row in campaign(0.03)],
        {"told": ("ttfb",), **SMALL},
    ),
    "a cold answer of 12 ms over 20 ms by 0-RTT": Case(
        _cold(0.012, "yes"), {"request-below-round-trip", "cold-below-round-trips"}, _cold(0.025, "yes"), COLD
    ),
    "a cold answer of 25 ms over 20 ms without 0-RTT": Case(
        _cold(0.025, "no"), {"cold-below-round-trips"}, _cold(0.045, "no"), COLD, judged=True
    ),
    "40 requests in flight by 20 users": Case(
        campaign(0.05, users=40),
        {"users-exceeded"},
        campaign(0.05, users=40),
        {"timed": True, "users": 20},
        {"timed": True, "users": 40},
    ),
    "a third of the durations 0": Case(_some_zero(FOUR), {"times-zero"}, FOUR),
    "every tenth row twice, with start times": Case(_twice(FOUR, 10), {"rows-repeated"}, FOUR, {"timed": True}),
    "every row twice, without": Case(_twice(FIFTY, 1), {"rows-repeated"}, FIFTY),
    "the end of a file once more, without": Case(_series(FIFTY), {"rows-repeated"}, FIFTY),
    "one run in all blocks": Case(_copied(FIFTY), {"trials-repeated"}, FIFTY),
    "h3 in another unit, 1000 too large": Case(slower(FOUR, 1000, "h3"), {"times-thousandfold"}, FOUR),
    "h3 in another unit, 1000 too small": Case(slower(FOUR, 0.001, "h3"), {"times-thousandfold"}, FOUR),
    "one of the blocks in another unit": Case(
        [row for one in FOUR for row in slower([one], 1000 if one.block == 3 else 1)], {"times-thousandfold"}, FOUR
    ),
    "all in another unit, 1000 too large for the link": Case(
        campaign(24.0), {"times-thousandfold"}, campaign(0.024), SMALL
    ),
    "all in another unit, 1000 too small for the link": Case(
        campaign(0.000024),
        {"request-below-round-trip", "request-above-link", "users-above-link"},
        campaign(0.024),
        SMALL,
    ),
    "durations 1000 too large beside their starts": Case(
        slower(FOUR, 1000), {"users-exceeded"}, FOUR, {"timed": True, "users": 4}
    ),
    "blocks of one request": Case(
        _each_a_block(campaign(0.05, requests=10)),
        {"request-as-trial"},
        campaign(0.05, requests=10),
    ),
    "a closed loop whose requests hung for 20 s": Case(
        _stalled(LONG, stuck=True),
        {"loop-still"},
        LONG,
        {"timed": True, "users": 4},
        judged=True,
    ),
    "a closed loop that sent nothing for 20 s": Case(
        _stalled(LONG, stuck=False), {"loop-still"}, LONG, {"timed": True}, judged=True
    ),
    "an open loop that sent nothing for 20 s": Case(
        _stalled(LONG, stuck=False), {"loop-still"}, LONG, {"timed": True, "rate": 80.0}, judged=True
    ),
    "all of h3 after all of h2": Case(_arms(FOUR), {"order-confounded"}, FOUR, {"timed": True}, judged=True),
    "h1 without TLS beside h3": Case(
        _encrypted({"h1": "none", "h3": "1.3"}),
        {"tls-unlike"},
        _encrypted({"h1": "1.3", "h3": "1.3"}),
        {"told": ("tls",)},
        judged=True,
    ),
    "h3 over TLS 1.2": Case(
        _encrypted({"h1": "1.2", "h3": "1.2"}),
        {"tls-impossible"},
        _encrypted({"h1": "1.3", "h3": "1.3"}),
        {"told": ("tls",)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_flagged(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    verdicts = bring(tmp_path, case.wrong, **case.told)
    assert failed(verdicts) == case.audits
    found = answer(verdicts)
    if case.judged:
        assert found["withheld"] is None
        assert found["qualified"] == sorted(audit for audit in case.audits if not SPOILS.get(audit))
        if found["qualified"] and found["verdict"] != "inconclusive":
            first = found["qualified"][0]
            assert "its trials are valid and count, but" in found["note"]
            assert f"`h123 explain {first}` says" in found["note"]
    else:
        assert (found["verdict"], found["withheld"]["kind"]) == ("inconclusive", "audits")


RIGHTS = {(id(case.right), repr(case.right_told or case.told)): name for name, case in CASES.items()}
"""Several cases have the same."""


@pytest.mark.parametrize("name", RIGHTS.values())
def test_what_is_right_is_not(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    verdicts = bring(tmp_path, case.right, **(case.right_told or case.told))
    assert failed(verdicts) == set()
    assert (answer(verdicts)["withheld"], answer(verdicts)["qualified"]) == (None, [])


def test_where_no_block_pairs_trials_the_arms_must_have_taken_turns(tmp_path: Path) -> None:
    apart = bring(tmp_path / "apart", _arms(FOUR), timed=True, blocks=False)
    in_turn = bring(tmp_path / "turns", FOUR, timed=True, blocks=False)
    assert failed(apart) - failed(in_turn) == {"arms-apart"}
    assert answer(apart)["qualified"] == ["arms-apart"]
