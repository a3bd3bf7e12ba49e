"""Reads from a sender's packets how the sender uses ECN, and what it does when its packets are too large.

`sent` contains the sender's packets with payload, in the order of sending. The functions raise NotMeasurable if the
packets do not show the value.
"""

import numpy as np
from numpy.typing import NDArray

from h123.packets.capture import CE, DELIVERED, MARKED, TOO_LARGE, Packets
from h123.verification.constants.findings import NotMeasurable
from h123.verification.paths.findings import Codepoint, Limited, Payloads, Reaction, Spoilt

ECT1, ECT0 = 1, 2
LEAST = 100
"""The smallest number of packets from which a sender's behaviour can be judged."""
RARE = 0.1
"""The largest share of the second half of a sender's packets that may have ECT if it has stopped using ECN. It may test
the path again (RFC 9000, section 13.4.2.2)."""
FULL = 1000
"""The smallest payload, in bytes, of a packet that is taken as part of the body."""
ACK_DELAY_NS = 25_000_000
"""The longest time, in ns, for which QUIC's receivers usually delay acknowledgements."""


def sent_by(packets: Packets, way: int, protocol: int) -> Packets:
    """Return the packets of this protocol with payload in this direction, in the order of sending."""
    sent = packets[(packets["way"] == way) & (packets["protocol"] == protocol) & (packets["payload"] > 0)]
    ordered: Packets = sent[np.argsort(sent["at_ns"], kind="stable")]
    return ordered


def _enough(sent: Packets) -> Packets:
    if len(sent) < LEAST:
        raise NotMeasurable(f"it sent {len(sent)} packets")
    return sent


def codepoint(sent: Packets) -> tuple[Codepoint, float]:
    """Return the more common ECT codepoint, or `none`, and the share of packets that have it."""
    field = _enough(sent)["ecn"] & CE
    shares: dict[Codepoint, float] = {"ect0": float((field == ECT0).mean()), "ect1": float((field == ECT1).mean())}
    name = max(shares, key=lambda one: shares[one])
    return (name, round(shares[name], 3)) if shares[name] else ("none", 0.0)


def datagrams(sent: Packets) -> Payloads:
    """Return the sizes of the packets' payloads."""
    sizes, counts = np.unique(_enough(sent)["payload"], return_counts=True)
    return Payloads(first=int(sent["payload"][0]), common=int(sizes[np.argmax(counts)]), largest=int(sizes[-1]))


def spoilt(sent: Packets, complete: bool = True) -> Spoilt:
    """Return how many packets the sender sent with ECT, and when it stopped setting ECT, if it did."""
    field = sent["ecn"] & CE
    ect = (field == ECT0) | (field == ECT1)
    if not ect.any():
        raise NotMeasurable("it sent no packet with ECT")
    goes_on = bool(ect[len(ect) // 2 :].mean() > RARE)
    if goes_on and complete:
        _enough(sent)
    seconds = round(int(sent["at_ns"][ect][-1] - sent["at_ns"][0]) / 1e9, 3)
    return Spoilt(ect=int(ect.sum()), stopped=None if goes_on else seconds, complete=complete)


def reaction(sent: Packets, back_ns: int) -> Reaction:
    """Return how far the bytes in flight fall in the round trip after the sender can know of the first mark. `back_ns`
    is the time in ns that an acknowledgement takes back to the sender."""
    marked = sent[(sent["ecn"] & MARKED) > 0]
    if not len(marked):
        raise NotMeasurable("no packet was marked")
    at, left = int(marked["at_ns"][0]), int(marked["left_ns"][0])
    begin, end = left + back_ns, left + back_ns + left - at + back_ns + ACK_DELAY_NS
    if end > sent["at_ns"][-1]:
        raise NotMeasurable("the body ended too soon after the first mark")
    if (sent["fate"][sent["at_ns"] <= end] != DELIVERED).any():
        raise NotMeasurable("packets were also dropped")
    heard = sent["left_ns"] + back_ns
    flights = _in_flight(sent, np.array([begin, *heard[(heard > begin) & (heard <= end)]]), back_ns)
    return Reaction(marks=len(marked), keeps=round(float(flights.min() / max(flights[0], 1)), 2))


def _in_flight(sent: Packets, moments: NDArray[np.int64], back_ns: int) -> NDArray[np.int64]:
    """Return, for each moment, the payload bytes that had been sent and cannot have been acknowledged by then."""
    left = sent[sent["left_ns"] > 0]
    left = left[np.argsort(left["left_ns"], kind="stable")]
    into, out = (np.concatenate([[0], np.cumsum(packets["payload"], dtype=np.int64)]) for packets in (sent, left))
    entered = np.searchsorted(sent["at_ns"], moments, side="right")
    inside: NDArray[np.int64] = into[entered] - out[np.searchsorted(left["left_ns"] + back_ns, moments, side="right")]
    return inside


def limited(sent: Packets, from_ns: int, complete: bool) -> Limited:
    """Return what a sender did after `from_ns`, when the path's MTU became too small for its packets."""
    after = sent[sent["at_ns"] >= from_ns]
    if not len(after):
        raise NotMeasurable("the body ended before the path changed")
    large = after["fate"] == TOO_LARGE
    rest = after[int(np.argmax(large)) :]
    passed = rest[(rest["fate"] == DELIVERED) & (rest["payload"] >= FULL)]
    return Limited(
        too_large=int(large.sum()),
        until=_seconds(after[large][-1:], from_ns),
        resumed=_seconds(passed[:1], from_ns) if complete else None,
        complete=complete,
    )


def _seconds(packet: Packets, from_ns: int) -> float | None:
    return round((int(packet["at_ns"][0]) - from_ns) / 1e9, 3) if len(packet) else None
