"""Sends a GET over HTTP/3, before which aioquic sends MAX_PUSH_ID: push.py ADDRESS."""

import asyncio
import ssl
import sys

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.h3.connection import H3Connection
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent


class Client(QuicConnectionProtocol):
    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        for got in self.http.handle_event(event) if self.http else []:
            print(got)
        if isinstance(event, ConnectionTerminated):
            print(event)


async def ask(address: str) -> None:
    configuration = QuicConfiguration(alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE)
    async with connect(address, 4443, configuration=configuration, create_protocol=Client) as client:
        client.http = H3Connection(client._quic)
        fields = {":method": "GET", ":scheme": "https", ":authority": "localhost", ":path": "/bytes/10"}
        client.http.send_headers(
            0, [(name.encode(), value.encode()) for name, value in fields.items()], end_stream=True
        )
        client.transmit()
        await asyncio.sleep(2)


asyncio.run(ask(sys.argv[1]))
