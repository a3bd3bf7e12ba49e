"""Computes how much of a study's alpha, its permitted error, the current look at its campaign may spend.

If you test the same data repeatedly, with a few more blocks each time, you eventually find a difference that does not
exist. Two rules keep the total error of all looks at alpha:

* spending (every campaign): each look may spend `SHARE` of what the earlier looks have left. The shares add up to at
most alpha, however many looks there are and whenever they happen (Bonferroni's inequality). Nearly all of alpha goes
to the first look, for which a campaign is planned.
* planned looks (`--until-decided`): the numbers of blocks are fixed in advance, and each look has the same level
(Pocock, Biometrika 64, 1977). `LEVEL` is Pocock's constant for five looks and this test: see bench/calibration.py.

A campaign that ends when its intervals are narrow enough (`--precision`, see width.py) also spends alpha. Its first
look spends `WIDTH_SHARE`, which is less than `SHARE`, because such intervals contain the true value slightly less often
than others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from h123.documents.events import Event


class LooksTaken(TypedDict):
    """The numbers of blocks at which the campaign was looked at, and the part of alpha that the current look may
    spend."""

    blocks: Sequence[int]
    """The numbers of blocks; the last one is the current look."""
    planned: Sequence[int]
    """The numbers of blocks of the planned looks (`--until-decided`)."""
    rule: str
    """`spending`; or `planned` with `--until-decided`; or `width` with `--precision`."""
    level: float
    """The part of alpha that this look may spend."""


SHARE = 15 / 16
WIDTH_SHARE = 13 / 16
PLANNED = (8, 12, 16, 20, 30)
FEWEST = 6
"""The fewest blocks with which p can be below 0.05."""
LEVEL = 5 / 16
"""The level of each planned look as a share of alpha. For an alpha of 0.05, the level is 1/64."""
SPENDING, FIXED, WIDTH = "spending", "planned", "width"


@dataclass(frozen=True)
class Looks:
    """The numbers of blocks at which a campaign was looked at. The last one is the current look."""

    blocks: Sequence[int]
    planned: Sequence[int] = ()
    """The numbers of blocks of the planned looks (`--until-decided`)."""
    by_width: bool = False
    """Whether the campaign was started with `--precision`."""

    @property
    def rule(self) -> str:
        """The name of the rule that sets the significance level of each look. After an unplanned look, only the
        spending rule applies, because it is valid whenever looks happen."""
        if self.by_width:
            return WIDTH
        return FIXED if self.planned and set(self.blocks) <= set(self.planned) else SPENDING

    def level(self, alpha: float) -> float:
        """Return the part of alpha that the current look may spend."""
        return self._level(alpha, _count_effective_looks(self.blocks[:-1]))

    def next_level(self, alpha: float) -> float:
        """Return the part of alpha that a later look, with more blocks, may spend."""
        return self._level(alpha, _count_effective_looks(self.blocks))

    def _level(self, alpha: float, before: int) -> float:
        if self.rule == FIXED:
            return alpha * LEVEL
        return alpha * (WIDTH_SHARE if self.by_width else SHARE) * (1 - SHARE) ** before


def _count_effective_looks(blocks: Sequence[int]) -> int:
    """Count the looks that could find something. A look with too few blocks for any p to be small enough spends
    nothing."""
    return sum(number >= FEWEST for number in blocks)


def level_of_next(taken: LooksTaken, alpha: float) -> float:
    """Return the part of alpha that a look with more blocks than the current one may spend."""
    return Looks(taken["blocks"], taken["planned"], taken["rule"] == WIDTH).next_level(alpha)


def earlier_looks(taken: LooksTaken) -> list[int]:
    """Return the numbers of blocks at the earlier looks that spent part of alpha."""
    return [] if taken["rule"] == FIXED else [blocks for blocks in taken["blocks"][:-1] if blocks >= FEWEST]


def plan_looks(at_most: int | None) -> list[int]:
    """Return the numbers of blocks at which to look, up to `at_most` (None: no limit)."""
    return [blocks for blocks in PLANNED if at_most is None or blocks <= at_most]


def looks(events: Iterable[Event], now: int, planned: Sequence[int] = (), *, by_width: bool = False) -> Looks:
    """Return the looks that the journal records. The current look, at `now` blocks, is added if it is new."""
    numbers = list(dict.fromkeys([*(blocks for blocks in journalled_looks(events) if blocks != now), now]))
    return Looks(numbers, planned, by_width)


def journalled_looks(events: Iterable[Event]) -> list[int]:
    """Return the numbers of blocks of the looks in the journal."""
    return [event["blocks"] for event in events if event["event"] == "look" and "blocks" in event]
