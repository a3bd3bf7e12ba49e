"""Estimates head-of-line blocking: how long data that had already arrived waited behind a gap in the data of other
requests on the same connection.

TCP delivers no byte behind a missing one. While a lost packet has not been resent and later data arrives, all requests
on the connection wait, whichever of them the lost bytes belong to. Encryption hides which request the lost bytes belong
to, so losses are attributed to requests in proportion to the sizes of their bodies. QUIC delivers each stream's bytes
independently.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import NUMBER, REPAIRS
from h123.causes.connections.connection import NEVER, Sending
from h123.causes.connections.losses import lost_packets, resent
from h123.causes.senders.sender import Sender
from h123.causes.spans import Spans, Times
from h123.packets.capture import TCP


@dataclass(frozen=True)
class Body:
    """The body that one request moves in one direction, with the times, in ns, at which the request begins and ends."""

    start: int
    end: int
    bytes: int


def head_of_line_ns(sender: Sender, bodies: Sequence[Body]) -> NDArray[np.float64]:
    """Return, for each body, how many ns it waited for repairs of other bodies' losses: the time of each repair,
    multiplied by the other bodies' share of the total size of the bodies being transferred."""
    spans = holes(sender.sending, sender.answers, sender.round_trip_ns)
    starts, ends = (np.array([getattr(body, name) for body in bodies], np.int64) for name in ("start", "end"))
    sizes = np.array([body.bytes for body in bodies], np.float64)
    if not len(spans.begins) or not len(bodies):
        return np.zeros(len(bodies))
    edges = np.unique(np.concatenate([spans.edges, sender.course.edges, starts, ends]))
    moments = edges[:-1] + np.diff(edges) // 2
    counted = spans.hold(moments) & np.isin(sender.course.causes_at(moments), [NUMBER[cause] for cause in REPAIRS])
    lengths = np.where(counted, np.diff(edges), 0).astype(float)
    under_way = _under_way(edges, starts, ends, sizes)
    shares = np.divide(lengths, under_way, out=np.zeros_like(lengths), where=under_way > 0)
    # For a body: the whole time less its own share.
    of_all, per_byte = (np.concatenate([[0.0], np.cumsum(part)]) for part in (lengths, shares))
    first, last = np.searchsorted(edges, starts), np.searchsorted(edges, ends)
    blocked_ns = (of_all[last] - of_all[first]) - sizes * (per_byte[last] - per_byte[first])
    return np.where(sizes > 0, np.maximum(blocked_ns, 0.0), 0.0)


def holes(sending: Sending, answers: Sending, round_trip_ns: int) -> Spans:
    """Return the spans in which TCP's data had a gap, by the sender's clock. A gap begins when the sender, after a lost
    packet, sends a packet with later bytes that arrives. It ends when the sender sends the replacement of the lost
    packet."""
    places = lost_packets(sending)
    if not len(places) or sending.packets["protocol"][0] != TCP:
        return Spans.union(np.empty(0, np.int64), np.empty(0, np.int64))
    places_of_bytes = sending.offsets
    behind = np.flatnonzero(sending.speaks & sending.arrived)
    furthest = np.maximum.accumulate(places_of_bytes[behind])
    begins = np.append(sending.at[behind], NEVER)[np.searchsorted(furthest, places_of_bytes[places], side="right")]
    return Spans.union(np.maximum(begins, sending.at[places]), resent(sending, answers, round_trip_ns))


def _under_way(edges: Times, starts: Times, ends: Times, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the total size of the bodies being transferred between each edge and the next."""
    change = np.zeros(len(edges))
    np.add.at(change, np.searchsorted(edges, starts), sizes)
    np.add.at(change, np.searchsorted(edges, ends), -sizes)
    return np.cumsum(change)[:-1]
