"""Offers a server lists of application protocols (ALPN): names.py ADDRESS."""

import asyncio
import ssl
import sys

from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration


async def offer(address: str, names: list[str]) -> str:
    try:
        configuration = QuicConfiguration(alpn_protocols=names, verify_mode=ssl.CERT_NONE)
        async with connect(address, 4443, configuration=configuration):
            return "accepted"
    except ConnectionError:
        return "refused"


for names in (["h3"], ["h3", "h3-29"], ["other", "h3"], ["h3-29", "h3"]):
    print(names, asyncio.run(offer(sys.argv[1], names)))
