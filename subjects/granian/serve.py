"""An application on Granian, served over one protocol by one process."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from contract import BLOCK, UNSUPPORTED, answer
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings, HTTP2Settings
from granian.log import LogLevels
from tuning import CONNECTION_WINDOW, IDLE_S, STREAM_WINDOW, STREAMS

MODES = {"h1": HTTPModes.http1, "h2": HTTPModes.http2}
GRACE_S = 1
"""For requests under way when told to stop; Granian counts whole seconds."""
APPLICATION = f"{Path(__file__).stem}:respond"


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    for name in ("address", "port", "protocol", "cert", "key"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    if asked.protocol not in MODES:
        print(f"granian has no {asked.protocol}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    Granian(
        APPLICATION,
        address=asked.address,
        port=int(asked.port),
        interface=Interfaces.RSGI,
        http=MODES[asked.protocol],
        websockets=False,
        # Between two requests on a connection this counts too.
        http1_settings=HTTP1Settings(header_read_timeout=int(IDLE_S * 1000)),
        http2_settings=HTTP2Settings(
            initial_connection_window_size=CONNECTION_WINDOW,
            initial_stream_window_size=STREAM_WINDOW,
            max_concurrent_streams=STREAMS,
        ),
        log_level=LogLevels.error,
        ssl_cert=Path(asked.cert),
        ssl_key=Path(asked.key),
        workers_kill_timeout=GRACE_S,
    ).serve()


async def respond(scope: Any, exchange: Any) -> None:
    """The contract as an RSGI application."""
    received = 0
    if scope.method == "POST":  # each turn of this loop goes to another thread and back
        async for piece in exchange:
            received += len(piece)
    reply = answer(scope.method, scope.path, received)
    headers = [("content-length", str(reply.length))]
    if scope.method == "HEAD" or reply.length <= len(BLOCK):
        exchange.response_bytes(reply.status, headers, b"".join(reply.body))
        return
    stream = exchange.response_stream(reply.status, headers)
    for piece in reply.body:
        await stream.send_bytes(piece)


if __name__ == "__main__":
    main()
