"""What the time from a client's move until the next whole answer was spent on (docs/migration.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from h123.causes.cause import ANEW, CLIENT_WORK, CONNECTING, GONE, IDLE, NUMBER, Nanoseconds, spent
from h123.causes.connections.connection import Connection
from h123.causes.explainer import Explainer
from h123.causes.stretch import middle
from h123.store import Sample


@dataclass(frozen=True)
class Recovery:
    """From one move; ns."""

    at: int
    asked: int
    """When, from the move on, a request was under way."""
    failed: int
    """When the last one of the user whose request was answered first had failed; 0: none had."""
    answer: Sample
    """Of that request."""

    def spent(self, connection: Connection, explainer: Explainer, number: int) -> Nanoseconds:
        """On each cause; by what explains the answer, its number there."""
        asked = min(self.asked, max(connection.began, self.at))
        time = spent(IDLE, self.at, asked)
        if connection.began < self.at:
            return time + explainer.since(number, asked)
        noticed = max(asked, self._noticed(connection.began))
        time += spent(GONE, asked, noticed) + spent(CLIENT_WORK, noticed, connection.began)
        anew = explainer.from_opening(number)
        anew[NUMBER[ANEW]], anew[NUMBER[CONNECTING]] = anew[NUMBER[CONNECTING]], 0
        return time + anew

    def _noticed(self, began: int) -> int:
        """When its client knew that it needed another connection, which then began to be made: when a request had
        failed; none where this one itself was sent on the old one first."""
        sent = self.answer["sent_ns"]
        return began if not self.failed or (sent is not None and sent < began) else self.failed


def middle_recoveries(moves: Sequence[int], rows: Sequence[Sample]) -> list[Recovery]:
    """Of a trial's samples, those that failed too, the recovery in the middle, of an even number of moves both that
    are: their mean is the trial's median. None where nothing was answered any more, which is longer than any other."""
    answers = sorted((row for row in rows if not row["error"]), key=lambda row: row["end_ns"])
    found = [(at, next((row for row in answers if row["end_ns"] > at), None)) for at in moves]
    ordered = sorted(found, key=lambda one: one[1]["end_ns"] - one[0] if one[1] else math.inf)
    chosen = [(at, answer) for at, answer in middle(ordered) if answer]
    return [_recovery(at, answer, rows) for at, answer in chosen] if len(chosen) == len(middle(ordered)) else []


def _recovery(at: int, answer: Sample, rows: Sequence[Sample]) -> Recovery:
    asked = min(max(row["start_ns"], at) for row in rows if row["end_ns"] > at)
    failed = (row["end_ns"] for row in rows if row["error"] and row["user"] == answer["user"])
    last = max((end for end in failed if at < end <= answer["start_ns"]), default=0)
    return Recovery(at, asked, last, answer)
