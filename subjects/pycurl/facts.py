"""client.json: what the connections were like."""

import os
import re
import socket
from collections import Counter
from typing import Any

import pycurl

_HANDSHAKE = re.compile(r"SSL connection using TLSv(?P<version>\S+) / (?P<cipher>\S+) / (?P<group>\S+)")
_CHOSEN = re.compile(r"using HTTP/(?P<version>\d)")
_ALPN = {"1": "http/1.1", "2": "h2", "3": "h3"}


class Facts:
    """Listens to what libcurl says of its handshakes."""

    def __init__(self) -> None:
        self._shaken: tuple[str, str, str] | None = None
        self._kinds: Counter[tuple[str, str, str, str]] = Counter()
        self._congestion: str | None = None

    def hear(self, text: str) -> None:
        """A line of libcurl's own account, which says which of the connections that it tries it takes."""
        if found := _HANDSHAKE.search(text):
            self._shaken = found["version"], found["cipher"], found["group"].replace("x25519", "X25519")
        elif self._shaken and (found := _CHOSEN.match(text)):
            self._kinds[(*self._shaken, _ALPN[found["version"]])] += 1
            self._shaken = None

    def look(self, handle: pycurl.Curl) -> None:
        """Asks the kernel about the connection of a request that is about to be let go of, once."""
        descriptor = handle.getinfo(pycurl.ACTIVESOCKET)
        if self._congestion is None and descriptor != pycurl.SOCKET_BAD:
            with socket.socket(fileno=os.dup(descriptor)) as connected:
                self._congestion = _controller(connected)

    def content(self) -> dict[str, Any]:
        """The file's content."""
        keys = ("version", "cipher", "key_exchange", "alpn")
        return {
            "h123": "client/1",
            "tls": [{**dict(zip(keys, kind, strict=True)), "connections": n} for kind, n in self._kinds.items()],
            "congestion": self._congestion,
            "notes": [pycurl.version],
        }


def _controller(connected: socket.socket) -> str:
    if connected.type == socket.SOCK_DGRAM:
        return "cubic"  # of QUIC it is ngtcp2's own choice, which libcurl leaves alone
    name = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.partition(b"\0")[0].decode()
