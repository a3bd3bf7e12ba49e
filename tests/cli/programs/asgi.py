"""A service as an ASGI application."""

from collections.abc import Awaitable, Callable
from typing import Any

ORDERS = b"0123456789" * 2000
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def app(scope: dict[str, Any], _receive: object, send: Send) -> None:
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    headers = [(b"content-type", b"application/octet-stream"), (b"content-length", str(len(ORDERS)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ORDERS})
