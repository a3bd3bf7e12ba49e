"""Computes when TCP's receive window was full, from the advertised windows and from what the sender had sent."""

import numpy as np

from h123.causes.connections.connection import NEVER, Sending
from h123.causes.spans import Spans

_SYN, _ACK = 0x02, 0x10


def full_window(sending: Sending, answers: Sending) -> Spans:
    """Return the spans during which the window was full, by the sender's clock. Empty if the record lacks the
    handshake, which defines the scale of windows.

    A span begins with a packet after which the window has no room for a full packet. It ends with the next packet. It
    ends earlier if an acknowledgement makes room for half of the window, or for a full packet if that is more: until
    then, a sender waits, to avoid small packets (RFC 9293, 3.8.6.2.1).
    """
    scale, places = _scale(sending, answers), np.flatnonzero(sending.speaks)
    acknowledgements = answers.arrivals[(answers.packets["flags"][answers.arrivals] & _ACK) > 0]
    if scale is None or not len(places) or not len(acknowledgements):
        return Spans.union([], [])
    announcements = answers.packets[acknowledgements]
    windows = announcements["window"].astype(np.int64) << np.where(announcements["flags"] & _SYN, 0, scale)
    first = (int(announcements["ack"][0]) - int(sending.packets["seq"][0]) + 2**31) % 2**32 - 2**31
    acknowledged = first + np.concatenate(
        [[0], np.cumsum(np.diff(announcements["ack"]).astype(np.int32), dtype=np.int64)]
    )
    allowed = np.maximum.accumulate(acknowledged + windows)

    size = int(sending.packets["payload"][places].max())
    ends = np.maximum.accumulate(sending.offsets[places] + sending.packets["payload"][places])
    times, at = answers.delivered_at[acknowledgements], sending.at[places]
    latest = np.searchsorted(times, at, side="right") - 1
    full = (latest >= 0) & (allowed[np.maximum(latest, 0)] - ends < size)
    room = np.maximum.accumulate(allowed - np.maximum(size, windows // 2))
    opened = np.append(times, NEVER)[np.searchsorted(room, ends)]
    until = np.minimum(opened, np.append(at[1:], at[-1]))
    return Spans.union(at[full], until[full])


def _scale(sending: Sending, answers: Sending) -> int | None:
    """Return by how many bits to shift the windows in `answers`, or None if the record lacks one of the SYNs."""
    scales = []
    for side in (sending, answers):
        syn = np.flatnonzero(side.packets["flags"] & _SYN)
        if not len(syn):
            return None
        scales.append(int(side.packets["scale"][syn[0]]))
    return scales[1] - 1 if all(scales) else 0
