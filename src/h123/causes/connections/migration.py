"""Explains a connection whose client moves (RFC 9000, 9), from packets.

Until the server receives something from the new address, the server's packets do not reach the client. Then the server
validates the path: it sends a challenge. The server may send data before the client responds to the challenge, or only
after that.
"""

from collections.abc import Sequence

import numpy as np

from h123.causes.cause import GONE, VALIDATING
from h123.causes.connections.connection import FULL, Connection
from h123.causes.spans import Limits, Spans, Times

_DATA = FULL // 2
"""The smallest payload, in bytes, of a packet that is data or a challenge, which may be padded."""


def elsewhere(of: Connection, moves: Sequence[int]) -> Limits:
    """Return, by cause, the spans of time in which the server's data did not reach the client after a move."""
    changes = [change for at in moves if of.begin < at and (change := _after(of, at)) is not None]
    if not changes:
        return []
    begins, first_packets, flows = np.array(changes, np.int64).T
    return [(GONE, Spans.union(begins, first_packets)), (VALIDATING, Spans.union(first_packets, flows))]


def _after(of: Connection, at: int) -> tuple[int, int, int] | None:
    """Return three times: when data stopped arriving after a move, when the server received something from the new
    address, and when it sent data there. None if it never received anything from there."""
    up, down = of.up, of.down
    before = np.unique(up.packets["source"][up.at < at])
    spoke = np.flatnonzero(up.arrived & ~np.isin(up.packets["source"], before))
    if not len(spoke):
        return None
    to_old = np.isin(down.packets["destination"], before)
    # packets may still arrive for a while, if the networks overlap
    old_path_times = down.delivered_at[to_old & down.arrived & down.speaks]
    begin = max(at, int(old_path_times.max(initial=0)))
    first_packet = max(begin, int(up.delivered_at[spoke].min()))
    return begin, first_packet, max(first_packet, _flows(of, np.flatnonzero(~to_old), spoke))


def _flows(of: Connection, to_new: Times, spoke: Times) -> int:
    """Return when data was first sent to the new address. If more than one large packet was sent before the client
    responded to the challenge, this is the time of the first of these packets; otherwise, that of the first data after
    the response. `to_new` and `spoke` are the indices of packets to and from that address."""
    up, down = of.up, of.down
    first_delivery = down.delivered_at[to_new[down.arrived[to_new]]].min(initial=np.iinfo(np.int64).max)
    answers = up.delivered_at[spoke[up.at[spoke] >= first_delivery]]
    validated = int(answers.min()) if len(answers) else int(up.delivered_at[spoke].max())
    early = to_new[(down.at[to_new] < validated) & (down.packets["payload"][to_new] >= _DATA)]
    if len(early) > 1:
        return int(down.at[early[0]])
    later = to_new[(down.at[to_new] >= validated) & down.speaks[to_new]]
    return int(down.at[later[0]]) if len(later) else validated
