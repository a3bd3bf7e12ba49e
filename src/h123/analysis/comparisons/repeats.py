"""Finds metrics that repeat an observation: in a closed loop, goodput is the inverse of latency.

Each user waits for the previous response before the next request, so a trial's rate is users x size / mean latency, and
only the latencies determine it (Little, Oper. Res. 9, 1961). The verdict comes from the metric that the study names
first. The report shows the second metric next to it. Families, the count of A/A pairs and interactions leave out the
second metric. The second metric is called different or equivalent only if the first one is.
"""

from collections.abc import Iterable, Sequence

from h123.study import METRICS, Parameters


def repeated(metric: str, metrics: Sequence[str], trials: Iterable[Parameters]) -> str | None:
    """Return the study's first metric that is computed from the same observation as `metric`. None if this is `metric`
    itself, or if a trial is an open loop."""
    same = METRICS[metric].observation
    first = next((name for name in metrics if METRICS[name].observation == same), metric)
    closed = not any(parameters.workload.open_loop for parameters in trials)
    return first if metric != first and closed else None
