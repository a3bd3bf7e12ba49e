"""Writes a gate's outcome as OpenMetrics text, for Prometheus' push gateway or the node exporter's text files."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Enum, Gauge, Info
from prometheus_client.openmetrics.exposition import generate_latest

from h123.base.terminal.visible import in_one_line
from h123.gate.outcome import STATUS, ConditionOutcome

_LABELS = ["metric", "pair", "cell"]
_WORDS = list(STATUS)


def exposition(campaign: str, outcomes: Sequence[ConditionOutcome]) -> str:
    """Return the outcome of the conditions as OpenMetrics text. Unknown figures are left out."""
    own = CollectorRegistry()
    Info("h123_gate_campaign", "The campaign that the gate judged.", registry=own).info({"name": in_one_line(campaign)})
    gauges = {
        kind: [
            Gauge(f"h123_gate_{kind}", of, labels, registry=own),
            *(
                Gauge(f"h123_gate_{kind}_{end}", f"The {end} end of the {kind}'s interval.", labels, registry=own)
                for end in ("low", "high")
            ),
        ]
        for kind, of, labels in (
            ("ratio", "The ratio of the pair's values.", _LABELS),
            ("value", "The value of a level, in the metric's unit.", [*_LABELS, "unit"]),
        )
    }
    blocks = Gauge(
        "h123_gate_blocks", "Blocks with a value, or for a ratio, with a value of both levels.", _LABELS, registry=own
    )
    bound = Gauge(
        "h123_gate_bound", "The largest or smallest value that a condition allows.", ["condition"], registry=own
    )
    verdict = Enum(
        "h123_gate_verdict", "The verdict on a condition.", ["condition", "cell"], states=_WORDS, registry=own
    )
    for outcome in outcomes:
        condition = in_one_line(str(outcome.condition))
        bound.labels(condition).set(outcome.condition.bound)
        for cell in outcome.cells:
            figure, where = cell.figure, in_one_line(" ".join(cell.figure.cell.values()))
            labels = (figure.metric, in_one_line(figure.subject), where)
            verdict.labels(condition, where).state(cell.word)
            blocks.labels(*labels).set(figure.blocks)
            kind, unit = ("ratio", ()) if figure.unit is None else ("value", (figure.unit,))
            for gauge, value in zip(gauges[kind], (figure.value, figure.low, figure.high), strict=True):
                if value is not None:
                    gauge.labels(*labels, *unit).set(value)
    text: bytes = generate_latest(own)  # type: ignore[no-untyped-call]
    return text.decode()
