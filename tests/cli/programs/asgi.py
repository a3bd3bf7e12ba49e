"""A service as an ASGI application: it reads the request, and answers in pieces.

Nothing demands that, but where an application does neither, Hypercorn 0.18 is slower over HTTP/2, and over HTTP/3 the
task that serves UDP ends now and then: the server listens, and never answers again.
"""

from collections.abc import Awaitable, Callable
from typing import Any

ORDERS = b"0123456789" * 2000
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    while (await receive()).get("more_body", False):
        pass
    headers = [(b"content-type", b"application/octet-stream"), (b"content-length", str(len(ORDERS)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ORDERS, "more_body": True})
    await send({"type": "http.response.body"})
