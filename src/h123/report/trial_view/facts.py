"""Describes the attempts on a page: their settings, their results, and the data that they did not record."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import numpy as np

from h123.base.units import format_bytes, format_seconds, format_span
from h123.packets.capture import BLOCKED, DELIVERED, DOWN, LOST, POLICED, QUEUE_FULL, THINNED, TOO_LARGE, UP
from h123.report import level
from h123.report.trial_view import ends
from h123.report.trial_view.arm import Arm
from h123.study import Network
from h123.study.workload import ABANDONED

Row = tuple[str, list[str]]
"""The name of a fact, and its value for each arm."""
_LONG_S = 10


def rows(arms: Sequence[Arm]) -> list[Row]:
    """Return the rows of a table with a column for each attempt."""
    lines: list[tuple[str, Callable[[Arm], str]]] = [
        ("trial", _identity),
        ("is", lambda arm: ", ".join(map(level, arm.attempt.cell.values())) + (", twin" if arm.attempt.twin else "")),
        ("path down", lambda arm: _path(arm)[1]),
        ("path up", lambda arm: _path(arm)[0]),
        ("clock", lambda arm: arm.attempt.clock or "not known"),
        ("took", lambda arm: _span((arm.end_ns - arm.begin_ns) / 1e9)),
        ("requests", _requests),
        ("packets down", lambda arm: _packets(arm, DOWN)),
        ("packets up", lambda arm: _packets(arm, UP)),
        (
            "connections",
            lambda arm: (
                str(sum(not connection.continues for connection in arm.connections)) if arm.packets is not None else "–"
            ),
        ),
        ("processor of the server", lambda arm: ends.processor(arm, "server")),
        ("processor of the client", lambda arm: ends.processor(arm, "client")),
    ]
    if any(arm.datagrams for arm in arms):
        lines += [
            ("datagrams that the server sent", lambda arm: ends.sends(arm, "server")),
            ("datagrams that the client sent", lambda arm: ends.sends(arm, "client")),
            ("no room in the server's socket", lambda arm: ends.dropped(arm, "server")),
            ("no room in the client's socket", lambda arm: ends.dropped(arm, "client")),
        ]
    if any(any(arm.logs) for arm in arms):
        lines.append(("the server's stack (qlog)", ends.log))
    return [(name, [of(arm) for arm in arms]) for name, of in lines]


def _span(seconds: float) -> str:
    return format_span(seconds) if seconds >= _LONG_S else format_seconds(seconds)


def _identity(arm: Arm) -> str:
    choice = arm.attempt
    if choice.counts:
        return choice.name + (" (disturbed by the machine)" if choice.disturbed else "")
    why = "; ".join(f"{reason['code']}: {reason['detail']}" for reason in choice.reasons)
    return f"{choice.name}, which does not count: {why or 'another attempt does'}"


def _path(arm: Arm) -> tuple[str, str]:
    return Network(name="", title="", up=arm.link.up, down=arm.link.down).describe()


def _requests(arm: Arm) -> str:
    good = [row["end_ns"] - row["start_ns"] for row in arm.requests if not row["error"]]
    abandoned = sum(row["error"] == ABANDONED for row in arm.requests)
    failed = len(arm.requests) - len(good) - abandoned
    made_again = sum(row.get("tries", 1) > 1 for row in arm.requests)
    text = f"{len(good)}, median {format_seconds(median(good) / 1e9)}" if good else "none that succeeded"
    others = {"failed": failed, "abandoned": abandoned, "sent again": made_again}
    return "; ".join([text, *(f"{count} {what}" for what, count in others.items() if count)])


def _packets(arm: Arm, way: int) -> str:
    if arm.packets is None:
        return "not recorded"
    of = arm.of_way(way)
    counts = Counter(of["fate"].tolist())
    delivered = of["bytes"][(of["fate"] == DELIVERED) & (of["left_ns"] > 0)]
    size = format_bytes(int(delivered.sum(dtype=np.int64)))
    losses = [f"{counts[LOST]} lost", f"{counts[QUEUE_FULL]} found the queue full"]
    others = {
        BLOCKED: "blocked",
        POLICED: "policed",
        TOO_LARGE: "too large for the path",
        THINNED: "removed by ACK thinning",
    }
    losses += [f"{counts[fate]} {what}" for fate, what in others.items() if counts[fate]]
    return f"{len(delivered)} delivered ({size}), {', '.join(losses)}"


def missing(arms: Sequence[Arm]) -> list[str]:
    """Return sentences that say which figures cannot be drawn, and why."""
    if len(arms) == 1:
        return [line[:1].upper() + line[1:] for line in _missing(arms[0])]
    return [f"{arm.name}: {line}" for arm in arms for line in _missing(arm)]


def _missing(arm: Arm) -> Iterator[str]:
    if arm.trial.origin == "imported":
        yield "its samples were imported, without packets or TCP's state; only its requests are shown."
        return
    if arm.packets is None and arm.link.kind == "veth":
        yield "its link is a plain veth, whose packets are not recorded; figures that need them are left out."
    elif arm.packets is None:
        yield (
            "it has no record of packets (an earlier version of h123 measured it, or it did not begin); figures that "
            "need them are left out."
        )
    elif not len(arm.packets):
        yield "no packet reached its link."
    if arm.left_out:
        packets = len(arm.packets) if arm.packets is not None else 0
        yield f"the record holds its first {packets} packets; {arm.left_out} later ones are not shown."
    yield from ends.unread(arm)
