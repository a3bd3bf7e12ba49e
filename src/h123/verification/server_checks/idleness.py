"""Checks how long a connection may be idle before a server closes it.

The contract sets a minimum. A program with a shorter time declares it, and the check must find exactly this time. Over
HTTP/3 the server announces it. Over TCP a connection must stay open for most of that time, and be closed after twice
that time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from h123.base.units import format_seconds
from h123.catalogue import LEAST_IDLE_NS, QUIC, Server
from h123.verification.result import Result

_ASKED_NS = 58_000_000_000
"""Slightly less than the contract's minimum, in ns."""
_ASKED_SHARE = 0.9
_BEYOND = 2
"""The multiple of the declared time after which a connection must be closed, even by a server that checks rarely."""
_CHECK = "a connection idle for "
_ANNOUNCED = re.compile(r"idle for ((?:[\d.]+(?:ms|[hms]))+)")
"""An announced idle time in the probe's message, as Go writes it."""
_PART = re.compile(r"([\d.]+)(ms|[hms])")
_UNITS_NS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6}


def idle_time_ns(server: Server, protocol: str) -> int:
    """Return how long a connection without requests must stay open, in ns. Over HTTP/3 the probe keeps it alive, as
    clients do."""
    declared = server.limits.idle.get(protocol)
    return _ASKED_NS if declared is None or protocol == QUIC else round(declared * _ASKED_SHARE)


def beyond(server: Server, protocol: str) -> Mapping[str, object] | None:
    """Return the fields of the probe's plan that test whether a declared limit is real, or None if no limit is declared
    or the server announces it."""
    declared = server.limits.idle.get(protocol)
    return None if declared is None or protocol == QUIC else {"idle_ns": declared * _BEYOND}


def judge_idleness(server: Server, results: Sequence[Result]) -> Iterator[Result]:
    """Yield the results of the checks. An announced time must equal the declared one. If none is declared, the result
    names the line to add to the manifest."""
    for result in results:
        announced = _announced(result)
        declared = server.limits.idle.get(result.protocol)
        if announced is None or announced == declared or (declared is None and announced >= LEAST_IDLE_NS):
            fair = announced is not None and result.verdict == "failed"
            yield result.model_copy(update={"verdict": "passed"}) if fair else result
            continue
        sentence = f"a connection may be idle for {format_seconds(announced / 1e9)}"
        if declared is not None:
            fault = f"{sentence}, not for {format_seconds(declared / 1e9)} as declared"
        else:
            line = f'limits = {{idle = {{{result.protocol} = "{announced / 1e9:g}s"}}}}'
            fault = (
                f"{sentence}, but a minute is required; if the program itself allows no more, declare it in [server] "
                f"of subject.toml: `{line}`"
            )
        yield result.model_copy(update={"verdict": "failed", "detail": fault})


def limit_fault(results: Sequence[Result], waited: int) -> str:
    """Return the fault in a declared limit, from the results of a trial whose connection was idle for `waited` ns,
    longer than the limit. Empty if there is no fault."""
    case = [result for result in results if result.check.startswith(_CHECK)]
    if not case:
        return "; ".join(f"{r.check}: {r.detail}" for r in results if r.verdict == "failed") or "nothing came of it"
    if case[0].verdict == "failed":
        return ""
    return (
        f"the connection was still open after {format_seconds(waited / 1e9)}, so half of that is not a limit of the "
        "program: leave it out of subject.toml, or declare the right time"
    )


def _announced(result: Result) -> int | None:
    """Return the idle time that an HTTP/3 server announced, in ns. None if it announced none, or if the result is about
    something else."""
    match = _ANNOUNCED.search(result.detail) if result.check == "limits" and result.protocol == QUIC else None
    return round(sum(float(n) * _UNITS_NS[unit] for n, unit in _PART.findall(match[1]))) if match else None
