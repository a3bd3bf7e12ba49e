"""Averages the requests of each trial as the paper on the REST-API study does: one mean and one median per trial."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from h123.analysis.as_published.pooled import Run
from h123.analysis.as_published.rows import Centre, LinkBounds, Replication, ReplicationsRow
from h123.analysis.statistics.signedrank import SignedRank

Statistic = Literal["mean", "median"]


def replications(cell: Mapping[str, str], metric: str, runs: Sequence[Run], link: LinkBounds | None) -> ReplicationsRow:
    """Return one element of `as_published.replications` (docs/contracts/verdicts.md)."""
    trials: list[Replication] = [
        {
            "block": run.block,
            "requests": len(run.values),
            "mean": float(run.values.mean()),
            "median": float(np.median(run.values)),
        }
        for run in runs
    ]
    return {"cell": dict(cell), "metric": metric, "trials": trials, "link": link}


def centre(trials: Iterable[Replication], statistic: Statistic) -> Centre:
    """Return the mean of the trials' means, or the median of their medians, with an interval over the trials."""
    values = [trial[statistic] for trial in trials]
    estimate = SignedRank(values).estimate()
    return {
        "value": float(np.mean(values) if statistic == "mean" else np.median(values)),
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "trials": len(values),
    }


def change(a: Iterable[Replication], b: Iterable[Replication], statistic: Statistic) -> Centre | None:
    """Return the relative change a / b - 1, paired by block. Return None if no block has both a and b."""
    first, second = _by_block(a, statistic), _by_block(b, statistic)
    blocks = sorted(first.keys() & second.keys())
    if not blocks:
        return None
    estimate = SignedRank([np.log(first[block] / second[block]) for block in blocks]).estimate()
    return {
        "value": float(np.expm1(estimate.centre)),
        "low": float(np.expm1(estimate.low)),
        "high": float(np.expm1(estimate.high)),
        "confidence": estimate.confidence,
        "trials": len(blocks),
    }


def _by_block(trials: Iterable[Replication], statistic: Statistic) -> dict[int, float]:
    """Return one value per block. If imported samples have several runs in a block, use their median."""
    by_block: dict[int, list[float]] = {}
    for trial in trials:
        by_block.setdefault(trial["block"], []).append(trial[statistic])
    return {block: float(np.median(values)) for block, values in by_block.items()}
