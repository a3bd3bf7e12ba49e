"""The type of a metric: what it measures, which way is better, and how texts and figures show it."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from h123.base.units import Unit, format_value
from h123.study.metrics.quantity import (
    BodyRate,
    Clock,
    Needs,
    OpenedConnections,
    PageTime,
    ProcessorTime,
    Quantity,
    RequestRate,
    RequestTime,
    ResidentMemory,
    StageTime,
    TimeFromSend,
)


@dataclass(frozen=True)
class Words:
    """Words for the better and the worse of two levels, for the best of all, and for smaller and larger values."""

    better: str
    worse: str
    best: str
    less: str
    more: str


SPEED = Words("faster", "slower", "fastest", "faster", "slower")
TAIL = replace(SPEED, less="lower", more="higher")
WAIT = Words("shorter", "longer", "shortest", "shorter", "longer")
RATE = Words("higher", "lower", "highest", "lower", "higher")
AMOUNT = Words("lower", "higher", "lowest", "lower", "higher")
"""Words for metrics that are neither times nor rates: bytes, packets, processor time, shares."""


@dataclass(frozen=True)
class Metric:
    """A row of the table."""

    name: str
    title: str
    unit: Unit = ""
    of: Quantity | None = None
    """The quantity. None for a metric that h123 does not measure."""
    words: Words = Words("better", "worse", "best", "lower", "higher")
    noun: str = ""
    """The noun after a possessive: HTTP/3's goodput is 31 % higher than HTTP/2's. Without one the sentence is about the
    level itself: HTTP/3 is 24 % faster than HTTP/2."""
    meaning: str = ""
    """The explanation in a caption."""
    better: Literal["lower", "higher"] = "lower"
    cold: str | None = None
    """The metric of cold requests that the answer shows next to this one."""
    repeats: str | None = None
    """The metric with which it shares its observation, in a closed loop with requests of one size."""
    zero: bool = False
    """Whether 0 is a normal value, lower than any other."""
    by_role: bool = False
    """Whether one figure shows it together with the other role's if there are values, even if the study does not name
    it."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clocks under which it has a value."""
        return self.of.clocks if self.of else ()

    @property
    def needs(self) -> Needs:
        """A trial's requirements for a value."""
        return self.of.needs if self.of else Needs()

    @property
    def of_requests(self) -> bool:
        """Whether it measures the requests' times. If so, failed requests and a stalling machine make it worse, and the
        two clocks divide it. Processor time and memory count for failed requests like for others."""
        return isinstance(self.of, RequestTime | TimeFromSend | PageTime | StageTime | BodyRate | RequestRate)

    @property
    def of_visits(self) -> bool:
        """Whether it measures visits of a page. Other workloads have no value then."""
        return isinstance(self.of, PageTime | StageTime | OpenedConnections)

    @property
    def of_the_server(self) -> bool:
        """Whether it measures the server's process. A server on another machine has no value then."""
        match self.of:
            case ProcessorTime(roles):
                return "server" in roles
            case ResidentMemory(role):
                return role == "server"
        return False

    @property
    def verdicts(self) -> tuple[str, str]:
        """The words in verdicts.json if the first level is better, and if it is worse: `faster` and `slower`, or
        `lower` and `higher` for an amount."""
        return (self.words.better, self.words.worse) if self.words == AMOUNT else ("faster", "slower")

    def standing(self, verdict: str) -> str:
        """`better` or `worse` if a verdict applies this to the first level; else the verdict."""
        return dict(zip(self.verdicts, ("better", "worse"), strict=True)).get(verdict, verdict)

    @property
    def worst(self) -> float:
        """The value of a trial whose requests failed, which is worse than any real value."""
        return math.inf if self.better == "lower" else 0.0

    @property
    def observation(self) -> str:
        """The name of its observation in a closed loop."""
        return self.repeats or self.name

    def format(self, value: float | None) -> str:
        """A value with its unit, or a dash."""
        return "–" if value is None else format_value(value, self.unit)
