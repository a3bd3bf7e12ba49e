"""One observation under two names: in a closed loop, goodput is the inverse of latency.

Each user waits for its last answer, so a trial's rate is users x size / mean latency, and nothing but the latencies
decides it (Little, Oper. Res. 9, 1961). The one that a study names first counts. The report shows the other next to
it. That one takes no place in a family, in the count of the A/A pairs or among interactions, and is called different
or equivalent only if the first one is.
"""

from collections.abc import Iterable, Sequence

from h123.study import METRICS, Parameters


def repeated(metric: str, metrics: Sequence[str], trials: Iterable[Parameters]) -> str | None:
    """The study's first metric based on the same observation as `metric`. None if there is no other."""
    same = METRICS[metric].observation
    first = next((name for name in metrics if METRICS[name].observation == same), metric)
    closed = not any(parameters.workload.open_loop for parameters in trials)
    return first if metric != first and closed else None
