"""client.json: what the connections were like."""

import os
import re
import socket
from collections import Counter
from typing import Any

import pycurl
from workload import Workload

_HANDSHAKE = re.compile(r"SSL connection using TLSv(?P<version>\S+) / (?P<cipher>\S+) / (?P<group>\S+)")
_ALPN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}


class Facts:
    """Listens to what libcurl says of its handshakes."""

    def __init__(self, workload: Workload) -> None:
        self._protocol = workload.protocol
        self._kinds: Counter[tuple[str, str, str]] = Counter()
        # Of QUIC it is ngtcp2's own choice, which libcurl leaves alone.
        self._congestion = "cubic" if workload.protocol == "h3" else None

    def hear(self, text: str) -> None:
        """A line of libcurl's own account."""
        if found := _HANDSHAKE.search(text):
            self._kinds[found["version"], found["cipher"], found["group"].replace("x25519", "X25519")] += 1

    def look(self, handle: pycurl.Curl) -> None:
        """Asks the kernel about the connection of a request that is about to be let go of, once."""
        descriptor = handle.getinfo(pycurl.ACTIVESOCKET)
        if self._congestion is None and descriptor != pycurl.SOCKET_BAD:
            with socket.socket(fileno=os.dup(descriptor)) as tcp:
                name = tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            self._congestion = name.partition(b"\0")[0].decode()

    def content(self) -> dict[str, Any]:
        """The file's content."""
        keys = ("version", "cipher", "key_exchange")
        alpn = {"alpn": _ALPN[self._protocol]}
        return {
            "h123": "client/1",
            "tls": [
                {**dict(zip(keys, kind, strict=True)), **alpn, "connections": n} for kind, n in self._kinds.items()
            ],
            "congestion": self._congestion,
            "notes": [pycurl.version],
        }
