"""Explains the time from a client's move until the next complete response (docs/migration.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from h123.causes.cause import ANEW, CLIENT_WORK, CONNECTING, GONE, IDLE, NUMBER, Nanoseconds, time_on
from h123.causes.connections.connection import Connection
from h123.causes.explainer import Explainer
from h123.causes.stretch import middle
from h123.store import Sample


@dataclass(frozen=True)
class Recovery:
    """The recovery from one move. All times are in ns."""

    at: int
    request_at: int
    """When a request was first in progress after the move."""
    failed: int
    """The end of the last request that failed between the move and the answered request, for the same user. 0: none
    failed."""
    answer: Sample
    """The sample of the first request that was answered after the move."""

    def durations(self, connection: Connection, explainer: Explainer, number: int) -> Nanoseconds:
        """Return the ns spent on each cause. `number`: the index of the answered request in `explainer`."""
        request_at = min(self.request_at, max(connection.begin, self.at))
        time = time_on(IDLE, self.at, request_at)
        if connection.begin < self.at:
            return time + explainer.since(number, request_at)
        noticed = max(request_at, self._noticed(connection.begin))
        time += time_on(GONE, request_at, noticed) + time_on(CLIENT_WORK, noticed, connection.begin)
        reconnecting = explainer.from_opening(number)
        reconnecting[NUMBER[ANEW]], reconnecting[NUMBER[CONNECTING]] = reconnecting[NUMBER[CONNECTING]], 0
        return time + reconnecting

    def _noticed(self, begin: int) -> int:
        """Return when the client noticed, by a failed request, that it needed a new connection. If no request failed,
        or if the answered request was first sent on an earlier connection, return `begin`, when the new connection
        began."""
        sent_ns = self.answer["sent_ns"]
        return begin if not self.failed or (sent_ns is not None and sent_ns < begin) else self.failed


def middle_recoveries(moves: Sequence[int], rows: Sequence[Sample]) -> list[Recovery]:
    """Return the recovery of median length among those from the trial's moves. For an even number of moves, return the
    two in the middle, whose mean duration is the median. A move that no response followed ranks as the longest
    recovery. The list is empty if such a move would be in the middle."""
    answers = sorted((row for row in rows if not row["error"]), key=lambda row: row["end_ns"])
    answers_of_moves = [(at, next((row for row in answers if row["end_ns"] > at), None)) for at in moves]
    ordered = sorted(answers_of_moves, key=lambda pair: pair[1]["end_ns"] - pair[0] if pair[1] else math.inf)
    pairs = [(at, answer) for at, answer in middle(ordered) if answer]
    return [_recovery(at, answer, rows) for at, answer in pairs] if len(pairs) == len(middle(ordered)) else []


def _recovery(at: int, answer: Sample, rows: Sequence[Sample]) -> Recovery:
    request_at = min(max(row["start_ns"], at) for row in rows if row["end_ns"] > at)
    failed = (row["end_ns"] for row in rows if row["error"] and row["user"] == answer["user"])
    last = max((end for end in failed if at < end <= answer["start_ns"]), default=0)
    return Recovery(at, request_at, last, answer)
