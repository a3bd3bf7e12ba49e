"""Converts quantities between the form that people write (15ms, 20Mbit/s, 100kB, 0.5%) and the stored form (ns, bit/s,
bytes, shares).

Prefixes are decimal: 1 kB = 1000 bytes, 1 Mbit/s = 10^6 bits a second. KiB, MiB and GiB are binary. Each kind has
limits (docs/contracts/study.md), so that no computation with a quantity can overflow or run forever.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from h123.base.complaints import excerpt

_NUMBER = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)", re.ASCII)
_LONGEST = 60
"""The largest number of characters in a quantity. Every sensible number with a unit is shorter."""


@dataclass(frozen=True)
class _Kind:
    """A kind of quantity, with its units and limits."""

    units: dict[str, int]
    example: str
    most: str
    least: str | None = None

    def parse(self, text: object) -> int:
        """Parse a quantity, and return it as a whole number of the smallest unit. Raises ValueError."""
        number, unit = _split(text)
        if unit not in self.units:
            units = ", ".join(filter(None, self.units))
            raise ValueError(f"{excerpt(text)} is not valid; write a number and one of {units}, such as {self.example}")
        try:
            value = Decimal(number)
        except InvalidOperation:
            raise ValueError(f"{excerpt(text)} does not start with a number") from None
        if value < 0:
            raise ValueError(f"{excerpt(text)} is negative; it must be 0 or more")
        # Compare before scaling, because a number with a huge exponent must never be written out.
        if value > self._limit(self.most) / self.units[unit]:
            raise ValueError(f"{excerpt(text)} is too large; the largest that makes sense here is {self.most}")
        if self.least and value < self._limit(self.least) / self.units[unit]:
            raise ValueError(f"{excerpt(text)} is too small; the smallest that makes sense here is {self.least}")
        if self.units[unit] == 1 and value != value.to_integral_value():
            raise ValueError(
                f"{excerpt(text)} is not a whole number; write one, or a larger unit, such as {self.example}"
            )
        return int((value * self.units[unit]).to_integral_value())

    def _limit(self, text: str) -> Decimal:
        number, unit = _split(text)
        return Decimal(number) * self.units[unit or ""]


_TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_DURATION = _Kind(_TIME_UNITS, "15ms", most="168h")
_DELAY = _Kind(_TIME_UNITS, "15ms", most="1min")
_SIZE = _Kind(
    {
        "": 1,
        "B": 1,
        "kB": 10**3,
        "KB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
    },
    "100kB",
    most="100GB",
)
_RATE = _Kind(
    {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}, "20Mbit/s", most="100Gbit/s", least="1kbit/s"
)


def _split(text: object) -> tuple[str, str | None]:
    """Return the number and the unit as they are written. The unit is None if the text is not a quantity."""
    stripped = str(text).strip()
    match = _NUMBER.fullmatch(stripped) if len(stripped) <= _LONGEST else None
    return (match[1], match[2]) if match else ("", None)


def parse_duration(text: object) -> int:
    """Return a duration such as `15ms` or `1.5s` in nanoseconds. Raises ValueError."""
    return 0 if text == 0 else _DURATION.parse(text)


def parse_delay(text: object) -> int:
    """Return a delay such as `15ms` in nanoseconds. Raises ValueError, also for delays over which connections do not
    work."""
    return 0 if text == 0 else _DELAY.parse(text)


def parse_size(text: object) -> int:
    """Return a size such as `100kB` in bytes. A number without a unit is in bytes. Raises ValueError."""
    return _SIZE.parse(text)


def parse_rate(text: object) -> int:
    """Return a rate such as `20Mbit/s` in bits per second. Raises ValueError."""
    return _RATE.parse(text)


def parse_share(text: object) -> float:
    """Return a share from 0 to 1, written as `0.5%` or `0.005`. Raises ValueError."""
    value = _part(text, "a share; write 0.5% or 0.005")
    if not 0 <= value <= 1:
        raise ValueError(f"{excerpt(text)} is outside 0 to 1 (0% to 100%)")
    return value


def parse_change(text: object) -> float:
    """Return a relative change, above -1 and not 0, written as `-31.2 %` or `-0.312`. Raises ValueError."""
    value = _part(text, "a change; write -31.2 % or -0.312")
    if not -1 < value < math.inf or value == 0:
        raise ValueError(f"{excerpt(text)} is not a change: it must be above -100 %, and not 0")
    return value


def _part(text: object, kind: str) -> float:
    """Parse a number or a percentage. Raises ValueError."""
    number, unit = _split(text)
    try:
        if unit not in ("", "%"):
            raise ValueError
        return float(number) / (100 if unit else 1)
    except ValueError:
        raise ValueError(f"{excerpt(text)} is not {kind}") from None


Unit = Literal["s", "bit/s", "B", "B/s", "/s", "/min", "round trips", "packets", "connections", "%", ""]
"""The units in which measured values are stored."""
_FAR_APART = 100.0
"""The smallest ratio of two values that do not read well in the same unit."""
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))
_STEPS: dict[Unit, Sequence[tuple[float, str]]] = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "bit/s": tuple((8 * factor, f"{name}/s") for factor, name in _BYTES),  # rates of links are in bits: format_rate
    "B": _BYTES,
    "B/s": tuple((factor, f"{name}/s") for factor, name in _BYTES),
    "/s": ((1e3, "k/s"), (1, "/s")),
    "/min": ((1, "/min"),),
    "round trips": ((1, "round trips"),),
    "packets": ((1, "packets"),),
    "connections": ((1, "connections"),),
    "%": ((1, "%"),),
    "": ((1, ""),),
}
"""The units in which people read values, the largest first."""


def _scaled(value: float, steps: Sequence[tuple[float, str]]) -> str:
    # Round first, so that 999.7 kB become 1 MB.
    rounded = abs(float(f"{value:.3g}"))
    factor, unit = next((step for step in steps if rounded >= step[0]), steps[-1])
    return f"{figures(value / factor)} {unit}".rstrip()


def figures(value: float, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, but keep all digits before the decimal point: `0.0123`, `71.3`,
    `2740`, not `2.74e+03`."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{Decimal(f'{value:.{digits}g}'):f}"


def format_value(value: float, unit: Unit) -> str:
    """Format a measured value for a table: `71.3 ms`, or `2.4 MB/s` for a value in bit/s."""
    return _scaled(value, _STEPS[unit])


def common_unit(values: Iterable[float], unit: Unit) -> tuple[float, str]:
    """Return the factor and the name of the unit in which the median of `values` reads best, for an axis."""
    ordered, steps = sorted(values), _STEPS[unit]
    middle = ordered[len(ordered) // 2] if ordered else 1.0
    return next((step for step in steps if middle >= step[0]), steps[-1])


def format_alike(value: float, row: Iterable[float], unit: Unit) -> str:
    """Format a value in the common unit of its table row: the one in which the row's middle value reads best. If the
    row's values are far apart, each value gets its own unit."""
    known = [abs(other) for other in row if other]
    if not known or max(known) >= _FAR_APART * min(known):
        return format_value(value, unit)
    factor, name = common_unit(known, unit)
    return f"{figures(value / factor)} {name}".rstrip()


def format_seconds(seconds: float) -> str:
    """Format a measured time for a table: `71.3 ms`, `1.24 s`."""
    return format_value(seconds, "s")


def format_bytes(size: float) -> str:
    """Format a size for a table: `100 kB`."""
    return format_value(size, "B")


def format_rate(bps: float) -> str:
    """Format a rate for a table: `19.1 Mbit/s`."""
    return _scaled(bps, ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")))


def format_share(share: float) -> str:
    """Format an estimated share as a percentage with two significant digits, because it is no more precise than that:
    `5 %`, `0.74 %`."""
    return f"{float(f'{100 * share:.2g}'):g} %"


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: `1 block`, `8 blocks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_span(seconds: float) -> str:
    """Format how long something took or will take: `42 s`, `3 min 20 s`, `29 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
