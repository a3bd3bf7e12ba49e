"""Reads the objects within a HAR file. Errors about impossible values name the file, the entry and the key."""

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

from h123.base.complaints import excerpt
from h123.base.errors import UserError

MOST_BYTES = 100 * 10**9
"""The largest size in bytes that a site's file may give for a resource."""
MOST_MS = 86_400_000.0
"""The longest duration of a request or of a page's load: one day, in ms."""
FIRST_YEAR, LAST_YEAR = 1970, 2200


class HarPart:
    """An object of the file, with its values by key. A missing, null or empty value is unknown. A value of the wrong
    type is refused."""

    def __init__(self, place: str, values: Mapping[str, Any]) -> None:
        self.place = place
        self.values = values

    @classmethod
    def of(cls, place: str, value: object) -> "HarPart":
        if not isinstance(value, dict):
            raise UserError(f"{place}: expected an object, found {excerpt(value)}")
        return cls(place, value)

    def required(self, key: str) -> "HarPart":
        return HarPart.of(self.at(key), self.values.get(key))

    def part(self, key: str) -> "HarPart":
        """Return the object at `key`, or an empty one if there is none."""
        value = self.values.get(key)
        return HarPart(self.at(key), value if isinstance(value, dict) else {})

    def at(self, key: str) -> str:
        return f"{self.place}.{key}"

    def text(self, key: str) -> str:
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def items(self, key: str) -> list[Any]:
        value = self.values.get(key)
        return value if isinstance(value, list) else []

    def number(self, key: str, most: float, unit: str = "") -> float | None:
        """Return the number at `key`, even if it is written as text, as in WebPageTest. Return None if it is unknown or
        negative: many programs write -1 for an unknown number."""
        raw = self.values.get(key)
        if raw is None or isinstance(raw, str):
            value = _number(raw or "")
        elif isinstance(raw, bool | list | dict):
            raise self._fault(key, "a number", raw)
        else:
            value = math.inf if isinstance(raw, int) and raw.bit_length() > 1000 else float(raw)
        if value is None or value < 0:
            return None
        if not value <= most:
            raise self._fault(key, f"a number of at most {most:.0f}{unit}", raw)
        return value

    def count(self, key: str) -> int | None:
        """Return the number of bytes at `key`, or None if it is unknown."""
        value = self.number(key, MOST_BYTES, " bytes")
        return None if value is None else int(value)

    def seconds(self, key: str) -> float | None:
        """Return the duration at `key` in seconds, or None if it is unknown. The file contains milliseconds."""
        value = self.number(key, MOST_MS, " ms (a day)")
        return None if value is None else value / 1000

    def moment(self, key: str) -> float | None:
        """Return the date at `key` in seconds since 1970, or None if it is unknown."""
        value = self.values.get(key)
        if value is None or value == "":
            return None
        try:
            when = dt.datetime.fromisoformat(value)
            if FIRST_YEAR <= when.year <= LAST_YEAR:
                return when.timestamp()
        except (TypeError, ValueError, OverflowError):
            raise self._fault(key, "a date such as 2026-05-01T10:00:00.000Z", value) from None
        raise self._fault(key, f"a date between {FIRST_YEAR} and {LAST_YEAR}", value)

    def _fault(self, key: str, expected: str, value: object) -> UserError:
        return UserError(
            f"{self.at(key)}: expected {expected}, found {excerpt(value)}",
            remedy="correct or remove it in the file, or record the page again",
        )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value
