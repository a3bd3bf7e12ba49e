"""Figures of a discipline whose random numbers differ from run to run, and whether the link's agree with Linux's.

A figure differs if two things are true: the means of the kernel's runs and of the link's runs differ by more than
`TOLERANCE`, and a Mann-Whitney test rejects that both kinds of runs have the same distribution. Its p value is adjusted
for the number of figures (Holm). So if the link is right, the probability that any figure differs is at most `LEVEL`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind

from h123.analysis.statistics.families import adjust

QUANTILES = (0.5, 0.9, 0.99)
TOLERANCE = 0.01
"""The share by which the means may differ."""
LEVEL = 0.05
LINK_RUNS = 5
"""Runs of the link for each run of the kernel, which takes much longer."""


@dataclass(frozen=True)
class Figure:
    """What the kernel's runs and the link's runs gave for one thing."""

    name: str
    kernel: Sequence[float]
    link: Sequence[float]

    @property
    def is_constant(self) -> bool:
        """Whether all runs agree, as for marks where nothing is marked. There is nothing to test then."""
        return len({*self.kernel, *self.link}) == 1

    @property
    def is_near(self) -> bool:
        """Whether the means differ by at most `TOLERANCE`."""
        return bool(abs(np.mean(self.link) - np.mean(self.kernel)) <= TOLERANCE * np.mean(self.kernel))

    @cached_property
    def p(self) -> float:
        """The probability of runs that differ as much, if both kinds have the same distribution."""
        return 1.0 if self.is_constant else float(mannwhitneyu(self.kernel, self.link).pvalue)

    @property
    def uncertainty(self) -> float:
        """Half of the 95 % interval of the difference between the means (Welch), as a share of the kernel's mean."""
        if self.is_constant:
            return 0.0
        interval = ttest_ind(self.link, self.kernel, equal_var=False).confidence_interval(0.95)
        mean = np.mean(self.kernel)
        return float((interval.high - interval.low) / 2 / mean) if mean else math.inf

    def __str__(self) -> str:
        return f"{np.mean(self.kernel):.4g} ± {np.std(self.kernel, ddof=1):.2g}, {np.mean(self.link):.4g}"


def figures(delays: Sequence[float | None], marked: Sequence[bool]) -> list[float]:
    """Return the percentages of packets dropped (without delay) and marked, and quantiles of the delay."""
    waited = sorted(delay for delay in delays if delay is not None)
    shares = [100 * (len(delays) - len(waited)) / len(delays), 100 * sum(marked) / len(delays)]
    return [*shares, *(waited[int(quantile * len(waited))] for quantile in QUANTILES)]


def differing(compared: Sequence[Figure]) -> list[Figure]:
    """Return the figures that differ."""
    adjusted = adjust([figure.p for figure in compared], "holm")
    return [figure for figure, p in zip(compared, adjusted, strict=True) if p < LEVEL and not figure.is_near]


def summary(compared: Sequence[Figure]) -> str:
    """Return how many figures are near and how many differ, and how small a difference the runs could show."""
    tested = [figure for figure in compared if not figure.is_constant]
    by_chance, small = LEVEL * len(tested), sum(figure.p < LEVEL for figure in tested)
    least = min(adjust([figure.p for figure in compared], "holm"))
    widths = [100 * figure.uncertainty for figure in tested]
    return (
        f"{len(differing(compared))} of {len(compared)} figures differ; the means of"
        f" {sum(figure.is_near for figure in compared)} are within {100 * TOLERANCE:g} %\n"
        f"p < {LEVEL:g} for {small} of the {len(tested)} figures that vary; about {by_chance:.1f} are expected by"
        f" chance. The smallest p, adjusted for their number, is {least:.2g}\n"
        f"uncertainty of the difference (95 %): median {np.median(widths):.2g} %, 90th percentile"
        f" {np.quantile(widths, 0.9):.2g} %, largest {max(widths):.2g} %"
    )
