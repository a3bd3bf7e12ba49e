"""Looks: how much of the error that a study allows the present look at its campaign may spend.

If you test the same data repeatedly, with a few more blocks each time, eventually you find a difference where
there is none. Two rules keep the error of all looks together at alpha:

* spending (every campaign): each look may spend `SHARE` of what the looks before it have left. The shares add up to at
  most alpha, whatever the looks are and whenever they are taken (Bonferroni's inequality). Nearly all of it goes to the
  first look, for which a campaign is planned.
* planned looks (`--until-decided`): the numbers of blocks are fixed before the data, and each look has the same level
  (Pocock, Biometrika 64, 1977). `LEVEL` is his constant for five looks and this test: see bench/calibration.py.

A campaign that ends by the width of its intervals (`--precision`, see width.py) spends too. Its first look spends
`WIDTH_SHARE`, which is less, because such intervals contain the truth slightly less often than others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from h123.documents.events import Event


class LooksTaken(TypedDict):
    """The numbers of blocks at which the campaign was looked at, and the error that the present look may spend."""

    blocks: Sequence[int]
    """The present look is the last."""
    planned: Sequence[int]
    """Planned looks, with `--until-decided`."""
    rule: str
    """`spending`; `planned` with `--until-decided`; `width` with `--precision`."""
    level: float
    """The share of alpha that this look may spend."""


SHARE = 15 / 16
WIDTH_SHARE = 13 / 16
PLANNED = (8, 12, 16, 20, 30)
FEWEST = 6
"""The fewest blocks with which p can be 0.05."""
LEVEL = 5 / 16
"""The level as a share of alpha: 1/64 of 0.05."""
SPENDING, FIXED, WIDTH = "spending", "planned", "width"


@dataclass(frozen=True)
class Looks:
    """The numbers of blocks at which a campaign was looked at, the present one last."""

    blocks: Sequence[int]
    planned: Sequence[int] = ()
    """The planned looks, with `--until-decided`."""
    by_width: bool = False
    """Whether the campaign has `--precision`."""

    @property
    def rule(self) -> str:
        """The rule in force. A look that was not planned leaves only the rule that holds for all."""
        if self.by_width:
            return WIDTH
        return FIXED if self.planned and set(self.blocks) <= set(self.planned) else SPENDING

    def level(self, alpha: float) -> float:
        """The error that the present look may spend."""
        return self._level(alpha, _count_effective_looks(self.blocks[:-1]))

    def next_level(self, alpha: float) -> float:
        """The same for a look with more blocks."""
        return self._level(alpha, _count_effective_looks(self.blocks))

    def _level(self, alpha: float, before: int) -> float:
        if self.rule == FIXED:
            return alpha * LEVEL
        return alpha * (WIDTH_SHARE if self.by_width else SHARE) * (1 - SHARE) ** before


def _count_effective_looks(blocks: Sequence[int]) -> int:
    """Looks that could find something: with fewer blocks no p is small enough, so they spend nothing."""
    return sum(number >= FEWEST for number in blocks)


def level_of_next(taken: LooksTaken, alpha: float) -> float:
    """The error that a look with more blocks than the present one may spend."""
    return Looks(taken["blocks"], taken["planned"], taken["rule"] == WIDTH).next_level(alpha)


def earlier_looks(taken: LooksTaken) -> list[int]:
    """The numbers of blocks of the looks because of which the present one may spend less."""
    return [] if taken["rule"] == FIXED else [blocks for blocks in taken["blocks"][:-1] if blocks >= FEWEST]


def plan_looks(at_most: int | None) -> list[int]:
    """The numbers of blocks to look at, none above `at_most` (None: no limit)."""
    return [blocks for blocks in PLANNED if at_most is None or blocks <= at_most]


def looks(events: Iterable[Event], now: int, planned: Sequence[int] = (), *, by_width: bool = False) -> Looks:
    """The journal's looks, and one at `now` blocks if that is another."""
    numbers = list(dict.fromkeys([*(blocks for blocks in journalled_looks(events) if blocks != now), now]))
    return Looks(numbers, planned, by_width)


def journalled_looks(events: Iterable[Event]) -> list[int]:
    """The numbers of blocks of the looks in the journal."""
    return [event["blocks"] for event in events if event["event"] == "look" and "blocks" in event]
