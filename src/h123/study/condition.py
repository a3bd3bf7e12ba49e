"""Conditions: what a ratio must be, in a line: `latency new/base <= 1.05`."""

import operator
import re
from collections.abc import Collection
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, model_validator

from h123.strict import Strict, choose, shown
from h123.study.metrics import METRICS

_FORM = re.compile(r"\s*([a-z0-9_]+)\s+([\w.+-]+)\s*/\s*([\w.+-]+)\s*(<=|>=|<|>)\s*([0-9]*\.?[0-9]+)\s*", re.ASCII)
_SIGNS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<"}
_LARGEST = 1000.0
"""Ratio that makes sense as a bound; its inverse is the smallest."""
Basis = Literal["interval", "estimate"]


class _Parts(NamedTuple):
    metric: str
    a: str
    b: str
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.metric} {self.a}/{self.b} {self.sign} {self.bound:.12g}"


def _parts(text: str, example: str) -> _Parts:
    """Raises ValueError."""
    form = f"write a metric, two levels, one of {', '.join(_SIGNS)}, and a ratio, as in {example!r}"
    found = _FORM.fullmatch(text)
    if not found:
        raise ValueError(f"{shown(text)} cannot be read; {form}")
    metric, a, b, sign, number = found.groups()
    if metric not in METRICS:
        raise ValueError(f"{shown(text)}: there is no metric {metric!r}; {choose(metric, METRICS)}")
    bound = float(number)
    if not 1 / _LARGEST <= bound <= _LARGEST:
        raise ValueError(
            f"{shown(text)}: {number} is no bound for a ratio; it must be {1 / _LARGEST:g} to {_LARGEST:g}"
        )
    return _Parts(metric, a, b, sign, bound)


REQUIRED, FORBIDDEN = "latency new/base <= 1.05", "latency new/base > 1.05"
"""The same, said either way."""


class Condition(Strict):
    """`latency new/base <= 1.05`, or `{holds: latency new/base <= 1.05, by: estimate}`."""

    holds: Annotated[str, AfterValidator(lambda text: str(_parts(text, REQUIRED)))]
    by: Basis = "interval"
    """What must be within the bound: the ratio's whole interval, or its estimate alone."""

    @model_validator(mode="before")
    @classmethod
    def _written_short(cls, given: Any) -> Any:
        return {"holds": given} if isinstance(given, str) else given

    @classmethod
    def forbidding(cls, text: str, by: Basis = "interval") -> "Condition":
        """What holds where `text`, such as `latency new/base > 1.05`, does not. Raises ValueError."""
        parts = _parts(text, FORBIDDEN)
        return cls(holds=str(parts._replace(sign=_OPPOSITE[parts.sign])), by=by)

    @property
    def _read(self) -> _Parts:
        return _parts(self.holds, REQUIRED)

    @property
    def metric(self) -> str:
        """Of which the ratio is."""
        return self._read.metric

    @property
    def pair(self) -> str:
        """`new/base`."""
        return f"{self._read.a}/{self._read.b}"

    @property
    def bound(self) -> float:
        """The last ratio that is allowed, or the first that is not."""
        return self._read.bound

    @property
    def upper(self) -> bool:
        """Whether smaller ratios are allowed, not larger ones."""
        return self._read.sign in ("<=", "<")

    def allows(self, ratio: float) -> bool:
        """Whether it holds for this one."""
        return bool(_SIGNS[self._read.sign](ratio, self._read.bound))

    def __str__(self) -> str:
        return self.holds if self.by == "interval" else f"{self.holds} (estimate)"

    def fault(self, pairs: Collection[str], clocks: Collection[str]) -> str | None:
        """Why it cannot be held against what compares these `pairs` (by this metric) under these clocks, in words."""
        if self.pair not in pairs:
            a, b = self.pair.split("/")
            if f"{b}/{a}" in pairs:
                return f"{self.holds!r}: {b}/{a} is compared: turn the condition round"
            has = f"only {', '.join(pairs)}" if pairs else "nothing"
            return f"{self.holds!r}: of {self.metric} {has} is compared, not {self.pair}"
        if not {*METRICS[self.metric].clocks} & {*clocks}:
            return f"{self.holds!r}: {self.metric} has no value under the {' or '.join(sorted(clocks))} clock"
        return None
