"""One observation under two names: in a closed loop goodput is latency, told the other way round.

Each user waits for its last answer, so what a trial carried in its time is users x size / mean latency: nothing but the
latencies themselves decides it (Little, Oper. Res. 9, 1961). Whichever of the two a study names first counts. The other
is shown beside it, takes no place in a family, in the tally of the A/A pairs or among interactions, and is called
different or equivalent only where the first one is.
"""

from collections.abc import Iterable, Sequence

from h123.study import METRICS, Parameters


def repeated(metric: str, metrics: Sequence[str], trials: Iterable[Parameters]) -> str | None:
    """The metric whose observation `metric` repeats, of those that a study asks, in its order; None where it is one of
    its own."""
    same = METRICS[metric].observation
    first = next((name for name in metrics if METRICS[name].observation == same), metric)
    closed = not any(parameters.workload.open_loop for parameters in trials)
    return first if metric != first and closed else None
