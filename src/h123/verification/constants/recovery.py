"""Measures a sender's reaction to lost packets and pauses: how far it reduces its window, how it recovers, and when it
sends again.

Every function raises NotMeasurable if the packets do not show the value.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from h123.packets.capture import LOST, TCP, UDP, Packets
from h123.verification.constants.findings import LossResponse, NotMeasurable, Silence, Tail
from h123.verification.constants.transfer import LEAST, Transfer

ENDS_SLOW_START, STEADY_STATE = 40, (1500, 1650, 1800)
"""Indices of the sender's packets to lose, counted from 0 over the link. In each transfer, the first loss ends slow
start, and one of the others follows some round trips later, while windows are still small."""
LEAST_LOSSES = 2
"""The smallest number of losses that must show a value. A single one may fall into a sender's pause or hit a
retransmission."""
TAIL_LOSSES = 12
"""The number of packets that are lost, beginning with the tail, enough to show how the sender reacts if its first
retransmissions are lost."""
REGROWN_S = (1, 2, 5, 10)
_BEFORE, _AFTER = (-3, -2, -1), 2
"""Round trips, relative to the loss, in which the window is measured: before the sender hears of it, and after the
recovery."""
_VARIES = 0.15
"""If the fullest round trip before the loss exceeds the usual one by this share, there is no stable window to
measure."""
_TOGETHER_NS = 1_000_000
"""Packets within this many ns of each other belong to one retransmission."""
_SMALL = 60
_DELAYED_NS = 28_000_000
"""A QUIC datagram of at most _SMALL bytes within this many ns after a received packet is a bare acknowledgement:
acknowledgements wait up to 25 ms (RFC 9000, 18.2) plus the inaccuracy of timers. Other small datagrams are probes
without data."""
_LEAST_ACKNOWLEDGEMENT = 23
"""The size of the smallest acknowledgement in bytes: one for the header, one for the packet number, five for the frame,
and the tag. A smaller packet is a probe."""
_ANSWERED = 1.25
"""Within this many round trips after the last packet, QUIC's next packets may be answers to acknowledgements of earlier
packets."""


def decrease(of: Transfer) -> LossResponse:
    """Measure the effect of the second of the two lost packets."""
    sent = of.sent_packets
    lost = sent["at_ns"][sent["fate"] == LOST]
    if len(lost) != 2:
        raise NotMeasurable(f"{len(lost)} packets of the body were lost instead of two")
    at = int(lost[1])
    before = [_window(of, at, trip) for trip in _BEFORE]
    whole = median(before)
    if max(before) - whole > _VARIES * whole:
        raise NotMeasurable(f"its window was not steady before the loss: {before} bytes a round trip")
    window_after = _window(of, at, _AFTER)
    lasts_s = (int(of.sent_packets["at_ns"][-1]) - int(at) - 2 * of.round_trip_ns) / 1e9
    trips = {s: s * 10**9 // of.round_trip_ns for s in REGROWN_S if s < lasts_s}
    regrown = {s: round(_window(of, at, trip) / whole, 2) for s, trip in trips.items()}
    keeps = round(window_after / whole, 2)
    return LossResponse(keeps=keeps, each=[keeps], regrown=regrown)


def typical(responses: Sequence[LossResponse | NotMeasurable]) -> LossResponse:
    """Return medians over several transfers, because the effect of one loss depends on the packet."""
    measured = [response for response in responses if isinstance(response, LossResponse)]
    if len(measured) < LEAST_LOSSES:
        raise next(response for response in responses if isinstance(response, NotMeasurable))
    shares = {s: [response.regrown[s] for response in measured if s in response.regrown] for s in REGROWN_S}
    return LossResponse(
        keeps=round(median(response.keeps for response in measured), 2),
        each=sorted(response.keeps for response in measured),
        regrown={s: round(median(regrown_shares), 2) for s, regrown_shares in shares.items() if regrown_shares},
    )


def _window(of: Transfer, at: int, trip: int) -> int:
    """Return the payload bytes in round trip number `trip` after `at`."""
    sent, begin = of.sent_packets, at + trip * of.round_trip_ns
    within = (sent["at_ns"] >= begin) & (sent["at_ns"] < begin + of.round_trip_ns)
    if begin + of.round_trip_ns > sent["at_ns"][-1]:
        raise NotMeasurable("the body ended too soon after the loss")
    return int(sent["payload"][within].sum())


def tail_index(of: Transfer) -> int:
    """Return the index of the last packet of a body that fits into one flight, counted from 0 in the body's
    direction."""
    begin, end = of.body[0].first, of.body[0].end
    last = of.sent_packets[begin:end][_tells(of)[begin:end]][-1]
    way = of.packets[of.packets["way"] == of.way]
    return int(np.flatnonzero(way["at_ns"] == last["at_ns"])[-1])


def tail(of: Transfer) -> Tail:
    """Measure the retransmissions of a transfer that lost its last packet and the first packets sent after it."""
    sent = of.sent_packets[_tells(of)]
    lost = np.flatnonzero(sent["fate"] == LOST)
    if not len(lost):
        raise NotMeasurable("its tail was not lost")
    waited = np.diff(sent["at_ns"].astype(np.int64), prepend=0)
    patience = _TOGETHER_NS if sent["protocol"][0] == TCP else int(_ANSWERED * of.round_trip_ns)
    flights = [int(number) for number in np.flatnonzero(waited > patience) if number > lost[0]]
    repeats = _repeats(sent, int(lost[0]))
    again = [first for first, end in pairwise([*flights, len(sent)]) if repeats[first:end].any()]
    times = [round(int(waited[first]) / 1e6, 1) for first in again]
    if not times:
        raise NotMeasurable("nothing that is sure to repeat it was sent")
    return Tail(
        round_trip_ms=of.round_trip_ns / 1e6,
        first_ms=times[0],
        second_ms=times[1] if len(times) > 1 else None,
    )


def _tells(of: Transfer) -> NDArray[np.bool_]:
    """Return which of the sender's packets are more than a bare QUIC acknowledgement. TCP's packets all count as
    more."""
    received_at = np.concatenate([[0], np.sort(of.received_packets["left_ns"])]).astype(np.int64)
    at = of.sent_packets["at_ns"].astype(np.int64)
    alone = at - received_at[np.searchsorted(received_at, at, side="right") - 1] > _DELAYED_NS
    bare = (of.sent_packets["payload"] <= _SMALL) & (of.sent_packets["payload"] >= _LEAST_ACKNOWLEDGEMENT) & ~alone
    tells: NDArray[np.bool_] = (of.sent_packets["protocol"] != UDP) | ~bare
    return tells


def _repeats(sent: Packets, lost: int) -> NDArray[np.bool_]:
    """Return which packets may repeat earlier data. TCP's sequence numbers show this. Any QUIC packet may repeat data,
    unless it is larger than all packets before the loss: it then probes the path for larger packets."""
    if sent["protocol"][0] == TCP:
        ends = (sent["seq"].astype(np.int64) + sent["payload"] - int(sent["seq"][0])) % 2**32
        before = np.concatenate([[0], np.maximum.accumulate(ends)[:-1]])
        repeats: NDArray[np.bool_] = ends <= before
    else:
        repeats = sent["payload"] <= sent["payload"][: lost + 1].max()
    return repeats


def silences(of: Transfer, least_s: float) -> list[Silence]:
    """Return the sender's pauses of at least this length, with the first flight after each."""
    pauses, fullest, last = list[Silence](), 0, None
    for flight_round in of.body:
        if flight_round.end - flight_round.first < LEAST:  # the end of an answer, or a keep-alive
            continue
        begin = int(of.sent_packets["at_ns"][flight_round.first])
        if last is not None and begin - last >= least_s * 1e9:
            flight = {"packets": flight_round.end - flight_round.first, "bytes": of.payload(flight_round)}
            pauses.append(Silence(seconds=round((begin - last) / 1e9, 1), before=fullest, **flight))
        fullest, last = max(fullest, of.payload(flight_round)), int(of.sent_packets["at_ns"][flight_round.end - 1])
    if not pauses:
        raise NotMeasurable(f"it never paused for {least_s:g} s")
    return pauses
