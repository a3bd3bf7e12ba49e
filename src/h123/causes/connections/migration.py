"""What becomes of a connection whose client is seen elsewhere in its midst (RFC 9000, 9), told from packets.

Until the server hears from the new place, what it sends reaches nobody. Then it makes sure that its client is there: it
sends a challenge, and data when that was answered, or before.
"""

from collections.abc import Sequence

import numpy as np

from h123.causes.cause import GONE, VALIDATING
from h123.causes.connections.connection import FULL, Connection
from h123.causes.spans import Limits, Spans, Times

_DATA = FULL // 2
"""Bytes of payload from which on a packet is a challenge, which may be padded, or data."""


def elsewhere(of: Connection, moves: Sequence[int]) -> Limits:
    """The times, after each of the moves of its client, ns, in which the server's data did not reach it."""
    told = [found for at in moves if of.began < at and (found := _after(of, at)) is not None]
    if not told:
        return []
    begins, heard, flows = np.array(told, np.int64).T
    return [(GONE, Spans.union(begins, heard)), (VALIDATING, Spans.union(heard, flows))]


def _after(of: Connection, at: int) -> tuple[int, int, int] | None:
    """When data no longer came, when the server had heard from the new place, and when it sent data there; None where
    it never heard."""
    up, down = of.up, of.down
    before = np.unique(up.packets["source"][up.at < at])
    spoke = np.flatnonzero(up.arrived & ~np.isin(up.packets["source"], before))
    if not len(spoke):
        return None
    to_old = np.isin(down.packets["destination"], before)
    came = down.left[to_old & down.arrived & down.speaks]  # a while more, if the networks overlap
    begin = max(at, int(came.max(initial=0)))
    heard = max(begin, int(up.left[spoke].min()))
    return begin, heard, max(heard, _flows(of, np.flatnonzero(~to_old), spoke))


def _flows(of: Connection, there: Times, spoke: Times) -> int:
    """When data was first sent to the new place: with more than a challenge before the client's answer to it came, or
    after that. `there`, `spoke`: places of what was sent there, and what came from there."""
    up, down = of.up, of.down
    reached = down.left[there[down.arrived[there]]].min(initial=np.iinfo(np.int64).max)
    answers = up.left[spoke[up.at[spoke] >= reached]]
    validated = int(answers.min()) if len(answers) else int(up.left[spoke].max())
    early = there[(down.at[there] < validated) & (down.packets["payload"][there] >= _DATA)]
    if len(early) > 1:
        return int(down.at[early[0]])
    later = there[(down.at[there] >= validated) & down.speaks[there]]
    return int(down.at[later[0]]) if len(later) else validated
