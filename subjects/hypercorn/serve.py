"""An application on Hypercorn, served over one protocol by one process."""

import asyncio
import signal
import socket
import ssl
import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

import h2.connection
import hypercorn.protocol.quic
from aioquic.quic.configuration import QuicConfiguration
from aioquic.tls import CipherSuite
from contract import UNSUPPORTED, answer
from h2.settings import SettingCodes, Settings
from hypercorn.asyncio import serve
from hypercorn.config import Config, Sockets
from tuning import AIOQUIC_CONTROLLERS, CONNECTION_WINDOW, IDLE_S, SOCKET_BUFFER, STREAM_WINDOW, STREAMS

ALPN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
HTTP_VERSION = {"h1": "1.1", "h2": "2", "h3": "3"}
GRACE_S = 0.5
"""For requests under way when told to stop."""
HTTP_VERSION_NOT_SUPPORTED = 505


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    for name in ("address", "port", "protocol", "cert", "key", "congestion"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    if asked.protocol not in ALPN or (asked.protocol == "h3" and asked.congestion not in AIOQUIC_CONTROLLERS):
        print(f"hypercorn has no {asked.protocol} with {asked.congestion}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    h2.connection.H2Connection = WideConnection
    configure_quic(asked.congestion)
    asyncio.run(run(Application(asked.protocol), configuration(asked)))


def configure_quic(congestion: str) -> None:
    """Hypercorn has no settings for QUIC, so they are put in where it makes those of aioquic."""
    hypercorn.protocol.quic.QuicConfiguration = partial(
        QuicConfiguration,
        congestion_control_algorithm=congestion,
        idle_timeout=IDLE_S,
        max_data=CONNECTION_WINDOW,
        max_stream_data=STREAM_WINDOW,
        # As OpenSSL chooses over TCP, where the client may say.
        cipher_suites=[CipherSuite.AES_128_GCM_SHA256],
    )


class WideConnection(h2.connection.H2Connection):
    """HTTP/2 with the windows of HTTP/3: Hypercorn has no settings for these either."""

    def initiate_connection(self) -> None:
        windows = {SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW}
        self.local_settings = Settings(client=False, initial_values={**self.local_settings, **windows})
        super().initiate_connection()
        self.increment_flow_control_window(CONNECTION_WINDOW - self.inbound_flow_control_window)


class RoomyConfig(Config):
    """With room for datagrams that wait, which Hypercorn does not ask for."""

    def create_sockets(self) -> Sockets:
        sockets = super().create_sockets()
        for quic in sockets.quic_sockets:
            quic.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
            quic.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        return sockets


def configuration(asked: Namespace) -> Config:
    config = RoomyConfig()
    endpoint = [f"{asked.address}:{asked.port}"]
    config.bind = [] if asked.protocol == "h3" else endpoint
    config.quic_bind = endpoint if asked.protocol == "h3" else []
    config.alpn_protocols = [ALPN[asked.protocol]]
    config.certfile, config.keyfile = asked.cert, asked.key
    config.loglevel = "ERROR"
    config.h2_max_concurrent_streams = STREAMS
    config.keep_alive_timeout = IDLE_S
    config.keep_alive_max_requests = sys.maxsize
    config.graceful_timeout = GRACE_S
    return config


async def run(application: "Application", config: Config) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(pass_over_tls)
    told = asyncio.Event()
    for stop in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(stop, told.set)
    serving = asyncio.create_task(serve(application, config, shutdown_trigger=told.wait))
    stopping = asyncio.create_task(told.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not told.is_set():
        await serving  # raises what ended it
    # Newer Pythons wait for idle connections too, without end; what is left then is cancelled.
    await asyncio.wait({serving}, timeout=2 * GRACE_S)
    if serving.done():
        serving.exception()  # of connections that were cut: nobody's concern now


def pass_over_tls(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Hypercorn's own handler of what no task waits for: a client may break TLS off as it likes."""
    if not isinstance(context.get("exception"), ssl.SSLError):
        loop.default_exception_handler(context)


class Application:
    """The contract as an ASGI application."""

    def __init__(self, protocol: str) -> None:
        self._version = HTTP_VERSION[protocol]

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])  # how ASGI says no, to `lifespan` for one
        if scope["http_version"] != self._version:  # Hypercorn speaks HTTP/1.1 where ALPN agrees on nothing
            await _begin(send, HTTP_VERSION_NOT_SUPPORTED, 0)
            await send({"type": "http.response.body"})
            return
        received = await _size_of_body(receive)
        if received is None:
            return
        reply = answer(scope["method"], scope["path"], received)
        await _begin(send, reply.status, reply.length)
        for piece in reply.body:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})


async def _size_of_body(receive: Any) -> int | None:
    """Reads a request's body; None if the client has gone."""
    received = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        received += len(message.get("body", b""))
        if not message.get("more_body", False):
            return received


async def _begin(send: Any, status: int, length: int) -> None:
    headers = [(b"content-type", b"application/octet-stream"), (b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})


if __name__ == "__main__":
    main()
