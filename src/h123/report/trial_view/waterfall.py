"""Draws a waterfall of the first requests. Each bar is divided into the causes of a request's time."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import altair as alt

from h123.base.units import format_seconds
from h123.causes import CAUSES, WORDS, ExplainedTrial
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.figures.visits import AWAITING, CONNECTING, FAILED, RECEIVING, STAGES, WAITING, stages
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.trial_view.arm import Arm
from h123.store import Sample

MOST = 100
"""The largest number of requests drawn per arm."""
_BAR = 5
"""The height of a request in pixels."""
_WORTH = 0.004
"""The smallest share of the axis at which a part is drawn on its own. A smaller part is drawn together with the
previous one."""
PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    WORDS["tries"]: (STAGES[FAILED], ("tries",)),
    WAITING: (STAGES[WAITING], ("place",)),
    CONNECTING: (STAGES[CONNECTING], ("connecting", "amplification", "retry", "blocked")),
    "a round trip": ("inconclusive", ("trip",)),
    "the server": ("equivalent", ("server", "server-work", "idle")),
    "windows and limits": (
        "other-dot",
        ("slow-start", "window", "marked", "limit", "receiver", "stream-limit", "connection-limit", "nagle", "held"),
    ),
    "a path that is gone": ("dot", ("gone", "validating", "anew")),
    "losses": ("worse", ("cut", "mending", "queue-loss", "policed", "too-large", "drops")),
    "queueing": ("queue", ("queue", "cross")),
    WORDS["rate"]: ("hairline", ("rate",)),
    "client, or not shown": ("muted", ("client-work", "running", "unattributed")),
    AWAITING: (STAGES[AWAITING], ()),
    RECEIVING: (STAGES[RECEIVING], ()),
    FAILED: (STAGES[FAILED], ()),
}
"""The parts of bars in their order, with the colours and causes of each. Parts without causes are known only from the
client."""
_OF_CAUSE = {cause: part for part, (_, causes) in PARTS.items() for cause in causes}

Parts = dict[str, int]
"""The time of each part in ns, in the order of PARTS."""


def waterfall_figure(arms: Sequence[Arm]) -> Figure | None:
    """Draw a panel for each attempt, with a common axis. None if no request is known."""
    bars_by_arm = {arm.name: list(_bars(arm)) for arm in arms if arm.requests}
    if not bars_by_arm:
        return None
    end = max(start + sum(parts.values()) for bars in bars_by_arm.values() for _, start, parts in bars)
    unit_ns, unit = (1e9, "s") if end >= 1e9 else (1e6, "ms")
    panels = {name: _marks(bars, end, unit_ns) for name, bars in bars_by_arm.items()}
    used = [part for part in PARTS if any(mark["part"] == part for marks in panels.values() for mark in marks)]

    def draw(width: int) -> Any:
        charts = []
        for name, marks in panels.items():
            last = name == list(panels)[-1]
            axis = alt.Axis(title=f"{unit} since the client began" if last else None, labels=last, tickCount=8)
            scale = alt.Scale(domain=[0, end / unit_ns], nice=False)
            colour = alt.Scale(domain=used, range=[COLOURS[PARTS[part][0]] for part in used])
            legend = alt.Legend(columns=2 if width == NARROW else 4, labelLimit=0, columnPadding=26)
            rows = len({mark["row"] for mark in marks})
            bars = alt.Chart(FigureRows(marks)).mark_rect(aria=True, height=_BAR - 1)
            chart = bars.encode(
                x=alt.X("from:Q", scale=scale, axis=axis),
                x2=alt.X2("to:Q"),
                y=alt.Y("row:O", axis=None),
                color=alt.Color("part:N", scale=colour, sort=used, legend=legend),
                description=alt.Description("told:N"),
            )
            title = alt.TitleParams(f"{name}: {rows} requests", anchor="start", fontSize=12, color=COLOURS["ink"])
            charts.append(chart.properties(width=width - 24, height=_BAR * rows, title=title))
        return alt.vconcat(*charts, spacing=14)

    return Figure("waterfall", "Requests", _caption(arms), draw(WIDE), draw(NARROW))


def _caption(arms: Sequence[Arm]) -> str:
    text = "A bar for each request, from its start to its end"
    if any(len(arm.requests) > MOST for arm in arms):
        text += f"; only the first {MOST} of {' and '.join(str(len(arm.requests)) for arm in arms)}"
    if any(arm.explained is not None for arm in arms):
        text += (
            ". Colours show what its time was spent on (h123 why), from its packets: parts have the right lengths, "
            "but only connecting has the right place"
        )
    if any(arm.explained is None or arm.left_out for arm in arms):
        text += (
            ". Where no packets were recorded, the parts are the client's own times: until its connection was open, "
            "until the response's first byte, until its last"
        )
    return f"{text}. Point at a part to read it."


def _bars(arm: Arm) -> Iterator[tuple[Sample, int, Parts]]:
    """Yield the first requests of an arm, each with the time at which it began, in ns, and its parts."""
    parts_by_request, requests = _parts_by_request(arm.explained), arm.requests[:MOST]
    for row, marked in zip(requests, stages(requests), strict=True):
        yield row, row["start_ns"] - arm.begin_ns, parts_by_request.get(_key(row)) or marked


def _parts_by_request(explained: ExplainedTrial | None) -> dict[tuple[int, ...], Parts]:
    parts_by_request: dict[tuple[int, ...], Parts] = {}
    if explained is not None:
        for row, seconds in zip(explained.rows, explained.seconds, strict=True):
            parts = dict.fromkeys(PARTS, 0)
            for cause, duration in zip(CAUSES, seconds, strict=True):
                parts[_OF_CAUSE[cause.name]] += round(duration * 1e9)
            parts_by_request[_key(row)] = parts
    return parts_by_request


def _key(row: Sample) -> tuple[int, ...]:
    return row["user"], row["start_ns"], row["end_ns"]


def _marks(bars: Sequence[tuple[Sample, int, Parts]], end: int, scale: float) -> list[Mark]:
    """Return marks for the parts that are wide enough to see. The total length of each bar is unaffected."""
    return [mark for number, bar in enumerate(bars) for mark in _pieces(number, bar, end, scale)]


def _pieces(number: int, bar: tuple[Sample, int, Parts], end: int, unit_ns: float) -> Iterator[Mark]:
    row, start, parts = bar
    whole = sum(parts.values())
    request = f"request {number + 1} ({', '.join(filter(None, (row['phase'], row['error'])))}), "
    request += format_seconds(whole / 1e9)
    at, pieces = start, [(part, duration) for part, duration in parts.items() if duration > 0]
    largest = max((duration for _, duration in pieces), default=0)
    marks: list[Mark] = []
    for part, duration in pieces:
        if duration >= min(_WORTH * end, largest):
            sentence = f"{request}: {format_seconds(duration / 1e9)} {part}"
            marks.append({"row": number, "part": part, "from": at / unit_ns, "told": sentence})
        at += duration
    for piece, following in zip_longest(marks, marks[1:]):
        piece["to"] = following["from"] if following else (start + whole) / unit_ns
    if marks:
        marks[0]["from"] = start / unit_ns
    yield from marks
