"""Describes latency against load: the knee, the maximum, and what a closed loop would have reported."""

from collections.abc import Iterator, Mapping, Sequence

from h123.analysis.comparisons.capacity import Capacity, CapacityRow, CapacityStep, Middle, RateLimit
from h123.base.relative import signed, signed_with_interval
from h123.base.units import format_seconds
from h123.report.text.words import cell_name, level, listed, percent
from h123.study import METRICS
from h123.study.metrics.quantity import RequestRate

_RATE = next(metric for metric in METRICS.values() if isinstance(metric.of, RequestRate))
BUSY = 0.9
"""The share of one processor from which the client may be the limit."""


def terminal_lines(capacity: Capacity | None) -> list[str]:
    """Return a line for each treatment, then one for each ratio. Empty if the campaign measured no capacity."""
    if capacity is None:
        return []
    lines = [f"Requests per second by {capacity['factor']} (docs/capacity.md):"]
    for row in capacity["rows"]:
        lines.append(f"  {cell_name(row['cell'])}: {knee(row)}; {maximum(row)}{limit(row)}")
    lines += [f"  {ratio_line(capacity, what)}" for what in ("maximum", "knee") if ratios(capacity, what)]
    return lines + [f"  {line}" for line in omissions(capacity["rows"])]


def knee(row: CapacityRow) -> str:
    """Describe the knee: `knee 5600 /s (5200 /s to 6100 /s)`."""
    return f"knee {rate_limit_words(row['knee'])}"


def maximum(row: CapacityRow) -> str:
    """Describe the maximum: `maximum 9400 /s (9100 /s to 9600 /s)`, with a note if the steps did not reach it."""
    if row["saturated"] or row["maximum"] is None:
        return f"maximum {rate_limit_words(row['maximum'])}"
    return f"maximum not reached: the last step, {rate(row['steps'][-1]['rate'])}, was answered in full"


def rate_limit_words(of: RateLimit | None) -> str:
    if of is None:
        return "not known: no block has all steps"
    bound = f"{of['bound']} " if of["bound"] else ""
    return f"{bound}{rate(of['value'])}{_between(of)}"


def rate(value: float | None) -> str:
    """Format a rate in requests per second."""
    return _RATE.format(value)


def _between(of: Middle) -> str:
    return "" if of["low"] is None else f" ({rate(of['low'])} to {rate(of['high'])})"


def limit(row: CapacityRow) -> str:
    """Return a note if the client's processor was busy at the maximum: the server may then be able to handle more.
    Otherwise return an empty string."""
    most = max((*row["steps"], *row["closed"]), key=lambda step: step["achieved"] or 0.0)
    if (most["client"] or 0.0) < BUSY:
        return ""
    return f"; the client used {percent(most['client'])} of its processor there, so the server may be able to do more"


def ratio_line(capacity: Capacity, what: str) -> str:
    """Return all ratios of maxima, or of knees, in one line."""
    rows = ratios(capacity, what)
    return f"Differences of {'maxima' if what == 'maximum' else 'knees'}: {', '.join(rows)}."


def ratios(capacity: Capacity, what: str) -> list[str]:
    """Return each ratio of maxima, or of knees, in words."""
    phrases = []
    for row in capacity["ratios"]:
        if row["what"] == what:
            where = cell_name(row["cell"])
            of = f"{level(row['a'])} / {level(row['b'])}"
            bounded = row["low"] is not None
            size = signed_with_interval(row["value"], row["low"], row["high"]) if bounded else signed(row["value"])
            phrases.append(f"{of}{f' ({where})' if where else ''} {size}")
    return phrases


def omissions(rows: Sequence[CapacityRow]) -> Iterator[str]:
    """Yield, for each treatment, the latency at the first step beyond its maximum, and what a closed loop would have
    reported."""
    for row in rows:
        step = overloaded(row)
        if step is None or step["tail"] is None:
            continue
        others = (
            [f"{format_seconds(step['sent_tail'])} from when they were sent"] if step["sent_tail"] is not None else []
        )
        others += [f"{format_seconds(load['tail'])} in the closed loop" for load in row["closed"] if load["tail"]]
        if others:
            yield (
                f"{cell_name(row['cell'])} at {rate(step['rate'])}: 99 of 100 requests took up to "
                f"{format_seconds(step['tail'])} from when they were due; {listed(others, 'and')}."
            )


def overloaded(row: CapacityRow) -> CapacityStep | None:
    """Return the lowest step that was more than the treatment could handle, or None."""
    most = row["maximum"]
    beyond = (step for step in row["steps"] if most and (step["rate"] or 0.0) > most["value"])
    return next(beyond, None)


def steps_table(row: CapacityRow) -> list[Mapping[str, str]]:
    """Return a row for each step, with closed loops last."""
    return [
        {
            "asked": rate(step["rate"]) if step["rate"] is not None else f"closed loop ({step['level']})",
            "achieved": rate(step["achieved"]),
            "latency": _seconds(step["latency"]),
            "tail": _seconds(step["tail"]),
            "sent_tail": _seconds(step["sent_tail"]),
            "client": percent(step["client"]),
        }
        for step in (*row["steps"], *row["closed"])
    ]


def _seconds(value: float | None) -> str:
    return "–" if value is None else format_seconds(value)
