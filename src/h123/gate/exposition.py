"""A gate as OpenMetrics text, for Prometheus' push gateway or the node exporter's text files."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Enum, Gauge, Info
from prometheus_client.openmetrics.exposition import generate_latest

from h123.gate.passage import STATUS, Passage

_LABELS = ["metric", "pair", "cell"]
_WORDS = list(STATUS)


def exposition(campaign: str, passages: Sequence[Passage]) -> str:
    """All of it. What is not known has no sample."""
    own = CollectorRegistry()
    Info("h123_gate_campaign", "What was held.", registry=own).info({"name": campaign})
    ratio = Gauge("h123_gate_ratio", "Of the pair's values.", _LABELS, registry=own)
    ends = {
        end: Gauge(f"h123_gate_ratio_{end}", f"The {end} end of its interval.", _LABELS, registry=own)
        for end in ("low", "high")
    }
    blocks = Gauge("h123_gate_blocks", "Blocks with a value on both sides.", _LABELS, registry=own)
    bound = Gauge("h123_gate_bound", "What a condition allows at most, or at least.", ["condition"], registry=own)
    verdict = Enum(
        "h123_gate_verdict", "What became of a condition.", ["condition", "cell"], states=_WORDS, registry=own
    )
    for one in passages:
        bound.labels(str(one.condition)).set(one.condition.bound)
        for cell in one.cells:
            held, where = cell.held, " ".join(cell.held.cell.values())
            labels = (held.metric, held.pair, where)
            verdict.labels(str(one.condition), where).state(cell.word)
            blocks.labels(*labels).set(held.blocks)
            for gauge, value in ((ratio, held.ratio), (ends["low"], held.low), (ends["high"], held.high)):
                if value is not None:
                    gauge.labels(*labels).set(value)
    text: bytes = generate_latest(own)  # type: ignore[no-untyped-call]
    return text.decode()
