"""How many connections a workload is spread over, and how many round trips one takes to open."""

_PLAIN_TCP, _TLS, _QUIC = 1, 1, 1
"""Round trips: RFC 9293, RFC 8446 (TLS 1.3), RFC 9000, which has TLS in it."""


def connection_count(asked: str | int, users: int, protocol: str) -> int:
    """By the parameter `connections`: one that is shared, one per user, or a number.

    HTTP/1.1 carries one request at a time, so there "shared" is one per user too.
    """
    if isinstance(asked, int):
        return asked
    return users if asked == "per-user" or protocol == "h1" else 1


def handshake_round_trips(protocol: str, *, encrypted: bool = True) -> int:
    """Round trips before the first request of a new connection."""
    if protocol == "h3":
        return _QUIC
    return _PLAIN_TCP + _TLS if encrypted else _PLAIN_TCP
