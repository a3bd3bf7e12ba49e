"""How many round trips a connection takes to open."""

_PLAIN_TCP, _QUIC = 1, 1
"""Round trips: RFC 9293; RFC 9000, which has TLS in it."""
_TLS = {"1.3": 1, "1.2": 2}
"""Of full handshakes: RFC 8446, section 2; RFC 5246, section 7.3."""


def handshake_round_trips(
    protocol: str, *, tls: str | None = "1.3", early: bool = False, fast_open: bool = False, false_start: bool = False
) -> int:
    """Round trips before the first request of a new connection. `tls`: its version; None: not encrypted. `early`: it
    goes out as early data over QUIC (RFC 9001, section 4.6). `false_start`: it does not wait for the server to end the
    handshake of TLS 1.2 (RFC 7918). `fast_open`: TLS's first flight goes out with TCP's first packet (RFC 7413).
    Resuming a session of TLS 1.3 alone saves none."""
    if early:
        return 0
    if protocol == "h3":
        return _QUIC
    return _PLAIN_TCP - fast_open + (_TLS[tls] - (false_start and tls == "1.2") if tls else 0)
