"""Quantities as people write them (15ms, 20Mbit/s, 100kB, 0.5%) and as machines keep them (ns, bit/s, bytes, shares).

Decimal prefixes throughout: 1 kB = 1000 bytes, 1 Mbit/s = 10^6 bits a second; KiB, MiB, GiB are binary.
"""

import math
import re
from decimal import Decimal, InvalidOperation

_TIME = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_SIZE = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_RATE = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
_NUMBER = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*")


def _quantity(text: object, units: dict[str, int], example: str, bare_unit: str | None = None) -> int:
    match = _NUMBER.fullmatch(str(text))
    unit = (match.group(2) or bare_unit) if match else None
    if not match or unit not in units:
        raise ValueError(f"{text!r} is not valid; write a number and one of {', '.join(units)}, such as {example}")
    try:
        value = Decimal(match.group(1)) * units[unit]
    except InvalidOperation:
        raise ValueError(f"{text!r} does not start with a number") from None
    if value < 0:
        raise ValueError(f"{text!r} is negative; it must be 0 or more")
    return int(value.to_integral_value())


def parse_duration(text: object) -> int:
    """Nanoseconds of a duration such as `15ms` or `1.5s`. Raises ValueError."""
    return _quantity(0 if text == 0 else text, _TIME, "15ms", "ns" if text == 0 else None)


def parse_size(text: object) -> int:
    """Bytes of a size such as `100kB`; a bare number is bytes. Raises ValueError."""
    return _quantity(text, _SIZE, "100kB", "B")


def parse_rate(text: object) -> int:
    """Bits per second of a rate such as `20Mbit/s`. Raises ValueError."""
    return _quantity(text, _RATE, "20Mbit/s")


def parse_share(text: object) -> float:
    """A share in [0, 1] of `0.5%` or `0.005`. Raises ValueError."""
    written = str(text).strip()
    try:
        value = float(written.rstrip("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{text!r} is not a share; write 0.5% or 0.005") from None
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is outside 0 to 1 (0% to 100%)")
    return value


def parse_change(text: object) -> float:
    """A relative change above -1 of `-31.2 %` or `-0.312`. Raises ValueError."""
    written = str(text).strip()
    try:
        value = float(written.rstrip("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{text!r} is not a change; write -31.2 % or -0.312") from None
    if not -1 < value < math.inf or value == 0:
        raise ValueError(f"{text!r} is not a change: it must be above -100 %, and not 0")
    return value


def _scaled(value: float, steps: list[tuple[float, str]]) -> str:
    for factor, unit in steps:
        if abs(value) >= factor:
            return f"{value / factor:.3g} {unit}"
    factor, unit = steps[-1]
    return f"{value / factor:.3g} {unit}"


def format_seconds(seconds: float) -> str:
    """A measured time for a table: `71.3 ms`, `1.24 s`."""
    return _scaled(seconds, [(1, "s"), (1e-3, "ms"), (1e-6, "µs")])


def format_bytes(size: float) -> str:
    """A size for a table: `100 kB`."""
    return _scaled(size, [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")])


def format_rate(bps: float) -> str:
    """A rate for a table: `19.1 Mbit/s`."""
    return _scaled(bps, [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")])


def format_span(seconds: float) -> str:
    """A span of work for a person: `42 s`, `3 min 20 s`, `29 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
