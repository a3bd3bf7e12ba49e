"""What makes a gate fail, in a line: `latency new/base > 1.05`."""

import re
from dataclasses import dataclass

from h123.errors import UserError
from h123.strict import choose
from h123.study import METRICS

_FORM = re.compile(r"\s*([a-z0-9_]+)\s+([\w.-]+)\s*/\s*([\w.-]+)\s*([<>])\s*([0-9]*\.?[0-9]+)\s*")
_EXAMPLE = "write it as 'latency new/base > 1.05': a metric, two levels, > or <, and a ratio"


@dataclass(frozen=True)
class Condition:
    """The gate fails where the ratio of `a` to `b` is above, or below, the limit."""

    metric: str
    a: str
    b: str
    above: bool
    limit: float

    def __str__(self) -> str:
        return f"{self.metric} {self.a}/{self.b} {'>' if self.above else '<'} {self.limit:g}"


def read_condition(text: str) -> Condition:
    """Raises UserError."""
    found = _FORM.fullmatch(text)
    if not found:
        raise UserError(f"--fail-if {text!r}: cannot be read", remedy=_EXAMPLE)
    metric, a, b, sign, limit = found.groups()
    if metric not in METRICS:
        raise UserError(f"--fail-if {text!r}: there is no metric {metric!r}; {choose(metric, METRICS)}")
    if not float(limit):
        raise UserError(f"--fail-if {text!r}: the limit of a ratio is above 0", remedy=_EXAMPLE)
    return Condition(metric, a, b, sign == ">", float(limit))
