"""How many round trips a connection takes to open."""

_PLAIN_TCP, _TLS, _QUIC = 1, 1, 1
"""Round trips: RFC 9293, RFC 8446 (TLS 1.3), RFC 9000, which has TLS in it."""


def handshake_round_trips(protocol: str, *, encrypted: bool = True, early: bool = False) -> int:
    """Round trips before the first request of a new connection. `early`: it goes out as early data over QUIC (RFC 9001,
    section 4.6). Resuming a session alone saves none."""
    if early:
        return 0
    if protocol == "h3":
        return _QUIC
    return _PLAIN_TCP + _TLS if encrypted else _PLAIN_TCP
