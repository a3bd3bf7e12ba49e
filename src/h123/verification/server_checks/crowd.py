"""Checks how many simultaneous requests on one connection a server processes.

The contract sets a minimum. A program with a lower limit declares it, and the check must find exactly this limit: that
many requests begin together, and one more does not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from h123.catalogue import Server
from h123.verification.result import Result

LEAST = 100
"""The contract's minimum number of simultaneous requests for every server."""
_BEYOND_NS = 10_000_000_000
"""The time in ns after which a server is assumed to hold back the request beyond its limit if it has not begun."""
_CHECK = re.compile(r"\d+ (downloads|uploads) at once")
_BEGUN = re.compile(r"only (\d+) of \d+ had begun\b")
"""The probe's message if only some of the requests began."""


def at_once(server: Server, protocol: str) -> int:
    """Return the number of simultaneous requests on a connection that the server must process."""
    return server.limits.streams.get(protocol, LEAST)


def beyond(server: Server, protocol: str) -> Mapping[str, object] | None:
    """Return the fields of the probe's plan that test whether a declared limit is real, or None if no limit is declared
    or the probe has no way to see it."""
    declared = server.limits.streams.get(protocol)
    uploads = protocol in server.in_turn  # these servers hold no downloads open
    if declared is None or (uploads and "POST" not in server.methods):
        return None
    return {
        "at_once": declared + 1,
        "in_turn": uploads,
        "methods": ["POST"] if uploads else [],
        "timeout_ns": _BEYOND_NS,
    }


def advised(results: Sequence[Result]) -> Iterator[Result]:
    """Yield the results of the checks. If a server began only some of the requests, the result names the line to add to
    the manifest."""
    for result in results:
        count = _started_requests(result)
        if count and result.protocol != "h1":
            line = f"limits = {{streams = {{{result.protocol} = {count}}}}}"
            advice = f"if the program itself allows no more, declare it in [server] of subject.toml: `{line}`"
            yield result.model_copy(update={"detail": f"{result.detail}; {advice}"})
        else:
            yield result


def limit_fault(results: Sequence[Result], declared: int) -> str:
    """Return the fault in a declared limit, from the results of a trial with one request more than the limit. Empty if
    there is no fault."""
    case = [result for result in results if _CHECK.fullmatch(result.check)]
    if any(_started_requests(result) == declared for result in case):
        return ""
    if wrong := [f"{r.check}: {r.detail}" for r in case or results if r.verdict == "failed"]:
        return "; ".join(wrong)
    return (
        f"{declared + 1} were in flight at once, so {declared} is not a limit of the program: leave it out of "
        "subject.toml, or declare the right number"
    )


def _started_requests(result: Result) -> int | None:
    """Return the number of requests that had begun when the probe gave up. None if all had begun, or if the result is
    about something else."""
    match = _BEGUN.search(result.detail) if result.verdict == "failed" and _CHECK.fullmatch(result.check) else None
    return int(match[1]) if match else None
