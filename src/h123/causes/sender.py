"""What a sender waited for, moment by moment, told from packets.

While a packet of the connection is on the wire the time is the link's rate; while packets wait there behind others' it
is the queue. In every other moment the link would have taken more, so the question is why the sender did not send:

- packets that were lost are not yet sent again: mending;
- all it had sent was acknowledged, and it went on only when it liked, or it sends packets that are not full: it has
  nothing to send; if it went on as soon as it heard from the other end, that was a window's opening: a limit;
- what is known to hold it up (limits.py) is named: the receiver's window of TCP, flow control as its stack tells it;
- otherwise its window is full. If it grows by a quarter a round trip and more, and nothing was lost before: slow start.
  After a loss: a window that losses have cut. One that does not grow at all without a loss is a limit (flow control,
  a send buffer); one that grows slowly is a congestion window.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import CUT, IDLE, LIMIT, MENDING, NUMBER, QUEUE, RATE, SLOW_START, WINDOW
from h123.causes.connection import Sending
from h123.causes.course import Course, Numbers, numbers
from h123.causes.limits import Limits
from h123.causes.losses import lost, mending
from h123.causes.rounds import DOUBLES, HELD, Rounds, rounds
from h123.causes.spans import Spans, Times

_SILENT_NS = 1_000_000
"""A sender that may send and does not for so long has nothing to send."""


@dataclass(frozen=True)
class Sender:
    """One end of a connection, and what it heard from the other."""

    sending: Sending
    answers: Sending
    round_trip_ns: int
    limits: Limits = ()
    unheard: Limits = ()
    """Times in which what it sends reaches nobody."""

    @cached_property
    def course(self) -> Course:
        """From its first packet to its last."""
        occupied, on_wire, mended = self.sending.occupied, self.sending.on_wire, self.mending
        known = [spans.edges for _, spans in (*self.limits, *self.unheard)]
        edges = np.concatenate([occupied.edges, on_wire.edges, mended.edges, self.sending.at, *known])

        def tell(moments: Times) -> Numbers:
            # The first packet that was sent after each moment ends its gap.
            said = self._gaps[np.searchsorted(self.sending.at, moments)]
            for cause, spans in self.limits:
                said = np.where(spans.hold(moments), NUMBER[cause], said)
            said = np.where(mended.hold(moments), NUMBER[MENDING], said)
            said = np.where(occupied.hold(moments), NUMBER[QUEUE], said)
            said = np.where(on_wire.hold(moments), NUMBER[RATE], said)
            for cause, spans in self.unheard:
                said = np.where(spans.hold(moments), NUMBER[cause], said)
            return said.astype(np.int8)

        return Course.cut(edges, tell)

    @cached_property
    def mending(self) -> Spans:
        """When a lost packet was not yet sent again."""
        return mending(self.sending, self.answers, self.round_trip_ns)

    @cached_property
    def rounds(self) -> Rounds:
        """Its round trips."""
        return rounds(self.sending, self.answers, self.round_trip_ns, self._rested)

    @cached_property
    def _gaps(self) -> Numbers:
        """Why nothing was sent before each packet, as far as the packet's own neighbours tell."""
        count = len(self.sending)
        said = numbers(WINDOW, count + 1)
        growth = self.rounds.growth[self.rounds.of(np.maximum(np.arange(count) - 1, 0))]
        said[:count][growth <= HELD] = NUMBER[LIMIT]
        said[:count][growth >= DOUBLES] = NUMBER[SLOW_START]
        cut = lost(self.sending)
        if len(cut):
            said[int(cut[0]) + 1 :] = NUMBER[CUT]
        part = self.sending.speaks & ~self.sending.full
        said[:count][self._rested & self._told] = NUMBER[LIMIT]
        said[:count][(self._rested & ~self._told) | (part & np.roll(part, 1))] = NUMBER[IDLE]
        return said

    @property
    def _told(self) -> NDArray[np.bool_]:
        """Whether each packet was sent as soon as something came from the other end."""
        heard = np.sort(self.answers.left[self.answers.arrived])
        last = np.concatenate([[0], heard])[np.searchsorted(heard, self.sending.at, side="right")]
        soon: NDArray[np.bool_] = self.sending.at - last < _SILENT_NS
        return soon

    @cached_property
    def _rested(self) -> NDArray[np.bool_]:
        """Whether, before each packet, all that had been sent was known to have arrived for a while."""
        at, left = self.sending.at, np.where(self.sending.arrived, self.sending.left, 0)
        reached = np.maximum.accumulate(left)
        known = self.answers.heard(reached)
        rested = np.zeros(len(at), bool)
        rested[1:] = known[:-1] < at[1:] - _SILENT_NS
        return rested
