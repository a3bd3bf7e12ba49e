"""Calculates for how long a browser may use a cached response without a request (RFC 9111)."""

from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

CACHEABLE = {200, 203, 301, 304, 308}
"""The statuses of responses to GET that a cache keeps. A 304 confirms a cached response."""


def fresh_s(headers: Mapping[str, str]) -> float:
    """Return the seconds for which a response is fresh (sections 4.2.1 and 5.2.2): `max-age`, or otherwise the time
    until `Expires`, minus the response's age on arrival. Header names must be in lower case.

    `private` and `s-maxage` concern shared caches and change nothing here. Heuristic freshness counts as 0.
    """
    directives = dict(_directives(headers.get("cache-control", "")))
    if {"no-store", "no-cache"} & directives.keys() or "*" in headers.get("vary", ""):
        return 0.0
    if "max-age" in directives:
        lasts = _seconds(directives["max-age"])
    else:
        date, expires = (_http_date(headers.get(name)) for name in ("date", "expires"))
        lasts = 0.0 if date is None or expires is None else expires - date
    return lasts - _seconds(headers.get("age", "0"))


def _directives(cache_control: str) -> Iterator[tuple[str, str]]:
    for part in cache_control.split(","):
        name, _, value = part.strip().partition("=")
        yield name.strip().lower(), value.strip().strip('"')


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0.0


def _http_date(date: str | None) -> float | None:
    try:
        return None if date is None else parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None
