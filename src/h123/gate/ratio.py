"""A ratio that conditions are held against: one of a campaign's comparisons, or of two campaigns'."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from h123.analysis import blocks_to_part, failing_treatments, reliable
from h123.analysis.document import Judged, Verdicts
from h123.diff import FEWEST, Diff, Row
from h123.diff import blocks_to_part as blocks_to_part_unpaired


@dataclass(frozen=True)
class Ratio:
    """Of a metric's values, with its interval; None where there is none, or no bound."""

    metric: str
    pair: str
    cell: Mapping[str, str]
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float | None
    """Of the interval."""
    reliable: bool
    """Whether that is as much as was asked for."""
    blocks: int
    """With a value on both sides; of two campaigns, those of the one that has fewer."""
    withheld: str | None
    """Why it decides nothing."""
    needed: Callable[[float], int | None]
    """The number of blocks with which the interval would probably lie on one side of a bound; None: more than
    anybody runs."""


def ratios_of(verdicts: Verdicts) -> list[Ratio]:
    """All that a campaign compares, but its twins."""
    return [_ratio(one, verdicts) for one in verdicts["comparisons"] if not one["twin"]]


def _ratio(one: Judged, verdicts: Verdicts) -> Ratio:
    return Ratio(
        metric=one["metric"],
        pair=f"{one['a']}/{one['b']}",
        cell=one["cell"],
        ratio=one["ratio"],
        low=one["low"],
        high=one["high"],
        confidence=one["confidence"],
        reliable=reliable(one, verdicts),
        blocks=one["blocks"],
        withheld=one["withheld"]["why"] if one["withheld"] else _stuck(one, verdicts),
        needed=lambda bound: blocks_to_part(one, bound, verdicts),
    )


def _stuck(one: Judged, verdicts: Verdicts) -> str | None:
    """A build that gets stuck now and then must not pass for its speed in between."""
    for row in failing_treatments(verdicts, one["cell"], (one["a"], one["b"])):
        who = row["cell"][verdicts["factor"]]
        return f"{who} failed in {row['failed']} of {row['attempts']} attempts, and the figures are of the others"
    return None


def ratios_between(diff: Diff) -> list[Ratio]:
    """All of two campaigns' treatments; the levels are `after` and `before`."""
    return [_unpaired(row) for row in diff["rows"]]


def _unpaired(row: Row) -> Ratio:
    blocks = min(len(row["before"]), len(row["after"]))
    return Ratio(
        metric=row["metric"],
        pair="after/before",
        cell=row["cell"],
        ratio=row["ratio"],
        low=row["low"],
        high=row["high"],
        confidence=row["confidence"],
        reliable=blocks >= FEWEST,
        blocks=blocks,
        withheld=row["withheld"],
        needed=lambda bound: blocks_to_part_unpaired(row["before"], row["after"], bound),
    )
