"""Parses one-line conditions, which limit a ratio (`latency new/base <= 1.05`, or `<= +5%`) or a value (`latency new <
200ms`)."""

import operator
import re
from collections.abc import Collection
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, model_validator

from h123.base.complaints import choose, excerpt
from h123.base.strict import Strict
from h123.base.units import Unit, parse_duration, parse_rate, parse_size
from h123.study.metrics.table import METRICS

_FORM = re.compile(
    r"\s*(?P<metric>[a-z0-9_]+)\s+(?P<a>[\w.+-]+)(?:\s*/\s*(?P<b>[\w.+-]+))?\s*(?P<sign><=|>=|<|>)\s*(?P<bound>\S.*?)\s*",
    re.ASCII,
)
_RATIO = re.compile(r"[0-9]*\.?[0-9]+")
_CHANGE = re.compile(r"([+-]?)([0-9]*\.?[0-9]+)\s*%")
_SIGNS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<"}
_LARGEST = 1000.0
"""The largest ratio allowed as a bound; its inverse is the smallest."""
_CLEARLY_A_CHANGE = 50.0
"""The percentage above which a bound is ambiguous without a sign: 95% could mean 0.95 or 1.95."""
_LONGEST = 200
Basis = Literal["interval", "estimate"]
_EXAMPLES: dict[Unit, str] = {
    "s": "200ms",
    "bit/s": "50Mbit/s",
    "B": "20MB",
    "B/s": "5MB/s",
    "/s": "500/s",
    "/min": "1000/min",
    "%": "1%",
    "round trips": "2",
    "packets": "10",
    "connections": "6",
    "": "10",
}


class _ConditionParts(NamedTuple):
    metric: str
    a: str
    b: str | None
    sign: str
    bound_text: str
    """The bound as it is stored."""
    bound: float

    def __str__(self) -> str:
        return f"{self.metric} {self.a if self.b is None else f'{self.a}/{self.b}'} {self.sign} {self.bound_text}"


def _parts(text: str, example: str) -> _ConditionParts:
    """Parse a condition. Raises ValueError if it is not valid."""
    form = (
        f"write a metric, two levels, one of {', '.join(_SIGNS)}, and a ratio or a change, as in {example!r} or "
        f"'{example.rpartition(' ')[0]} +5%'; or one level and a value, as in 'latency new > 200ms'"
    )
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if not match:
        raise ValueError(f"{excerpt(text)} cannot be read; {form}")
    metric, a, b, sign, number = match.groups()
    if metric not in METRICS:
        raise ValueError(f"{excerpt(text)}: there is no metric {metric!r}; {choose(metric, METRICS)}")
    if b is None:
        return _ConditionParts(metric, a, None, sign, *_value(text, number, metric))
    bound = _ratio(text, number, form)
    if not 1 / _LARGEST <= bound <= _LARGEST:
        raise ValueError(
            f"{excerpt(text)}: {number} is not a valid bound for a ratio; it must be {1 / _LARGEST:g} to {_LARGEST:g}"
        )
    return _ConditionParts(metric, a, b, sign, f"{bound:.12g}", bound)


def _ratio(text: str, bound_text: str, form: str) -> float:
    """Return the bound of a ratio (`1.05`) or of a change in percent (`+5%`) as a ratio."""
    if _RATIO.fullmatch(bound_text):
        return float(bound_text)
    change = _CHANGE.fullmatch(bound_text)
    if change is None:
        raise ValueError(f"{excerpt(text)} cannot be read; {form}")
    sign, number = change[1], float(change[2])
    if not sign and number > _CLEARLY_A_CHANGE:
        raise ValueError(f"{excerpt(text)}: write {number / 100:g} for a ratio, or +{number:g}% for a change")
    return float(f"{1 + (-number if sign == '-' else number) / 100:.12g}")


