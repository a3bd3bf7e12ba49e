"""One observation under two names: in a closed loop goodput is latency, told the other way round.

Each user waits for its last answer, so what a trial carried in its time is users x size / mean latency: nothing but the
latencies themselves decides it (Little, Oper. Res. 9, 1961). Whichever of the two a study names first counts. The other
is shown beside it, takes no place in a family, in the tally of the A/A pairs or among interactions, and is called
different or equivalent only where the first one is.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from h123.analysis.document import Cell, Judged, RepeatsRow
from h123.study import METRICS, Parameters

FEWEST = 6
"""Pairs of which a correlation is told."""


def repeated(metric: str, asked: Sequence[str], trials: Iterable[Parameters]) -> str | None:
    """The metric whose observation `metric` repeats, of those that a study asks, in its order; None where it is one of
    its own."""
    same = METRICS[metric].observation
    first = next((name for name in asked if METRICS[name].observation == same), metric)
    closed = not any(parameters.workload.open_loop for parameters in trials)
    return first if metric != first and closed else None


def repeats(judged: Sequence[Judged]) -> list[RepeatsRow]:
    """The `repeats` of verdicts.json: which metric repeats which, and how closely the ratios of blocks go together."""
    found: list[RepeatsRow] = []
    for metric, of in dict.fromkeys((c["metric"], of) for c in judged if (of := c["repeats"])):
        mine = [c for c in judged if c["metric"] == metric and c["repeats"] == of]
        known = [r for c in mine if (r := _correlation(c, _original(c, judged))) is not None]
        typical = float(np.median(known)) if known else None
        found.append({"metric": metric, "of": of, "comparisons": len(mine), "correlation": typical})
    return found


def _original(c: Judged, judged: Sequence[Judged]) -> Judged:
    return next(o for o in judged if o["metric"] == c["repeats"] and _between(o) == _between(c))


def _between(c: Judged) -> tuple[Cell, str, str, bool]:
    return c["cell"], c["a"], c["b"], c["twin"]


def _correlation(c: Judged, original: Judged) -> float | None:
    """Pearson's, of the logarithms of the blocks' ratios."""
    first, second = ({pair["block"]: pair["ratio"] for pair in one["pairs"] if pair["ratio"]} for one in (c, original))
    both = np.log([(first[block], second[block]) for block in first if block in second])
    if len(both) < FEWEST or not np.all(both.std(axis=0) > 0):
        return None
    return float(np.corrcoef(both.T)[0, 1])
