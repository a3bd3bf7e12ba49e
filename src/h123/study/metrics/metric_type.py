"""Defines what a metric consists of: its quantity, whether lower or higher values are better, and how text and figures
show it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from h123.base.units import Unit, format_alike, format_value
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
    """Words that compare levels: for the better and the worse of two, for the best of all, and for the smaller and the
    larger value."""

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
"""Words for amounts, such as bytes, packets, processor time and percentages."""


@dataclass(frozen=True)
class Metric:
    """A metric, which is one row of the table of metrics."""

    name: str
    title: str
    unit: Unit = ""
    of: Quantity | None = None
    """The measured quantity. None for a metric that h123 does not measure."""
    words: Words = Words("better", "worse", "best", "lower", "higher")
    noun: str = ""
    """The noun after a possessive, as in "HTTP/3's goodput is 31 % higher than HTTP/2's". Without a noun, the sentence
    is about the level itself: "HTTP/3 is 24 % faster than HTTP/2"."""
    meaning: str = ""
    """The explanation in a caption."""
    better: Literal["lower", "higher"] = "lower"
    cold: str | None = None
    """The name of the corresponding metric of cold requests, which the answer shows next to this one."""
    repeats: str | None = None
    """The name of the metric that this one merely repeats if the load is a closed loop."""
    zero: bool = False
    """Whether 0 is a normal value and better than any other."""
    by_role: bool = False
    """Whether a figure of this metric also shows the values of other roles, even if the study does not name their
    metrics."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clocks under which the metric has a value."""
        return self.of.clocks if self.of else ()

    @property
    def needs(self) -> Needs:
        """The requirements that a trial must meet for a value to be computed."""
        return self.of.needs if self.of else Needs()

    @property
    def of_requests(self) -> bool:
        """Whether the metric measures the times or rates of requests. Such a metric gets worse if requests fail or the
        machine stalls, and if trials ran under both clocks, h123 divides it into parts. Processor time and memory are
        not such metrics, because they include failed requests."""
        return isinstance(self.of, RequestTime | TimeFromSend | PageTime | StageTime | BodyRate | RequestRate)

    @property
    def of_visits(self) -> bool:
        """Whether the metric measures page visits. It has no value in other workloads."""
        return isinstance(self.of, PageTime | StageTime | OpenedConnections)

    @property
    def of_the_server(self) -> bool:
        """Whether the metric measures the server's process. It has no value if the server runs on another machine."""
        match self.of:
            case ProcessorTime(roles):
                return "server" in roles
            case ResidentMemory(role):
                return role == "server"
        return False

    @property
    def verdicts(self) -> tuple[str, str]:
        """The words in verdicts.json for a better and a worse first level: `faster` and `slower`, or `lower` and
        `higher` for an amount."""
        return (self.words.better, self.words.worse) if self.words == AMOUNT else ("faster", "slower")

    def standing(self, verdict: str) -> str:
        """Return `better` or `worse` if the verdict says so about the first level; otherwise return the verdict."""
        return dict(zip(self.verdicts, ("better", "worse"), strict=True)).get(verdict, verdict)

    @property
    def worst(self) -> float:
        """The value of a trial whose requests failed. It is worse than any real value."""
        return math.inf if self.better == "lower" else 0.0

    @property
    def observation(self) -> str:
        """The name of the metric that expresses the same observation in a closed loop, or this metric's own name if
        there is none."""
        return self.repeats or self.name

    def format(self, value: float | None) -> str:
        """Return the value with its unit, or a dash for None."""
        return "–" if value is None else format_value(value, self.unit)

    def format_alike(self, value: float | None, row: Iterable[float | None]) -> str:
        """Return the value in the unit that its row of a table uses, or a dash for None."""
        known = [other for other in row if other is not None]
        return "–" if value is None else format_alike(value, known, self.unit)