def _value(text: str, number: str, metric: str) -> tuple[str, float]:
    """Return the bound of a value twice: as the text that is stored, and as a number in the metric's unit. Raises
    ValueError if it is not valid."""
    unit = METRICS[metric].unit
    try:
        bound = _READ[unit](number) if unit in _READ else _plain(number, unit)
    except ValueError:
        bound = None
    if bound is None or not 0 <= bound < 1e18:
        raise ValueError(
            f"{excerpt(text)}: {excerpt(number)} is not a value of {metric}; write it as in {_EXAMPLES[unit]!r}, or "
            f"name two levels for a ratio, as in '{metric} new/base > 1.05'"
        )
    return number.replace(" ", ""), bound


def _bits(number: str) -> float:
    """Return a rate such as `50Mbit/s`, or `6MB/s` as results show it, in bits per second."""
    return 8 * float(_bytes_a_second(number)) if number.endswith("B/s") else float(parse_rate(number))


def _bytes_a_second(number: str) -> float:
    if not number.endswith("/s"):
        raise ValueError
    return float(parse_size(number.removesuffix("/s")))


def _plain(value_text: str, unit: Unit) -> float:
    number = value_text.removesuffix(unit).strip() if unit else value_text
    if not _RATIO.fullmatch(number):
        raise ValueError
    return float(number)


_READ = {
    "s": lambda text: parse_duration(text) / 1e9,
    "bit/s": _bits,
    "B": lambda text: float(parse_size(text)),
    "B/s": _bytes_a_second,
}
REQUIRED, FORBIDDEN = "latency new/base <= 1.05", "latency new/base > 1.05"
"""The same example of a condition twice: as what must hold, and as what must not hold."""


class Condition(Strict):
    """A condition such as `latency new/base <= 1.05`, or `{holds: latency new/base <= 1.05, by: estimate}`."""

    holds: Annotated[str, AfterValidator(lambda text: str(_parts(text, REQUIRED)))]
    by: Basis = "interval"
    """The part that must lie within the bound: the whole interval, or only the estimate."""

    @model_validator(mode="before")
    @classmethod
    def _written_short(cls, value: Any) -> Any:
        return {"holds": value} if isinstance(value, str) else value

    @classmethod
    def forbidding(cls, text: str, by: Basis = "interval") -> "Condition":
        """Return the condition that holds exactly when `text`, such as `latency new/base > 1.05`, does not. Raises
        ValueError."""
        parts = _parts(text, FORBIDDEN)
        return cls(holds=str(parts._replace(sign=_OPPOSITE[parts.sign])), by=by)

    @property
    def _read(self) -> _ConditionParts:
        return _parts(self.holds, REQUIRED)

    @property
    def metric(self) -> str:
        """The name of the condition's metric."""
        return self._read.metric

    @property
    def levels(self) -> tuple[str, ...]:
        """The two levels of a ratio, or the single level of a value."""
        parts = self._read
        return (parts.a,) if parts.b is None else (parts.a, parts.b)

    @property
    def subject(self) -> str:
        """The levels as text, such as `new/base` or `new`."""
        return "/".join(self.levels)

    @property
    def bound(self) -> float:
        """The limit on the ratio, or on the value in the metric's own unit."""
        return self._read.bound

    @property
    def upper(self) -> bool:
        """Whether the bound is an upper bound."""
        return self._read.sign in ("<=", "<")

    def allows(self, value: float) -> bool:
        """Return whether the condition holds for this value."""
        return bool(_SIGNS[self._read.sign](value, self._read.bound))

    def __str__(self) -> str:
        return self.holds if self.by == "interval" else f"{self.holds} (estimate)"

    def fault(self, levels: Collection[str], clocks: Collection[str]) -> str | None:
        """Return why trials with these levels and clocks cannot decide the condition, or None if they can."""
        named = f"{self.metric} {self.subject}"
        if unknown := [level for level in self.levels if level not in levels]:
            return f"{named!r}: {unknown[0]!r} is not compared here; {choose(unknown[0], levels)}"
        if len({*self.levels}) < len(self.levels):
            return f"{named!r}: a level is compared with itself"
        if not {*METRICS[self.metric].clocks} & {*clocks}:
            return f"{named!r}: {self.metric} has no value under the {' or '.join(sorted(clocks))} clock"
        return None
