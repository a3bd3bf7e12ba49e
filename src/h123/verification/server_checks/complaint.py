"""Explains the probe's complaints to the author of a server: which request failed, and what was expected."""

import re

_REQUESTS = (
    (r"GET (\d+)", r"GET /bytes/\1"),
    (r"POST (\d+)", r"POST /upload of \1 bytes"),
    (r"HEAD", "HEAD /bytes/10000000"),
    (r"404", "GET /there-is-nothing-here"),
    (r"health", "GET /health"),
    (r"no compression", "GET /bytes/100000 with `accept-encoding: gzip, deflate, br, zstd`"),
    (r"any host", "GET /bytes/1 for a host that is address:port"),
    (r"GET of other sizes", "GET /bytes/<size>"),
    (r"POST of other sizes", "POST /upload of <size> bytes"),
    (r"(\d+) downloads at once", r"GET /bytes/100000, \1 at once"),
    (r"(\d+) uploads at once", r"POST /upload of 1000 bytes, \1 at once"),
    (r"POST in halves", "POST /upload of 200000 bytes, with a rest in the middle"),
    (r"(\d+) requests on a connection", r"GET /bytes/1, \1 times on one connection"),
    (r"a connection idle for .*", "GET /bytes/1, twice on one connection"),
)
"""Patterns for the names of checks that make requests, each with a description of the request."""
_NO_LENGTH = re.compile(r"content-length -1 instead of (\d+)")
"""The probe's complaint about a missing content-length, which Go reports as -1."""


def explained(check: str, detail: str) -> str:
    """Return the complaint of a failed check, preceded by the request if there is one."""
    complaint = _NO_LENGTH.sub(
        r"the response has no content-length (chunked?); `content-length: \1` is required", detail
    )
    for pattern, request in _REQUESTS:
        if match := re.fullmatch(pattern, check):
            case = match.expand(request)
            return complaint if case in complaint else f"{case}: {complaint}"
    return complaint
