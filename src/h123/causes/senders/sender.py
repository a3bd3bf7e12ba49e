"""Divides a sender's time into what the sender waited for.

While a packet of the sender is on the wire, the time is attributed to the link's rate. While the sender's packets wait
behind other packets of the trial, it is attributed to queueing, and behind cross traffic to cross traffic. At every
other moment the link would have carried more, so there is a reason why the sender did not send:

- Lost packets have not been sent again yet: the cause is what dropped them.
- A known limit applies (limits.py): TCP's receive window, or flow control of HTTP/2 or QUIC.
- The sender has no body to send: every request on the connection still waits for its response, or already has it.
- Its congestion window had room (room.py), so it did not wait for the window. If it sent again without receiving a
  packet from the other end, it had nothing to send until then. If it sent a small TCP segment as soon as the previous
  one was acknowledged, the cause is Nagle's algorithm. If it sent again when a packet from the other end arrived, that
  end's flow control had stopped it until then. If the other end's packets are so frequent that one has always just
  arrived, and flow control cannot be read, h123 cannot tell these causes apart.
- Otherwise a window is full. If the window grows by a quarter per round trip or more and nothing was lost before, the
  cause is slow start. After a loss or a mark (ECN), the cause is that the latest loss or mark cut the window. A window
  that does not grow at all without a loss is a limit (flow control, a send buffer); one that grows slowly is a
  congestion window.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import (
    CROSS,
    HELD,
    IDLE,
    LIMIT,
    MARKED,
    MENDING,
    NAGLE,
    NUMBER,
    QUEUE,
    RATE,
    RECEIVER,
    SLOW_START,
    WINDOW,
    Cause,
)
from h123.causes.conditions import WALL, Conditions
from h123.causes.connections.connection import NEVER, Sending
from h123.causes.connections.losses import cuts, lost_packets, mending, repairs, resent
from h123.causes.connections.rounds import DOUBLES, GROWS_NOT, Rounds, rounds
from h123.causes.intervals import Course, Numbers, numbers
from h123.causes.senders.room import Room
from h123.causes.spans import Limits, Spans, Times
from h123.packets.capture import TCP

_SEGMENT = 0.96
"""The smallest payload of a full TCP segment, as a share of the sender's largest payload."""
_RESTED_NS = 1_000_000
"""The time in ns with nothing in flight after which a sender's burst has ended."""
_CHANCE = 0.3
"""The smallest share of a gap, during which packets from the other end had just arrived, for which a packet sent just
after an arrival proves nothing."""
_FULL = 0.95
"""The smallest share in flight of a window that is regarded as full."""


