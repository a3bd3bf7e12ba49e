"""Computes the exact confidence interval of a quantile of one trial's latencies, from their order statistics alone.

Of n independent values, the number B below the true quantile q_p is binomial (n, p), whatever the distribution. So q_p
lies between the l-th and the u-th smallest value with probability P(l <= B <= u - 1). Reference: David and Nagaraja,
Order Statistics (2003), section 7.1. The requests of a trial are not quite independent, so the interval is more likely
to be too narrow than too wide.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from h123.base.distributions import binomial_cdf
from h123.measures.attempts import Attempt
from h123.store.folder import CampaignFolder
from h123.store.samples import succeeded_sql
from h123.store.tables import connect

CONFIDENCE = 0.95

_SQL = """
SELECT filename, quantile_disc(CASE WHEN {ok} THEN end_ns - start_ns ELSE 'inf'::DOUBLE END,
                               [{shares}])
FROM read_parquet($files, filename = true) WHERE phase = 'warm' GROUP BY filename
"""


@dataclass(frozen=True)
class Ranks:
    """The ranks, from 1, of the two order statistics between which a quantile lies with this confidence."""

    low: int
    high: int
    confidence: float


@cache
def ranks(n: int, share: float) -> Ranks | None:
    """Return the ranks of the interval for the quantile `share` of n values. The interval has equal tails if n permits;
    otherwise its upper end is the largest value, and the lower tail gets the rest of the error. None if n is too small
    for CONFIDENCE: the quantile 0.95 needs 59 values, 0.99 needs 299."""
    below = binomial_cdf(n, share)
    error = 1 - CONFIDENCE
    high = min(n, int(np.searchsorted(below, 1 - error / 2)) + 1)
    remainder = error / 2 if 1 - below[high - 1] <= error / 2 else error - (1 - below[high - 1])
    low = int(np.searchsorted(below, remainder, side="right"))
    if low < 1:
        return None
    return Ranks(low, high, float(below[high - 1] - below[low - 1]))


def intervals(
    folder: CampaignFolder, attempts: Mapping[Path, Attempt], share: float
) -> dict[Path, tuple[float, float]]:
    """Return, for each attempt, the confidence interval of a latency quantile, in seconds. The keys are the paths of
    samples.parquet. A failed request has an infinite latency. Attempts with too few requests are left out."""
    alike: dict[tuple[int, str], list[Path]] = defaultdict(list)
    for file, attempt in attempts.items():
        alike[attempt.summary.warm, succeeded_sql(attempt.workload.statuses())].append(file)
    connection, interval_of = connect(folder), dict[Path, tuple[float, float]]()
    for (count, ok), attempts_of_size in alike.items():
        if between := ranks(count, share):
            shares = ", ".join(repr((rank - 0.5) / count) for rank in (between.low, between.high))
            query = _SQL.format(shares=shares, ok=ok)
            rows = connection.execute(query, {"files": [str(file) for file in attempts_of_size]}).fetchall()
            interval_of |= {Path(file): (low * 1e-9, high * 1e-9) for file, (low, high) in rows}
    return interval_of
