"""Lists all metrics of a trial by name.

Studies, measures, analysis and report look metrics up in this table. measures/metrics.py computes a value from a
trial's samples and report.json, according to `Metric.of`. docs/contracts/metrics.md defines each metric.
"""

from typing import Annotated, Final

from pydantic import BeforeValidator

from h123.base.complaints import choose, excerpt
from h123.study.metrics import costs, faults, pages, requests
from h123.study.metrics.metric_type import RATE, Metric
from h123.study.metrics.quantity import BodyRate


def _table(*rows: Metric) -> dict[str, Metric]:
    return {row.name: row for row in rows}


METRICS = _table(*requests.ROWS, *pages.ROWS, *costs.ROWS, *faults.ROWS)
PRINTED = _table(
    METRICS["latency"],
    METRICS["ttfb"],
    Metric(
        "throughput",
        title="Throughput per request",
        unit="B/s",
        of=BodyRate("request"),
        words=RATE,
        noun="throughput per request",
        meaning="payload size over latency, request by request",
        better="higher",
        repeats="latency",
    ),
)
"""The request metrics whose values published works give (published/*.yaml) and compare with their own procedure."""


def metric(name: str) -> Metric:
    """Return the metric of this name for display. An unknown name, from a claim or a later version, becomes a metric
    with that name as its title."""
    return METRICS.get(name) or PRINTED.get(name) or Metric(name, name, noun=name)


def _name_in(table: dict[str, Metric]) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in list(table):
            raise ValueError(f"{excerpt(value)} is not allowed; {choose(value, table)}")
        return value

    return BeforeValidator(check)


MetricName = Annotated[str, _name_in(METRICS)]
PrintedName = Annotated[str, _name_in(PRINTED)]

TAIL: Final = METRICS["latency_p99"]
"""The metric for the times of the slowest requests."""
QUEUE: Final = METRICS["queue_delay"]
"""The metric for how long packets wait at the link."""
TRAFFIC: Final = METRICS["sent_down"]
"""The metric for the bytes that the server sends per request."""
