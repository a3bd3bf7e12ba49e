"""Measures a sender's reaction to lost packets and pauses: how far it reduces its window, how it recovers, and when it
sends again.

Every function raises NotMeasurable if the packets do not show the value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from h123.packets.capture import LOST, TCP, UDP, Packets
from h123.verification.constants.findings import LossResponse, NotMeasurable, Silence, Tail
from h123.verification.constants.transfer import LEAST, Transfer

ENDS_SLOW_START, STEADY_STATE = 40, (1500, 1650, 1800)
"""Indices of the packets to lose, counted from 0 in the body's direction. In each transfer, the loss of the first one
ends slow start, and one of the others is lost some round trips later, while windows are still small."""
LEAST_LOSSES = 2
"""The smallest number of transfers that must show the effect of a loss. The loss in a single transfer may fall into a
pause or hit a retransmission."""
TAIL_LOSSES = 12
"""The number of consecutive packets to lose, beginning with the body's last one. The first retransmissions are among
them."""
ACKNOWLEDGED = 0.75
"""The number of round trips from the tail's last packet until the receiver's packets are lost too. The receiver
acknowledges the packets before the tail after half a round trip."""
SILENCE_NS = 2_000_000_000
"""For how long in ns the receiver's packets are lost: longer than two retransmissions take."""
REGROWN_S = (1, 2, 5, 10)
_BEFORE, _AFTER = (-3, -2, -1), 2
"""Round trips, counted from the loss, in which the window is measured: before the sender learns of the loss, and after
it has recovered."""
_VARIES = 0.15
"""The share by which the fullest of the round trips before the loss may exceed their median. Beyond it, there is no
stable window to measure."""
_TOGETHER_NS = 1_000_000
"""The longest time in ns between TCP packets of the same retransmission."""
_SMALL = 60
_DELAYED_NS = 28_000_000
"""A QUIC datagram of at most _SMALL bytes within this many ns after a received packet is a bare acknowledgement:
acknowledgements wait up to 25 ms (RFC 9000, 18.2) plus the inaccuracy of timers. Other small datagrams are probes
without data."""
_LEAST_ACKNOWLEDGEMENT = 23
"""The size of QUIC's smallest acknowledgement in bytes: one for the header, one for the packet number, five for the
frame, and 16 for the authentication tag. A smaller packet is a probe."""
_ANSWERED = 1.25
"""A QUIC packet sent within this many round trips after the previous one may react to an acknowledgement of earlier
packets, so it does not begin a retransmission."""


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
    """Return the medians over several transfers, because the effect of a loss depends on which packet is lost."""
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


@dataclass(frozen=True)
class TailPacket:
    """The last packet of a body that fits into one flight."""

    index: int
    """The packet's index in the body's direction, counted from 0."""
    at_ns: int
    """When the packet reached the link, in ns after the start of the main role."""


def tail_packet(of: Transfer) -> TailPacket:
    """Return the last packet of a body that fits into one flight."""
    begin, end = of.body[0].first, of.body[0].end
    last = of.sent_packets[begin:end][_tells(of)[begin:end]][-1]
    way = of.packets[of.packets["way"] == of.way]
    index = int(np.flatnonzero(way["at_ns"] == last["at_ns"])[-1])
    return TailPacket(index, int(last["at_ns"]) - of.main_began_ns)


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
    """Return, for each packet of the sender, whether it is more than a bare QUIC acknowledgement. For TCP it always is,
    because `sent_packets` has no bare acknowledgements."""
    received_at = np.concatenate([[0], np.sort(of.received_packets["left_ns"])]).astype(np.int64)
    at = of.sent_packets["at_ns"].astype(np.int64)
    alone = at - received_at[np.searchsorted(received_at, at, side="right") - 1] > _DELAYED_NS
    bare = (of.sent_packets["payload"] <= _SMALL) & (of.sent_packets["payload"] >= _LEAST_ACKNOWLEDGEMENT) & ~alone
    tells: NDArray[np.bool_] = (of.sent_packets["protocol"] != UDP) | ~bare
    return tells


def _repeats(sent: Packets, lost: int) -> NDArray[np.bool_]:
    """Return, for each packet, whether it may repeat earlier data. TCP's sequence numbers show this. Any QUIC packet
    may repeat data, except one that is larger than all packets before the loss: it probes whether the path carries
    larger packets."""
    if sent["protocol"][0] == TCP:
        ends = (sent["seq"].astype(np.int64) + sent["payload"] - int(sent["seq"][0])) % 2**32
        before = np.concatenate([[0], np.maximum.accumulate(ends)[:-1]])
        repeats: NDArray[np.bool_] = ends <= before
    else:
        repeats = sent["payload"] <= sent["payload"][: lost + 1].max()
    return repeats


def silences(of: Transfer, least_s: float) -> list[Silence]:
    """Return the sender's pauses of at least `least_s` seconds, with the first flight after each."""
    pauses, fullest, last = list[Silence](), 0, None
    for flight_round in of.body:
        if flight_round.end - flight_round.first < LEAST:  # the end of a response, or a keep-alive
            continue
        begin = int(of.sent_packets["at_ns"][flight_round.first])
        if last is not None and begin - last >= least_s * 1e9:
            flight = {"packets": flight_round.end - flight_round.first, "bytes": of.payload(flight_round)}
            pauses.append(Silence(seconds=round((begin - last) / 1e9, 1), before=fullest, **flight))
        fullest, last = max(fullest, of.payload(flight_round)), int(of.sent_packets["at_ns"][flight_round.end - 1])
    if not pauses:
        raise NotMeasurable(f"it never paused for {least_s:g} s")
    return pauses
