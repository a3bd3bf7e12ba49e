"""Measures how often intervals of two independent samples contain the truth.

    PYTHONPATH=src python bench/unpaired.py

Compares Welch's interval on logarithms, which `h123 diff` uses, with the interval of Mann-Whitney's test. Prints a line
for each shape of the values and each pair of sizes and spreads.
"""

import numpy as np
from scipy import stats

from h123.diff import CONFIDENCE, interval

SEED, TIMES = 20261124, 2000
SIZES = ((8, 1, 8, 1), (8, 1, 8, 3), (8, 3, 20, 1), (8, 1, 20, 3), (6, 3, 30, 1))
"""The number of values before and their spread, and the number of values after and their spread."""
SHAPES = ("normal", "skewed", "outliers")


def sample(random: np.random.Generator, shape: str, spread: float, size: int) -> np.ndarray:
    """Draw logarithms whose mean is 0."""
    match shape:
        case "skewed":
            return spread * (random.exponential(1, size) - 1)
        case "outliers":
            far = random.random(size) < 0.08
            return spread * (random.normal(0, 1, size) + far * random.exponential(6, size) - 0.08 * 6)
        case _:
            return random.normal(0, spread, size)


def held(random: np.random.Generator, shape: str, sizes: tuple[int, float, int, float]) -> tuple[float, float]:
    """Return the shares of Welch's and of Mann-Whitney's intervals that contain the true ratio, 1."""
    welch = ranks = 0
    for _ in range(TIMES):
        before, after = sample(random, shape, 0.1 * sizes[1], sizes[0]), sample(random, shape, 0.1 * sizes[3], sizes[2])
        found = interval(list(before), list(after))
        assert found is not None
        welch += (found.low or 0) <= 1 <= (found.high or np.inf)
        # Its interval holds what its test does not reject.
        ranks += stats.mannwhitneyu(before, after).pvalue > 1 - CONFIDENCE
    return welch / TIMES, ranks / TIMES


if __name__ == "__main__":
    random = np.random.default_rng(SEED)
    print(f"seed {SEED}, {TIMES} times each; {CONFIDENCE:.0%} is asked for")
    print(f"{'shape':10}{'before':>16}{'after':>16}{'Welch':>8}{'ranks':>8}")
    for shape in SHAPES:
        for sizes in SIZES:
            welch, ranks = held(random, shape, sizes)
            sides = [f"{count} of spread {spread}" for count, spread in (sizes[:2], sizes[2:])]
            print(f"{shape:10}{sides[0]:>16}{sides[1]:>16}{welch:8.1%}{ranks:8.1%}")
