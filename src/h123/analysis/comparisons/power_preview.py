"""Predicts before anything runs how narrow a study's intervals will be, and which differences its families can find.

The preview assumes that the results are looked at only once, after all planned blocks. The spread between blocks comes
from the user, or from published campaigns with similar trials (spreads.py). Without either, it is unknown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from h123.analysis.comparisons.comparison import PairedComparison, declared
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.power import Power, can_find_one, fewest_blocks, power
from h123.analysis.statistics.precision import blocks_for, expected_width
from h123.analysis.statistics.spreads import SpreadTrial, Varied, nearest
from h123.study import Plan


@dataclass(frozen=True)
class Expected:
    metric: str
    where: str
    """The networks of the comparison's trials, in words, with the clock if it is virtual."""
    spread: float | None
    """The standard deviation of the log ratios, from block to block; None if unknown."""
    campaign: str | None
    """The published campaign that the spread comes from; None if the spread is assumed or unknown."""
    width: float | None
    """Half the expected width of the interval, as a share of the ratio; None if the spread is unknown."""


@dataclass(frozen=True)
class FamilyPower:
    name: str
    comparisons: Sequence[Expected]
    able: bool
    """Whether the family can find a single true difference at all."""
    fewest: int
    """The fewest blocks with which the family can find a difference."""
    power: Power | None
    """The power; None if the spread of a comparison is unknown."""


def preview_power(
    plan: Plan, *, effect: float, assumed_spread: float | None, spreads: Sequence[Varied]
) -> list[FamilyPower]:
    """Preview all families of the plan, beginning with the study's first one. `effect` is the true difference to
    find."""
    blocks, level = len(plan.blocks), _level(plan)
    families: dict[str, list[PairedComparison]] = {}
    for comparison in declared(plan):
        if not comparison.twin and not comparison.repeats:
            families.setdefault(comparison.family.name, []).append(comparison)
    return [
        _family(
            name,
            members[0].family.correction,
            [_expected(member, plan, assumed_spread, spreads) for member in members],
            blocks=blocks,
            level=level,
            effect=effect,
        )
        for name, members in families.items()
    ]


def headline(families: Sequence[FamilyPower]) -> list[Expected]:
    first = families[0].name.partition("/")[0]
    return [
        comparison for family in families if family.name.partition("/")[0] == first for comparison in family.comparisons
    ]


def blocks_to_be(precision: float, comparisons: Iterable[Expected], plan: Plan) -> dict[str, int | None]:
    """Return, for each network (`where`), the number of blocks that will probably make all intervals of its comparisons
    as narrow as `precision`. None if this is more than is practical. Comparisons without a known spread are left
    out."""
    needed: dict[str, list[int | None]] = {}
    level = Looks([len(plan.blocks)], by_width=True).level(plan.study.compare.alpha)
    for comparison in comparisons:
        if comparison.spread is not None:
            needed.setdefault(comparison.where, []).append(blocks_for(precision, comparison.spread, level))
    return {where: max(numbers, key=lambda n: n or float("inf")) for where, numbers in needed.items()}


def _level(plan: Plan) -> float:
    """Return the significance level of the single look for which the blocks are planned."""
    return Looks([len(plan.blocks)]).level(plan.study.compare.alpha)


def _family(
    name: str, correction: str, members: list[Expected], *, blocks: int, level: float, effect: float
) -> FamilyPower:
    size, spreads = len(members), [member.spread for member in members if member.spread is not None]
    preview = power(spreads, blocks, effect, correction=correction, level=level) if len(spreads) == size else None
    return FamilyPower(name, members, can_find_one(blocks, size, level), fewest_blocks(size, level), preview)


def _expected(
    comparison: PairedComparison, plan: Plan, assumed_spread: float | None, spreads: Sequence[Varied]
) -> Expected:
    study = plan.study
    sides = [study.parameters({**comparison.cell, study.compare.factor: side}) for side in (comparison.a, comparison.b)]
    trials = list(dict.fromkeys(map(SpreadTrial.of, sides)))
    where = " and ".join(dict.fromkeys(name for side in sides for name in side.networks()))
    clocks = {side.clock for side in sides}
    # A link behind the server, or a side over a different network, makes the trials a different kind.
    plain = len(trials) == 1 and all(len(side.networks()) == 1 for side in sides)
    similar = nearest(trials[0], comparison.metric, spreads) if plain and assumed_spread is None else None
    spread = assumed_spread if similar is None else similar.spread
    return Expected(
        comparison.metric,
        f"{where} under the virtual clock" if clocks == {"virtual"} else where,
        spread,
        similar.campaign if similar else None,
        None if spread is None else expected_width(spread, len(plan.blocks), _level(plan)),
    )
