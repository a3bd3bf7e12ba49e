"""Provides a small HTTP server that runs during a campaign. The number of connections and their idle time are limited,
so no client can delay the campaign."""

import io
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from socketserver import ThreadingMixIn
from threading import Lock
from typing import IO, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

MOST = 16
"""The largest number of open connections. If there is one more, the oldest is closed."""
PATIENCE_S = 5.0
"""The seconds for which a connection may be silent."""
_DRAINED = 1 << 20
"""The largest number of bytes to read after the response. Unread bytes could prevent its arrival."""

Application = Callable[..., Iterable[bytes]]


class Listener(ThreadingMixIn, WSGIServer):
    """A server that listens as soon as it is created. An error on a connection ends only that connection, and nothing
    is printed."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST

    def __init__(self, host: str, port: int, application: Application) -> None:
        """Start to listen. Raises OSError if the address or port cannot be used."""
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = addresses[0][0]
        self._open: dict[socket.socket, None] = {}
        self._lock = Lock()
        super().__init__((host, port), _Handler)
        self.set_app(application)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle the request in its own thread."""
        with self._lock:
            oldest = next(iter(self._open)) if len(self._open) >= MOST else None
            self._open[request] = None
            if oldest is not None:
                del self._open[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)  # this ends its thread
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End the connection so that the response arrives. Closing it with unread bytes would reset it."""
        with suppress(OSError):
            request.settimeout(1.0)
            request.shutdown(socket.SHUT_WR)
            remaining = _DRAINED
            while remaining > 0 and (piece := request.recv(1 << 16)):
                remaining -= len(piece)
        with self._lock:
            self._open.pop(request, None)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the client's faults and a lack of threads, because neither concerns the campaign."""


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE_S

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing, because the campaign uses the terminal."""

    def get_stderr(self) -> IO[str]:
        return io.StringIO()
