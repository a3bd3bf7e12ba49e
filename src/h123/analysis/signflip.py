"""Sign-flip permutation tests of paired differences: is there one, and is it smaller than matters?

Under the null hypothesis a pair's difference has either sign with the same probability. The test enumerates all 2^n
assignments of signs up to 13 pairs; above that it draws 8192 of them from the campaign's seed and counts the observed
one in (Phipson and Smyth 2010), so its smallest p stays that of 13 pairs.
Reference: Fisher, The Design of Experiments (1935), section 21; Ernst, Permutation Methods, Statist. Sci. 19 (2004).
"""

import math
from typing import Literal, cast

import numpy as np
from scipy.stats import permutation_test

from h123.analysis.estimate import Floats

EXACT_UP_TO = 13
RESAMPLES = 2**EXACT_UP_TO
_BATCH = 512

Alternative = Literal["two-sided", "less", "greater"]


def sign_flip(differences: Floats, seed: int, alternative: Alternative = "two-sided") -> Floats:
    """p values of many comparisons at once: `differences` is (comparisons, pairs), pairs >= 2; p is (comparisons,).

    The statistic is the mean. `less`: small where the mean is below zero.
    """
    if np.any(~np.isfinite(differences)):
        raise ValueError("a difference is not finite")
    result = permutation_test(
        (differences,),
        _mean,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        vectorized=True,
        axis=-1,
        rng=np.random.default_rng(seed),
    )
    return np.minimum(1.0, cast(Floats, result.pvalue))


def equivalence(differences: Floats, margin: float, seed: int) -> Floats:
    """p values of two one-sided tests (TOST) that the mean log-ratio is within +-log(1 + margin).

    Shapes as in `sign_flip`; p is the larger of the two. Small means: whatever the difference, it is within the margin.
    Reference: Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987).
    """
    bound = math.log1p(margin)
    above = sign_flip(differences + bound, seed, "greater")
    below = sign_flip(differences - bound, seed, "less")
    return np.maximum(above, below)


def attainable(pairs: int, sides: int = 2) -> float:
    """The smallest p that any data of so many pairs can have, in a test of one or two sides."""
    if pairs < 1:
        return 1.0
    smallest = 2.0**-pairs if pairs <= EXACT_UP_TO else 1 / (RESAMPLES + 1)
    return min(1.0, sides * smallest)


def _mean(sample: Floats, axis: int) -> Floats:
    return cast(Floats, np.mean(sample, axis=axis))
