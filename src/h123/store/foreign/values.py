"""Parses times and numbers as other tools write them, including their words for missing values."""

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from h123.store.compact import LIMIT

NONE = {"", "-", "--", "err", "error", "fail", "failed", "n/a", "na", "nan", "none", "null", "inf", "infinity"}
"""Words that replace a number for a failed request."""
TIMEOUTS = {"timeout", "timed out", "time out", "timedout"}
_SCALE = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_EPOCH_NS = (946_684_800 * 10**9, 7_258_118_400 * 10**9)
"""The beginnings of the years 2000 and 2200, in ns since 1970. A date outside this range is in a different unit."""
_EXCERPT = 60
"""The number of characters of an unexpected value that a message shows."""
_MOST_DIGITS = 40
"""The largest number of digits of a value. Writing out `1e999999` would take minutes."""


class WrongValue(ValueError):
    """Raised for an impossible value. The message says what is wrong and what to do about it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def quoted(text: str) -> str:
    return repr(text[:_EXCERPT])


def is_absent(text: str) -> bool:
    return text.strip().lower() in NONE | TIMEOUTS


def is_timeout(text: str) -> bool:
    return text.strip().lower() in TIMEOUTS


def time_ns(name: str, text: str, unit: str) -> int:
    """Return a time or a duration in ns. Raises WrongValue."""
    is_date = unit == "rfc3339" or (unit == "unix" and "T" in text)
    whole = _rfc3339(text) if is_date else _scaled(name, text, unit)
    if unit.startswith(("unix", "rfc3339")) and not _EPOCH_NS[0] <= whole <= _EPOCH_NS[1]:
        message = f"{name} is {quoted(text)}, which is not a date for the unit {unit}"
        raise WrongValue(message, f"write the file's unit into the schema: {name} {{column: ..., unit: unix}} fits any")
    if abs(whole) >= LIMIT:
        message = f"{name} is {quoted(text)}: too large for a time in {unit}"
        raise WrongValue(message, f"write the file's unit into the schema's `{name}`, or correct the row")
    return whole


def coarse(text: str, unit: str) -> bool:
    """Return whether a date is given in whole seconds, which is too coarse to tell requests apart."""
    return unit == "unix" and re.fullmatch(r"\d{1,11}|[^.]*T[^.]*", text.strip()) is not None


def _scaled(name: str, text: str, unit: str) -> int:
    try:
        value = Decimal(text)
        if unit == "unix":
            # Dates since 2000 have 9 or 10 digits in seconds, and three more with each finer unit.
            factor = 10 ** (9 - 3 * max(min((value.adjusted() - 8) // 3, 3), 0))
        else:
            factor = _SCALE[unit.removeprefix("unix-")]
        value *= factor
        return int(value.to_integral_value()) if value.adjusted() < _MOST_DIGITS else LIMIT
    except (ArithmeticError, ValueError):
        raise WrongValue(f"{name} is {quoted(text)}, not a number", _not_a_number(name, text)) from None


def _not_a_number(name: str, text: str) -> str:
    word = f"{{{quoted(text)}: ''}}"
    return f"if that marks a failed request, add `values: {word}` to the schema's `{name}`; otherwise correct the row"


def _rfc3339(text: str) -> int:
    """Return a time such as `2017-05-09T14:34:45.625742514+02:00` in ns since 1970, without losing digits."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:\d\d)", text)
    try:
        if match:
            moment = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00"))
            return int(moment.timestamp()) * 10**9 + int((match[2] or "").ljust(9, "0"))
    except (ValueError, OverflowError):
        pass  # no such day
    message = f"{quoted(text)} is not a time such as 2017-05-09T14:34:45.625742514+02:00"
    raise WrongValue(message, "write the file's unit into the schema, or correct the row")


def whole_number(name: str, text: str) -> int:
    """Return a whole number. Raises WrongValue."""
    try:
        value = int(text)
    except ValueError:
        raise WrongValue(f"{name} is {quoted(text)}, not a whole number", _not_a_number(name, text)) from None
    if abs(value) >= LIMIT:
        raise WrongValue(f"{name} is {quoted(text)}: too large", "correct the row")
    return value


def one_of(name: str, text: str, allowed: Iterable[str]) -> str:
    """Return the text if it is an allowed word. Raises WrongValue for any other."""
    if text in allowed:
        return text
    message = f"{name} is {quoted(text)}, not one of {', '.join(allowed)}"
    raise WrongValue(message, f"add what it means to the schema's `{name}`: `values: {{{quoted(text)}: ...}}`")


def status(text: str) -> int | None:
    """Return the status in a string such as `200`, `200.0`, `200 OK` or `HTTP/1.1 200 OK`. None if it contains no
    status."""
    if match := re.fullmatch(r"(?:HTTP/[\d.]+ +)?(\d{3})(?:\.0+| .*)?|(-?\d{1,9})", text.strip(), re.ASCII | re.DOTALL):
        return max(int(match[1] or match[2]), 0)
    return None
