"""Represents a transfer as its sender saw it: the packets sent and received, and round trips computed from packets
alone.

The link only delays packets. So a packet was sent when the link recorded its arrival, and received when it left the
link. A round trip ends when the sender receives the first packet that the receiver sent after receiving the round
trip's first packet, because earlier packets cannot acknowledge that one. This method needs no acknowledgements, which
QUIC encrypts, and works even on a busy machine.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from h123.packets.capture import DELIVERED, DOWN, TCP, UP, Packets
from h123.verification.constants.findings import NotMeasurable

ACK = 16
"""TCP's ACK flag."""
LEAST = 5
"""The smallest number of packets from the sender in a round trip that carries a body. Handshakes send fewer in a round
trip."""
UNANSWERED = 1.5
"""The multiple of the link's round trip after which a round trip ends at the latest. Receivers do not delay
acknowledgements that long."""


@dataclass(frozen=True)
class Round:
    """A round trip among the sender's packets: the index of its first packet, and the index of the next round trip's
    first packet."""

    first: int
    end: int


@dataclass(frozen=True)
class Transfer:
    """The transfer of one body over one connection."""

    packets: Packets
    """The packets in both directions, in the order of arrival at the link."""
    way: int
    """The direction in which the body is sent."""
    round_trip_ns: int
    main_began_ns: int = 0
    """When the main role began, on the clock of the packets' times."""

    @cached_property
    def sent_packets(self) -> Packets:
        """The sender's packets with payload, in the order of sending. TCP's bare acknowledgements are left out."""
        return _in_order(self.packets[(self.packets["way"] == self.way) & (self.packets["payload"] > 0)])

    @cached_property
    def received_packets(self) -> Packets:
        """The receiver's packets that arrived, in the order of sending."""
        # Some packets are still in flight when the trial ends.
        came = (self.packets["fate"] == DELIVERED) & (self.packets["left_ns"] > 0)
        return _in_order(self.packets[(self.packets["way"] == 1 - self.way) & came])

    @cached_property
    def rounds(self) -> list[Round]:
        """All round trips of the connection. The body's end may cut the last one short."""
        return list(self._rounds())

    def _rounds(self) -> Iterator[Round]:
        packets_sent, packets_received, first = self.sent_packets, self.received_packets, 0
        while first < len(packets_sent):
            arrival = packets_sent["left_ns"][first]
            if not arrival and packets_sent["fate"][first] == DELIVERED:  # it is in flight when the trial ends
                yield Round(first, len(packets_sent))
                return
            if not arrival:
                raise NotMeasurable("a packet was lost that begins a round trip")
            answer = int(np.searchsorted(packets_received["at_ns"], arrival))
            heard_ns = packets_received["left_ns"][answer : answer + 1]
            patience_ns = packets_sent["at_ns"][first] + np.uint64(UNANSWERED * self.round_trip_ns)
            end = int(np.searchsorted(packets_sent["at_ns"], min([*heard_ns, patience_ns])))
            yield Round(first, end)
            first = end

    @cached_property
    def body(self) -> list[Round]:
        """The round trips, beginning with the first flight of the body."""
        for number, one in enumerate(self.rounds):
            if one.end - one.first >= LEAST:
                return self.rounds[number:]
        raise NotMeasurable(f"no round trip has {LEAST} packets of the sender")

    @cached_property
    def windows(self) -> list[int]:
        """The payload bytes in each round trip of the body, except the last, which is incomplete."""
        return [self.payload(one) for one in self.body[:-1]]

    def payload(self, one: Round) -> int:
        return int(self.sent_packets["payload"][one.first : one.end].sum())

    def spread(self, one: Round) -> float:
        """Return the share of the link's round trip during which the packets of the round trip `one` were sent."""
        span = int(self.sent_packets["at_ns"][one.end - 1]) - int(self.sent_packets["at_ns"][one.first])
        return round(span / self.round_trip_ns, 3)

    def fills_the_receiver(self, one: Round) -> bool:
        """Return whether the packets of a round trip used up TCP's receive window. For QUIC, whose windows are
        encrypted, the result is always False."""
        sent, acks = (
            self.sent_packets[one.first : one.end],
            self.received_packets[self.received_packets["flags"] & ACK > 0],
        )
        if not self._is_tcp or not len(acks):
            return False
        acks = acks[np.argsort(acks["left_ns"], kind="stable")]
        edges = np.maximum.accumulate(
            self._place(acks["ack"]) + (acks["window"].astype(np.int64) << self._window_scale)
        )
        known = np.searchsorted(acks["left_ns"], sent["at_ns"], side="right") - 1
        room = edges[known] - self._place(sent["seq"]) - sent["payload"]
        return bool(room.min() < int(self.sent_packets["payload"].max()))

    @property
    def _is_tcp(self) -> bool:
        return bool((self.sent_packets["protocol"] == TCP).all())

    @property
    def _window_scale(self) -> int:
        """The scale of the receiver's window, in bits. The receiver's first segment announces its window unscaled, and
        its second segment announces the same window scaled."""
        first, second = (int(window) for window in self.received_packets["window"][:2])
        return round(math.log2(max(first, 1) / max(second, 1)))

    def _place(self, sequence: Packets) -> Packets:
        """Return the positions of these sequence numbers in the sender's stream, in bytes from the stream's first
        byte."""
        place: Packets = (sequence.astype(np.int64) - int(self.sent_packets["seq"][0])) % 2**32
        return place

    def began_ns(self) -> int:
        """Return when the first flight of the body began, in ns."""
        return int(self.sent_packets["at_ns"][self.body[0].first])


def _in_order(packets: Packets) -> Packets:
    """Return the packets in the order of sending. The link may have read the two hosts' devices in a different
    order."""
    ordered: Packets = packets[np.argsort(packets["at_ns"], kind="stable")]
    return ordered


def download(packets: Packets, round_trip_ns: int, main_began_ns: int = 0) -> Transfer:
    return Transfer(packets, DOWN, round_trip_ns, main_began_ns)


def upload(packets: Packets, round_trip_ns: int, main_began_ns: int = 0) -> Transfer:
    return Transfer(packets, UP, round_trip_ns, main_began_ns)
