"""A metric of a trial: what is measured, which way is better, how it is said and drawn."""

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
    """What the better and the worse of two levels are called, the best one of all, and smaller and larger values."""

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
"""Of what is neither a time nor a rate: bytes, packets, processor time, shares."""


@dataclass(frozen=True)
class Metric:
    """A row of the table."""

    name: str
    title: str
    unit: Unit = ""
    of: Quantity | None = None
    """None of what nobody here measures."""
    words: Words = Words("better", "worse", "best", "lower", "higher")
    noun: str = ""
    """What of a level is compared, after a possessive: HTTP/3's goodput is 31 % higher than HTTP/2's. Without one it is
    the level itself: HTTP/3 is 24 % faster than HTTP/2."""
    meaning: str = ""
    """For a caption."""
    better: Literal["lower", "higher"] = "lower"
    cold: str | None = None
    """The same of cold requests, which stands in brackets beside it in the answer."""
    repeats: str | None = None
    """The metric that it is the same observation as, in a closed loop with requests of one size."""
    zero: bool = False
    """Whether nothing is a value like others, lower than any other."""
    by_role: bool = False
    """Drawn in one figure with the other role's, wherever there are values, asked for or not."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """Those that it has a value under."""
        return self.of.clocks if self.of else ()

    @property
    def needs(self) -> Needs:
        """What a trial must have for a value."""
        return self.of.needs if self.of else Needs()

    @property
    def of_requests(self) -> bool:
        """Whether it is of the requests' times: so that requests that fail, and a machine that stalls, make it worse,
        and the two clocks split it. What a processor or memory did for failed ones is as real as for others."""
        return isinstance(self.of, RequestTime | TimeFromSend | PageTime | StageTime | BodyRate | RequestRate)

    @property
    def of_visits(self) -> bool:
        """Whether it is of visits of a page, so that other workloads have none."""
        return isinstance(self.of, PageTime | StageTime | OpenedConnections)

    @property
    def of_the_server(self) -> bool:
        """Whether it takes a look at the server's process: there is none of a server that runs elsewhere."""
        match self.of:
            case ProcessorTime(roles):
                return "server" in roles
            case ResidentMemory(role):
                return role == "server"
        return False

    @property
    def verdicts(self) -> tuple[str, str]:
        """What verdicts.json calls the first level where it is better, and where it is worse: `faster` and `slower`, or
        `lower` and `higher` of an amount."""
        return (self.words.better, self.words.worse) if self.words == AMOUNT else ("faster", "slower")

    def standing(self, verdict: str) -> str:
        """`better` or `worse` where a verdict says that the first level is; else the verdict."""
        return dict(zip(self.verdicts, ("better", "worse"), strict=True)).get(verdict, verdict)

    @property
    def worst(self) -> float:
        """Of a trial whose requests failed: beyond any value that a trial can have."""
        return math.inf if self.better == "lower" else 0.0

    @property
    def observation(self) -> str:
        """The name of what it observes in a closed loop."""
        return self.repeats or self.name

    def format(self, value: float | None) -> str:
        """A value with its unit, or a dash."""
        return "–" if value is None else format_value(value, self.unit)