@dataclass(frozen=True)
class Sender:
    """One end of a connection, with the packets that it received from the other end."""

    sending: Sending
    answers: Sending
    round_trip_ns: int
    limits: Limits = ()
    unheard: Limits = ()
    """The times in which the sender's packets do not reach the client."""
    bodies: Spans | None = None
    """When the sender had a body to send. None: unknown."""
    fills: bool = False
    """Whether the sender fills packets as long as it has data and (known) flow control permits. QUIC senders, whose
    window counts bytes, do."""
    conditions: Conditions = WALL

    @cached_property
    def course(self) -> Course:
        """The cause that limited the sender at each time, from its first packet to its last."""
        occupied, on_wire, crossed = self.sending.occupied, self.sending.on_wire, self.sending.crossed
        limit_edges = [spans.edges for _, spans in (*self.limits, *self.repairs, *self.unheard)]
        own = [self.sending.at, self._roomy[self._roomy < NEVER], self._full_until[self._full_until < NEVER]]
        bodies = [] if self.bodies is None else [self.bodies.edges]
        edges = np.concatenate([occupied.edges, on_wire.edges, crossed.edges, *own, *bodies, *limit_edges])

        def tell(moments: Times) -> Numbers:
            # The first packet with content after each moment ends its gap.
            ends = np.searchsorted(self._content.at, moments)
            causes = np.where(moments >= self._roomy[ends], self._free[ends], self._gaps[ends])
            if self.bodies is not None:
                is_waiting = (moments < self._full_until[ends]) & self._prompt[ends] | (causes == NUMBER[NAGLE])
                causes = np.where(self.bodies.hold(moments) | is_waiting, causes, NUMBER[IDLE])
            for cause, spans in self.limits:
                causes = np.where(spans.hold(moments), NUMBER[cause], causes)
            for cause, spans in self.repairs:
                causes = np.where(spans.hold(moments) & ~self._unready[ends], NUMBER[cause], causes)
            causes = np.where(occupied.hold(moments), NUMBER[QUEUE], causes)
            causes = np.where(crossed.hold(moments), NUMBER[CROSS], causes)
            causes = np.where(on_wire.hold(moments), NUMBER[RATE], causes)
            for cause, spans in self.unheard:
                causes = np.where(spans.hold(moments), NUMBER[cause], causes)
            return causes.astype(np.int8)

        return Course.cut(edges, tell)

    def duration_on(self, cause: Cause) -> int:
        """Return how many ns the sender spent on a cause."""
        course = self.course
        return int(np.diff(course.edges)[course.numbers == NUMBER[cause]].sum()) if len(course.numbers) else 0

    def windows(self) -> dict[str, float]:
        """Return, for the causes LIMIT and RECEIVER if they limited the sender, the median number of bytes sent per
        round trip during that time."""
        sizes = {}
        for cause in (LIMIT, RECEIVER):
            begins = self.course.edges[:-1][self.course.numbers == NUMBER[cause]]
            if len(begins):
                places = np.maximum(np.searchsorted(self.sending.at, begins, side="right") - 1, 0)
                sizes[cause.name] = float(np.median(self.rounds.windows[np.unique(self.rounds.of(places))]))
        return sizes

    @cached_property
    def repairs(self) -> Limits:
        """The times during which a lost packet had not yet been resent, by what dropped it."""
        return repairs(self.sending, self.answers, self.round_trip_ns)

    @cached_property
    def mending(self) -> Spans:
        """The times during which any lost packet had not yet been resent."""
        return mending(self.sending, self.answers, self.round_trip_ns)

    def repairing(self, begin: int, end: int) -> Cause:
        """Return the cause of the repairs between two times. If there are several causes, return the one that is last
        in `repairs`."""
        causes = (c for c, spans in reversed(self.repairs) if ((spans.begins < end) & (spans.ends > begin)).any())
        return next(causes, MENDING)

    @cached_property
    def rounds(self) -> Rounds:
        return rounds(self.sending, self.answers, self.round_trip_ns, self._rested)

    @cached_property
    def _content(self) -> Sending:
        """The packets that the sender sent, without pure acknowledgements."""
        return self.sending.some(self.sending.speaks)

    @cached_property
    def _places(self) -> Times:
        """The indices of the packets in `_content` among all packets that the sender sent."""
        return np.flatnonzero(self.sending.speaks)

    @cached_property
    def room(self) -> Room:
        return Room(self._content, self.answers, self.round_trip_ns, self.conditions.first_window)

    @cached_property
    def _gaps(self) -> Numbers:
        """The cause of the gap before each packet, and after the last one, if the window was full."""
        count = len(self._content)
        causes = numbers(WINDOW, count + 1)
        growth = self.rounds.growth[self.rounds.of(np.maximum(self._places - 1, 0))]
        causes[:count][growth <= GROWS_NOT] = NUMBER[LIMIT]
        causes[:count][growth >= DOUBLES] = NUMBER[SLOW_START]
        places, cut_by = cuts(self._content)
        if len(places):
            last = np.searchsorted(places, np.arange(count + 1)) - 1
            # A sender whose window grows as in slow start ignored the mark.
            ignored = (cut_by[last] == NUMBER[MARKED]) & (causes == NUMBER[SLOW_START])
            causes = np.where((last >= 0) & ~ignored, cut_by[last], causes)
        causes[1:count][self._unprompted[1:] | self._dry[1:]] = NUMBER[IDLE]
        causes[:count][self._waits_behind_full_ones & (causes[:count] == NUMBER[LIMIT])] = NUMBER[NAGLE]
        causes[:count][self._waits_for_acknowledgement] = NUMBER[NAGLE]
        return causes

    @cached_property
    def _free(self) -> Numbers:
        """The cause of the gap before each packet, and after the last one, if the window had room."""
        count, chance = len(self._content), self._chance
        causes = numbers(IDLE, count + 1)
        news = self._prompt[:count]
        news = news & ~self._dry
        causes[:count][news] = np.where(chance < _CHANCE, NUMBER[LIMIT], NUMBER[HELD])[news]
        causes[:count][self._waits_for_acknowledgement | self._waits_behind_full_ones] = NUMBER[NAGLE]
        return causes

    @cached_property
    def _roomy(self) -> Times:
        """For each packet, the time from which the window had room before it was sent. NEVER if it had none, or if a
        sender that spaces its packets may not have used the room yet."""
        at, since, rests = self._content.at, self.room.since(), self.room.since(0.0)
        patience = max(self.conditions.soon_ns, self.round_trip_ns // 4)
        roomy = np.full(len(at) + 1, NEVER)
        for early, late in ((since, since + np.minimum(patience, NEVER - since)), (rests, rests)):
            restful = (late[:-1] < at[1:] - (self.conditions.soon_ns if early is rests else 0)) & (roomy[1:-1] == NEVER)
            roomy[1:-1][restful] = early[:-1][restful]
        return roomy

    @cached_property
    def _full_until(self) -> Times:
        """For each packet, the time until which the whole window was in flight before it was sent. Packets of any size
        are considered."""
        until = np.zeros(len(self._content) + 1, np.int64)
        until[1:] = self.room.since(_FULL)
        return until

    @cached_property
    def _prompt(self) -> NDArray[np.bool_]:
        """Whether each packet was sent as soon as something arrived from the other end."""
        arrivals = self._arrivals
        last = np.concatenate([[0], arrivals])[np.searchsorted(arrivals, self._content.at, side="right")]
        return np.append(self._content.at - last < self.conditions.soon_ns, False)

    @cached_property
    def _unprompted(self) -> NDArray[np.bool_]:
        """Whether each packet was sent although nothing had just arrived and no pacing timer can be the reason. Such a
        packet did not wait for a window. Pacing timers delay only full packets."""
        gaps = np.diff(self._content.at, prepend=self._content.at[:1])
        tcp = len(self._content) and self._content.packets["protocol"][0] == TCP
        spaced = np.where((tcp and not self.conditions.paced) | self._small, 0, self.round_trip_ns // 4)
        unprompted: NDArray[np.bool_] = ~self._prompt[:-1] & (gaps > np.maximum(spaced, _RESTED_NS))
        return unprompted

    @cached_property
    def _unready(self) -> NDArray[np.bool_]:
        """Whether each packet was sent unprompted and neither is a retransmission nor probes for a loss. There was
        nothing to send before such a packet, with or without losses. TCP's probe may carry new data: it follows a lost
        packet after two round trips or more (RFC 8985, 7.2)."""
        sending = self._content
        again = resent(sending, self.answers, self.round_trip_ns)
        probes = np.zeros(len(sending), bool)
        followers = lost_packets(sending) + 1
        followers = followers[followers < len(sending)]
        late = sending.at[followers] - sending.at[followers - 1] >= 2 * self.round_trip_ns
        probes[followers[late & sending.full[followers]]] = True
        return np.append((self._unprompted | self._dry) & ~np.isin(sending.at, again) & ~probes & sending.speaks, False)

    @cached_property
    def _dry(self) -> NDArray[np.bool_]:
        """Whether each packet was sent after the sender had run out of data. This is assumed if neither the packet nor
        the previous one was full, because data that had waited for a window would have filled it. The same is assumed
        even if something had just arrived, because a program may write a piece every half round trip."""
        dry: NDArray[np.bool_] = self._small & self.fills
        return dry

    @cached_property
    def _small(self) -> NDArray[np.bool_]:
        """For each packet, whether it and the one before it were both smaller than a full packet."""
        part = self._content.speaks & ~self._content.full
        small: NDArray[np.bool_] = part & np.roll(part, 1)
        return small

    @cached_property
    def _chance(self) -> NDArray[np.float64]:
        """The share of the gap before each packet in which something had just arrived from the other end."""
        at = self._content.at
        before = np.concatenate([at[:1], at[:-1]])
        count = np.searchsorted(self._arrivals, at, side="right") - np.searchsorted(
            self._arrivals, before, side="right"
        )
        chance: NDArray[np.float64] = np.minimum(count * self.conditions.soon_ns / np.maximum(at - before, 1), 1.0)
        return chance

    @cached_property
    def _arrivals(self) -> Times:
        """The times at which packets from the other end arrived, in ascending order."""
        return np.sort(self.answers.delivered_at[self.answers.arrived])

    @cached_property
    def _waits_for_acknowledgement(self) -> NDArray[np.bool_]:
        """Whether each packet is a small TCP segment that was sent as soon as the previous segment, also small and
        alone in flight, was known to have arrived (RFC 9293, 3.7.4)."""
        sending, small, last = self._content, self._small_segments, self._last_small
        waits, knowledge_times = np.zeros(len(sending), bool), self._knowledge_times
        if not len(knowledge_times):
            return waits
        alone = np.concatenate([[True], ~small[:-2] | (knowledge_times[:-2] <= sending.at[1:-1])])
        waits[1:] = self._acknowledged[1:] & (last[1:] == np.arange(len(last) - 1)) & alone
        return waits

    @cached_property
    def _waits_behind_full_ones(self) -> NDArray[np.bool_]:
        """Whether each packet is a small TCP segment that waited for an earlier small one with full segments in
        between. Linux holds a small segment, such as the end of a body, until the last small one is acknowledged
        (tcp_output.c, tcp_minshall_check). A window that the same acknowledgement opens looks the same, so this is used
        only if the window does not grow."""
        last = self._last_small
        behind: NDArray[np.bool_] = self._acknowledged & (last >= 0) & (last < np.arange(len(last)) - 1)
        return behind

    @cached_property
    def _acknowledged(self) -> NDArray[np.bool_]:
        """Whether each packet is small, and was sent after a silence as soon as the last small packet was known to have
        arrived."""
        sending, knowledge_times, last = self._content, self._knowledge_times, self._last_small
        if not len(knowledge_times):
            return np.zeros(len(sending), bool)
        wait = sending.at - knowledge_times[last]
        silent = np.diff(sending.at, prepend=sending.at[:1]) > self.conditions.soon_ns
        released: NDArray[np.bool_] = (
            self._small_segments & (last >= 0) & (wait >= 0) & (wait < self.conditions.soon_ns) & silent
        )
        return released

    @cached_property
    def _small_segments(self) -> NDArray[np.bool_]:
        """Whether each packet arrived and was not full. A packet that lacks only a few bytes may carry options, and is
        regarded as full."""
        payload = self._content.packets["payload"]
        part = payload < _SEGMENT * payload.max(initial=0)
        small: NDArray[np.bool_] = self._content.speaks & part & self._content.arrived
        return small

    @cached_property
    def _last_small(self) -> Times:
        """The index of the last small packet before each packet, or -1 if there was none."""
        places = np.where(self._small_segments, np.arange(len(self._content)), -1)
        before: Times = np.concatenate([[-1], np.maximum.accumulate(places)[:-1]]) if len(places) else places
        return before

    @cached_property
    def _knowledge_times(self) -> Times:
        """When the sender knew that each packet had arrived. Empty for fewer than two packets or for QUIC."""
        sending = self._content
        if len(sending) < 2 or sending.packets["protocol"][0] != TCP:
            return np.zeros(0, np.int64)
        return self.answers.receipts(sending.delivered_at)

    @cached_property
    def _rested(self) -> NDArray[np.bool_]:
        """Whether, when each packet was sent, the sender had known for a while that all earlier packets had arrived."""
        at, departures = self.sending.at, np.where(self.sending.arrived, self.sending.delivered_at, 0)
        latest_departures = np.maximum.accumulate(departures)
        knowledge_times = self.answers.receipts(latest_departures)
        rested = np.zeros(len(at), bool)
        rested[1:] = knowledge_times[:-1] < at[1:] - _RESTED_NS
        return rested
