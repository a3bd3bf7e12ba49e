"""Detects responses of different sizes. A smaller response is less work, so a shorter time does not show that a level
is faster.

Only requests for which the study sets no size are compared. If it sets a size, a response of a different size makes the
request fail. If the sizes are constant at both levels, they must be equal. If they vary, they count as different in two
cases. In the first case, every trial of one level has a larger mean than every trial of the other, and the medians of
the means differ by more than `TOLERATED`. In the second case, only one of the levels has empty responses.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case, once
from h123.analysis.comparisons.comparison import Cell, other_cells
from h123.analysis.section import Section
from h123.analysis.trials import TrialSet
from h123.measures import Attempt
from h123.study import Plan, split_pair


class AnswersRow(TypedDict):
    """Two levels whose servers sent different responses to the same request."""

    cell: Cell
    a: str
    b: str
    requests: int
    """The number of the workload's requests whose responses differ. `a_bytes` and `b_bytes` are about the request whose
    responses differ most."""
    a_bytes: Sequence[int]
    """The sizes of level a's smallest and largest responses, in bytes."""
    b_bytes: Sequence[int]


TOLERATED = 0.05
_ASKED = {"kind", "method", "size", "mix", "site", "headers"}
"""The parameters that determine the requests."""


@dataclass(frozen=True)
class Sent:
    """The sizes of the responses to one request in one level's trials, in bytes."""

    least: int
    most: int
    means: Sequence[float]
    """The mean size in each trial."""

    def unlike(self, other: "Sent") -> bool:
        """Return whether the sizes show that the servers of the two levels did different work."""
        if self.least == self.most and other.least == other.most:
            return self.least != other.least
        if (self.least == 0) != (other.least == 0):
            return True
        apart = min(self.means) > max(other.means) or min(other.means) > max(self.means)
        larger, smaller = sorted((median(self.means), median(other.means)), reverse=True)
        return apart and larger > smaller * (1 + TOLERATED)


class Unlike(NamedTuple):
    """Two levels whose responses differ, with the sizes of the responses to the request whose responses differ most."""

    requests: int
    """The number of requests whose responses differ."""
    a: Sent
    b: Sent


def most_unlike(first: Mapping[int, Sent], second: Mapping[int, Sent]) -> Unlike | None:
    """Return the difference for the request whose responses differ most, or None if no responses differ."""
    differences = [
        (first[number], second[number])
        for number in first.keys() & second.keys()
        if first[number].unlike(second[number])
    ]
    if not differences:
        return None
    return Unlike(len(differences), *max(differences, key=lambda sides: abs(sides[0].most - sides[1].most)))


class Answers:
    """The sizes of the responses in a campaign's trials, by treatment."""

    def __init__(self, trials: TrialSet, plan: Plan) -> None:
        self._plan, self._factor = plan, plan.study.compare.factor
        self._attempts: dict[tuple[tuple[str, str], ...], list[Attempt]] = defaultdict(list)
        for attempt in trials.attempts:
            if not attempt.imported:  # other tools may count different bytes
                self._attempts[tuple(sorted(attempt.cell.items()))].append(attempt)

    def unlike(self) -> list[AnswersRow]:
        """Return the `answers` part of verdicts.json: a row for each cell and pair with different responses."""
        return [
            row
            for cell in other_cells(self._plan)
            for pair in self._plan.pairs
            if (row := self.between(cell, *split_pair(pair)))
        ]

    def between(self, cell: Cell, a: str, b: str) -> AnswersRow | None:
        """Return the row for two levels whose responses differ. None if the responses are alike, or if the levels make
        different requests on purpose. `cell` need not name a level of every factor."""
        if a == b or not self._same_requests(cell, a, b):
            return None
        difference = most_unlike(*(self.of({**cell, self._factor: level}) for level in (a, b)))
        if difference is None:
            return None
        return {
            "cell": cell,
            "a": a,
            "b": b,
            "requests": difference.requests,
            "a_bytes": [difference.a.least, difference.a.most],
            "b_bytes": [difference.b.least, difference.b.most],
        }

    def _same_requests(self, cell: Cell, a: str, b: str) -> bool:
        study = self._plan.study
        whole = {factor: next(iter(levels)) for factor, levels in study.factors.items()} | cell
        sides = (study.parameters({**whole, self._factor: level}) for level in (a, b))
        request_parameters, right = (side.model_dump(include=_ASKED) for side in sides)
        return request_parameters == right

    def of(self, cell: Cell) -> Mapping[int, Sent]:
        """Return the sizes of a treatment's responses, by request. `cell` need not name a level of every factor."""
        attempts = [
            attempt for key, had in self._attempts.items() if cell.items() <= dict(key).items() for attempt in had
        ]
        return {resource: bytes_sent for resource in _open(attempts) if (bytes_sent := _sent_bytes(attempts, resource))}


def _open(attempts: Sequence[Attempt]) -> Iterable[int]:
    """Return the requests for which the study sets no size."""
    exchanges = attempts[0].workload.exchanges() if attempts else []
    return [
        number for number, exchange in enumerate(exchanges) if exchange.down is None and exchange.method is not None
    ]


def _sent_bytes(attempts: Sequence[Attempt], resource: int) -> Sent | None:
    had = [body.down for attempt in attempts for body in attempt.summary.bodies if body.resource == resource]
    sizes = [size for ends in had for size in ends if size is not None]
    means = [
        attempt.summary.warm_bytes_down / attempt.summary.warm_ok
        for attempt in attempts
        if attempt.summary.warm_ok and attempt.summary.warm_bytes_down is not None
    ]
    return Sent(min(sizes), max(sizes), means) if sizes and means else None


def difference_words(difference: Unlike, a: str, b: str) -> str:
    """Describe a difference, for example as `base answers with 240000 B, new with 0 B`."""
    ends = [[side.least, side.most] for side in (difference.a, difference.b)]
    return answers_words(
        {"cell": {}, "a": a, "b": b, "requests": difference.requests, "a_bytes": ends[0], "b_bytes": ends[1]}
    )


def answers_words(row: AnswersRow) -> str:
    """Describe a row of verdicts.json in the same words as `difference_words`."""
    more = f" (one of {row['requests']} requests that differ)" if row["requests"] > 1 else ""
    return f"{row['a']} answers with {_span(row['a_bytes'])}, {row['b']} with {_span(row['b_bytes'])}{more}"


def _span(ends: Sequence[int]) -> str:
    least, most = ends
    return f"{least} B" if least == most else f"{least} to {most} B"


@once
def answers(case: Case) -> Answers:
    """Return the sizes of a campaign's responses to the requests for which the study sets no size."""
    return Answers(case.trials, case.plan)


class AnswersPart(TypedDict):
    answers: NotRequired[Sequence[AnswersRow]]


def _compute(case: Case) -> AnswersPart:
    return {"answers": answers(case).unlike()}


SECTION = Section(AnswersPart, _compute)
