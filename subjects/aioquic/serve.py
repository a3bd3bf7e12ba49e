"""An HTTP/3 server on aioquic, of one process."""

import asyncio
import signal
import socket
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from aioquic.asyncio.server import QuicServer
from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, QuicEvent
from aioquic.quic.logger import QuicFileLogger
from aioquic.tls import CipherSuite, SessionTicket
from contract import UNSUPPORTED
from exchange import Exchange
from feeding import Feeding
from sending import FLAGS, datagram, send_as
from tuning import AIOQUIC_CONTROLLERS, CONNECTION_WINDOW, IDLE_S, SOCKET_BUFFER, STREAM_WINDOW

FAREWELL_S = 1.0


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    for name in ("address", "port", "protocol", "cert", "key", *FLAGS):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--qlog", default="", help="folder; empty: none")
    asked = parser.parse_args()
    if asked.protocol != "h3" or asked.congestion not in AIOQUIC_CONTROLLERS:
        print(f"aioquic has no {asked.protocol} with {asked.congestion}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    send_as(asked)
    asyncio.run(run(asked))


async def run(asked: Namespace) -> None:
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for stop in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(stop, told.set)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
    udp.bind((asked.address, int(asked.port)))
    connections: set[Connection] = set()
    tickets = Tickets()
    _, server = await loop.create_datagram_endpoint(
        lambda: QuicServer(
            configuration=configuration(asked),
            create_protocol=lambda quic, **given: Connection(quic, connections, **given),
            session_ticket_handler=tickets.keep,
            session_ticket_fetcher=tickets.give,
        ),
        sock=udp,
    )
    await told.wait()
    await say_farewell(connections)
    server.close()


async def say_farewell(connections: "set[Connection]") -> None:
    """Closes what is open. A connection's qlog is written when it has ended, three probe timeouts after its close; of
    one that takes longer, now."""
    ends = [asyncio.create_task(connection.wait_closed()) for connection in connections]
    for connection in list(connections):
        connection.close()
    if ends:
        await asyncio.wait(ends, timeout=FAREWELL_S)
    for connection in connections:
        connection.end_log()


def configuration(asked: Namespace) -> QuicConfiguration:
    quic = QuicConfiguration(
        is_client=False,
        alpn_protocols=H3_ALPN,
        congestion_control_algorithm=asked.congestion,
        idle_timeout=IDLE_S,
        max_data=CONNECTION_WINDOW,
        max_stream_data=STREAM_WINDOW,
        max_datagram_size=datagram(asked),
        cipher_suites=[CipherSuite.AES_128_GCM_SHA256],  # as the other servers have it
        quic_logger=QuicFileLogger(asked.qlog) if asked.qlog else None,
    )
    quic.load_cert_chain(asked.cert, asked.key)
    return quic


class Tickets:
    """Sessions that clients may resume, each once."""

    def __init__(self) -> None:
        self._kept: dict[bytes, SessionTicket] = {}

    def keep(self, ticket: SessionTicket) -> None:
        self._kept[ticket.ticket] = ticket

    def give(self, label: bytes) -> SessionTicket | None:
        return self._kept.pop(label, None)


class Connection(Feeding):
    def __init__(self, quic: Any, connections: "set[Connection]", **given: Any) -> None:
        super().__init__(quic, **given)
        self._open = connections
        self._open.add(self)
        self._exchange: Exchange | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self._exchange = Exchange(self._quic)
        elif isinstance(event, ConnectionTerminated):
            self._open.discard(self)
            self._exchange = None
        if self._exchange is not None:
            self._exchange.receive(event)

    def end_log(self) -> None:
        quic = self._quic
        if quic._quic_logger is not None:
            quic.configuration.quic_logger.end_trace(quic._quic_logger)
            quic._quic_logger = None

    def unfinished(self) -> list[int]:
        return self._exchange.unfinished() if self._exchange else []

    def send_piece(self, stream: int) -> bool:
        return self._exchange.send_piece(stream)


if __name__ == "__main__":
    main()
