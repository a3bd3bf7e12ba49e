"""An HTTP/3 server on picoquic, through aiopquic; aioquic lends it the HTTP/3 frames and QPACK."""

import asyncio
import signal
import socket
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from aiopquic.asyncio import QuicConnectionProtocol, serve
from aiopquic.quic import events as pico
from aiopquic.quic.configuration import QuicConfiguration
from aioquic.quic import events as aio
from contract import UNSUPPORTED
from exchange import Exchange
from tuning import CONNECTION_WINDOW, IDLE_S, SOCKET_BUFFER, STREAM_WINDOW, STREAMS

CONTROLLERS = {"reno": "newreno", "bbr": "bbr"}
"""Its own names. BBR is version 3: version 1 hardly recovers from a burst of losses. Its Cubic is left out, because it
passes over single losses, so that its behaviour does not show what it is."""
AHEAD = 256 * 1024
"""Bytes of an answer that wait in picoquic to be sent."""


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    for name in ("address", "port", "protocol", "cert", "key", "congestion"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--qlog", default="", help="folder; empty: none")
    asked = parser.parse_args()
    if asked.protocol != "h3" or asked.congestion not in CONTROLLERS:
        print(f"picoquic has no {asked.protocol} with {asked.congestion}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    asyncio.run(run(asked))


async def run(asked: Namespace) -> None:
    told = asyncio.Event()
    for stop in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(stop, told.set)
    # aiopquic listens on all addresses, whichever it is told.
    server = await serve(asked.address, int(asked.port), configuration=configuration(asked), create_protocol=Connection)
    await told.wait()
    server.close()


def configuration(asked: Namespace) -> QuicConfiguration:
    return QuicConfiguration(
        is_client=False,
        alpn_protocols=["h3"],
        certificate_file=asked.cert,
        private_key_file=asked.key,
        congestion_control_algorithm=CONTROLLERS[asked.congestion],
        idle_timeout=IDLE_S,
        max_data=CONNECTION_WINDOW,
        max_stream_data=STREAM_WINDOW,
        max_streams_bidi=STREAMS,
        socket_buffer_size=SOCKET_BUFFER,
        max_datagram_frame_size=65536,  # announced in any case; aiopquic takes it for the client's too
        qlog_dir=asked.qlog or None,
        ip_family=socket.AF_INET6 if ":" in asked.address else socket.AF_INET,
    )


class Connection(QuicConnectionProtocol):
    """One connection, on asyncio's side; picoquic works in a thread of its own."""

    def __init__(self, quic: Any, **given: Any) -> None:
        super().__init__(quic, **given)
        self._exchange = Exchange(quic)  # at once: in 0-RTT requests come before the handshake's end
        self._writers: dict[int, asyncio.Task[None]] = {}

    def quic_event_received(self, event: pico.QuicEvent) -> None:
        if isinstance(event, pico.ConnectionTerminated):
            for writer in self._writers.values():
                writer.cancel()
            return
        if known := as_aioquic(event):
            self._exchange.receive(known)
            for stream in self._exchange.unfinished():
                if stream not in self._writers:
                    self._writers[stream] = asyncio.create_task(self._write(stream))

    async def _write(self, stream: int) -> None:
        """Sends an answer, never much more of it than picoquic has room for."""
        try:
            while stream in self._exchange.unfinished() and self._exchange.send_piece(stream):
                await self._room(stream)
        finally:
            del self._writers[stream]

    async def _room(self, stream: int) -> None:
        drained = self._quic.get_tx_data_drain_event(stream)
        while self._quic.tx_data_ring_used(stream) > AHEAD and not self._quic.closed:
            drained.clear()
            self._quic.set_tx_data_drain_pending(stream)
            if self._quic.tx_data_ring_used(stream) > AHEAD:  # or the thread was quicker
                await drained.wait()


def as_aioquic(event: pico.QuicEvent) -> aio.QuicEvent | None:
    """The same event in the words of aioquic; None for those that mean nothing to HTTP."""
    match event:
        case pico.StreamDataReceived(stream_id=stream, data=data, end_stream=end):
            return aio.StreamDataReceived(data=bytes(data), end_stream=end, stream_id=stream)
        case pico.StreamReset(stream_id=stream, error_code=code):
            return aio.StreamReset(error_code=code, stream_id=stream)
        case pico.StopSendingReceived(stream_id=stream, error_code=code):
            return aio.StopSendingReceived(error_code=code, stream_id=stream)
    return None


if __name__ == "__main__":
    main()
