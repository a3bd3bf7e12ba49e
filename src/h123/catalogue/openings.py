"""Defines how a client may open the connections of cold requests: the values of `sessions` in studies and in manifests.

Each value except `full` has a row in `OPENINGS` with everything that is specific to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Resumption = Literal["resumed", "fast-open", "early"]
"""The ways to open a connection that resume the session of an earlier one."""
Sessions = Literal["full", "resumed", "fast-open", "early"]
FULL: Literal["full"] = "full"
QUIC = "h3"
"""The only protocol whose packets and congestion control a subject implements itself. TCP is the kernel's."""
_TCP = ("h1", "h2")


@dataclass(frozen=True)
class SessionOpening:
    """A way to open a connection."""

    title: str
    """The way's name in lists."""
    check: str
    """The name of the check in verifications."""
    missing: str
    """The words that describe a subject without support for this way, such as `has no TCP Fast Open`."""
    protocols: Sequence[str] = (*_TCP, QUIC)
    """The protocols for which this way exists."""
    refusal: str = ""
    """The message for a study that requests this way over a protocol for which it does not exist."""
    tried_over: Sequence[str] = (*_TCP, QUIC)
    """The protocols over which the verification requests this way from clients that do not declare it."""
    declared_by: Literal["resumption", "zero_rtt"] = "resumption"
    """The feature that a server must declare for this way. TCP Fast Open itself comes from the kernel."""
    saved_round_trips: int = 0
    """The number of TCP handshake round trips that this way saves."""
    early: bool = False
    """Whether the client sends the first request before the handshake has ended."""
    tcp: Mapping[str, object] = field(default_factory=dict)
    """The TCP settings that this way needs on the hosts (`tcp` in trial.json)."""


ALL_FULL = SessionOpening("full handshakes", "", "")
OPENINGS: dict[Resumption, SessionOpening] = {
    "resumed": SessionOpening("resumed sessions", "sessions that are resumed", "does not resume sessions"),
    "fast-open": SessionOpening(
        "TCP Fast Open",
        "sessions that are resumed, with TCP Fast Open",
        "has no TCP Fast Open",
        protocols=_TCP,
        refusal="`sessions: fast-open` concerns TCP (RFC 7413), which HTTP/3 does not use: write `early`",
        tried_over=_TCP,
        saved_round_trips=1,  # TLS's first flight is sent with TCP's first packet
        tcp={"fast_open": True},
    ),
    # Early data of TLS over TCP is missing: no server here accepts it, so no client can be tried.
    "early": SessionOpening(
        "early data",
        "requests in early data",
        "has no early data (0-RTT)",
        tried_over=(QUIC,),
        declared_by="zero_rtt",
        early=True,
    ),
}


def opening(sessions: str) -> SessionOpening:
    """Return the way to open connections that this value of the parameter `sessions` requests."""
    return next((row for name, row in OPENINGS.items() if name == sessions), ALL_FULL)
