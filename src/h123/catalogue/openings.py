"""Defines how a client may open the connections of cold requests: the values of `sessions` in studies and in manifests.

Each value has a row in `OPENINGS` with everything that is specific to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Resumption = Literal["resumed", "fast-open", "early"]
"""The ways that resume the session of an earlier connection."""
Sessions = Literal["full", "resumed", "fast-open", "early"]
FULL: Literal["full"] = "full"
QUIC = "h3"
"""The only protocol whose packets, and thus whose congestion control, come from a subject."""
_TCP = ("h1", "h2")


@dataclass(frozen=True)
class SessionOpening:
    """A way to open a connection."""

    title: str
    """The name in lists."""
    check: str
    """The name of the check in verifications."""
    missing: str
    """The words for a subject that does not support this way, such as `has no TCP Fast Open`."""
    protocols: Sequence[str] = (*_TCP, QUIC)
    """The protocols for which this way exists."""
    refusal: str = ""
    """The message for a study that requests this way over a different protocol."""
    tried_over: Sequence[str] = (*_TCP, QUIC)
    """The protocols over which verification tries clients that do not declare this way."""
    declared_by: Literal["resumption", "zero_rtt"] = "resumption"
    """The server's feature that this way needs, unless the kernel provides it."""
    saved_round_trips: int = 0
    """The round trips of TCP's handshake that this way saves."""
    early: bool = False
    """Whether the first request does not wait for the handshake."""
    tcp: Mapping[str, object] = field(default_factory=dict)
    """The TCP settings of the hosts (`tcp` in trial.json)."""


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
    """Return how connections are opened with this value of the parameter `sessions`."""
    return next((row for name, row in OPENINGS.items() if name == sessions), ALL_FULL)
