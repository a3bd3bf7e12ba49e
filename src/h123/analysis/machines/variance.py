"""Separates how much ratios vary between machines from how much they vary from block to block on one machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

Groups = Mapping[str, Sequence[float]]
"""For each machine, one logarithm for each of its blocks."""


@dataclass(frozen=True)
class Deviations:
    """Two standard deviations of logarithms: between machines, and between the blocks of one machine."""

    between: float
    """The standard deviation between the machines' true means."""
    within: float
    """The standard deviation between the blocks of one machine."""


def spread(groups: Groups) -> Deviations | None:
    """Return the standard deviations between machines and within one machine, by the method of moments for a one-way
    analysis of variance with unequal groups. None if no machine has two blocks, because then the two deviations cannot
    be separated.

    Source: Searle, Casella, McCulloch, Variance Components (1992), section 3.6 (Henderson's method I).
    """
    had = [values for values in groups.values() if values]
    total, machines = sum(map(len, had)), len(had)
    if machines < 2 or total <= machines:
        return None
    within = within_squares(groups) / (total - machines)
    grand = fmean(chain.from_iterable(had))
    between = sum(len(values) * (fmean(values) - grand) ** 2 for values in had) / (machines - 1)
    size = (total - sum(len(values) ** 2 for values in had) / total) / (machines - 1)
    return Deviations(max(0.0, (between - within) / size) ** 0.5, within**0.5)


def within_squares(groups: Groups) -> float:
    """Return the sum of the squared distances of all values from their machine's mean."""
    return sum((value - fmean(values)) ** 2 for values in groups.values() if values for value in values)
