"""Simulates the power of a family of comparisons: how likely it is, after correction, to find true differences of a
given size.

The simulation has a fixed seed. It draws independent normal log ratios, with the spread between blocks of each
comparison, and applies the exact signed-rank test. In each simulated campaign, the comparisons that differ are chosen
at random.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.analysis.statistics.families import blocks_needed
from h123.analysis.statistics.signedrank import attainable, cumulative

CAMPAIGNS = 400
"""The number of simulated campaigns. It is large enough to determine a power near one half to within 5 percentage
points."""
_VALUES = 2_000_000
"""The largest total number of simulated log ratios. Large families get fewer simulated campaigns, each with more
information."""
_FEWEST = 50
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Power:
    """The probability of finding a true difference if a single comparison of the family, half of them, or all of them
    differ."""

    single: float
    half: float
    all: float


def can_find_one(blocks: int, size: float, level: float) -> bool:
    """Return whether one true difference among `size` comparisons can be found at all, however large it is.

    Such a difference has the only small p in the family, and both corrections multiply it by the family's size.
    """
    return attainable(blocks) * size <= level * _ROUNDING


def fewest_blocks(size: int, level: float) -> int:
    """Return the fewest blocks with which one true difference can be found."""
    return blocks_needed(size, "holm", level)


def power(spreads: Sequence[float], blocks: int, effect: float, *, correction: str, level: float) -> Power:
    """Return the power of a family whose log ratios have the standard deviations `spreads` between blocks, for true
    ratios of 1 + `effect`."""
    size = len(spreads)
    random = np.random.default_rng(1)
    campaigns = max(_FEWEST, min(CAMPAIGNS, _VALUES // (size * blocks)))
    noise = random.normal(0, 1, (campaigns, size, blocks))
    shift = math.log1p(effect) / np.maximum(np.asarray(spreads), 1e-12)
    same, different = _p(noise), _p(noise + shift[:, None])
    order = random.permuted(np.tile(np.arange(size), (campaigns, 1)), axis=1)

    def chance(differing: int) -> float:
        is_different = order < differing
        return float(rejected(np.where(is_different, different, same), correction, level)[is_different].mean())

    return Power(chance(1), chance(math.ceil(size / 2)), chance(size))


def rejected(p: NDArray[np.float64], correction: str, level: float) -> NDArray[np.bool_]:
    """Return for each p whether it is at most `level` after the correction. Each row of `p` contains the p
    values of a family."""
    size = p.shape[1]
    ordered, rank = np.sort(p, axis=1), np.arange(1, size + 1)
    share = rank / size if correction == "bh" else 1 / (size - rank + 1)
    is_small = ordered <= level * share * _ROUNDING
    # Benjamini-Hochberg: up to the last p that meets its bound; Holm: up to the first that does not.
    is_small = np.flip(np.logical_or.accumulate(np.flip(is_small, 1), axis=1), 1) if correction == "bh" else is_small
    count = np.logical_and.accumulate(is_small, axis=1).sum(axis=1)
    least = np.concatenate([np.full((len(p), 1), -1.0), ordered], axis=1)[np.arange(len(p)), count]
    below: NDArray[np.bool_] = p <= least[:, None]
    return below


def _p(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the two-sided p of the signed-rank test along the last axis, for values without ties."""
    blocks = differences.shape[-1]
    by_size = np.argsort(np.abs(differences), axis=-1)
    above = (np.take_along_axis(differences > 0, by_size, axis=-1) * np.arange(1, blocks + 1)).sum(axis=-1)
    one_sided: NDArray[np.float64] = cumulative(blocks)[np.minimum(above, blocks * (blocks + 1) // 2 - above)]
    return np.minimum(1.0, 2 * one_sided)
