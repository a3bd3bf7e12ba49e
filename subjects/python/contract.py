"""What the contract (docs/contracts.md, section 4) says to all, and what a server answers, whatever carries it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

BAD_INPUT, UNSUPPORTED = 2, 127
"""Exit statuses."""
BLOCK = b"".join(sha256(b"h123" + index.to_bytes(4, "big")).digest() for index in range(2048))
"""Bodies are made of it, repeated and cut."""

_BYTES = re.compile(r"/bytes/([0-9]{1,12})")


def is_block(method: str, path: str) -> bool:
    """Whether the answer's body is the block, repeated and cut."""
    return method == "GET" and _BYTES.fullmatch(path) is not None


@dataclass(frozen=True)
class Answer:
    status: int
    length: int
    """What content-length says; to HEAD no body follows."""
    body: Iterator[bytes]


def answer(method: str, path: str, received: int) -> Answer:
    """The answer to a request whose body, of `received` bytes, has ended."""
    if (method, path) == ("POST", "/upload"):
        return _answer(method, 200, str(received).encode())
    if method in ("GET", "HEAD"):
        if asked := _BYTES.fullmatch(path):
            length = int(asked[1])
            return Answer(200, length, iter(()) if method == "HEAD" else pieces(length))
        if path == "/health":
            return _answer(method, 200, b"ok\n")
    return _answer(method, 404, b"not found\n")


def _answer(method: str, status: int, text: bytes) -> Answer:
    return Answer(status, len(text), iter(()) if method == "HEAD" else iter((text,)))


def pieces(length: int) -> Iterator[bytes]:
    """A body of so many bytes, a block at a time."""
    whole, rest = divmod(length, len(BLOCK))
    for _ in range(whole):
        yield BLOCK
    if rest:
        yield BLOCK[:rest]
