"""What a client is to do, as workload.json says it (docs/contracts.md, section 4)."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from contract import BAD_INPUT, UNSUPPORTED, is_block

FORMAT, KIND = "workload/2", "requests"
DIGITS = 12
"""Of a request's number, with which the value of a header that changes ends."""


class Refusal(Exception):
    """Ends the client with a status of its own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Workload:
    protocol: str
    host: str
    address: str
    port: int
    ca: str
    method: str
    path: str
    upload_bytes: int
    users: int
    requests: int
    rate: float | None
    connections: str | int
    cold: bool
    warmup: int
    timeout_ns: int
    seed: int
    headers: list[dict[str, Any]]

    @property
    def seats(self) -> int:
        """How many connections; HTTP/1.1 carries one request at a time, so there "shared" is one a user."""
        if isinstance(self.connections, int):
            return self.connections
        return self.users if self.connections == "per-user" or self.protocol == "h1" else 1

    @property
    def compares(self) -> bool:
        """Whether the bodies of answers are held against the block."""
        return is_block(self.method, self.path)

    @property
    def per_user(self) -> int:
        """How many requests each user makes, without cold ones."""
        return self.warmup + self.requests

    def number(self, user: int, n: int) -> int:
        """Counts the requests of all users, one user after another; cold ones come after them."""
        return user * self.per_user + n

    def named(self, number: int) -> dict[str, str]:
        """The headers of the request with this number that the workload names."""
        return {
            header["name"]: f"{header['value'][:-DIGITS]}{number:0{DIGITS}}" if header["changes"] else header["value"]
            for header in self.headers
        }

    def phase(self, n: int) -> str:
        """The phase of a user's nth request."""
        return "warmup" if n < self.warmup else "warm"


def read_workload(path: str) -> Workload:
    """Reads the file. Raises Refusal if it is none."""
    try:
        data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if data.pop("h123") != FORMAT:
            raise Refusal(UNSUPPORTED, f"h123: only {FORMAT} is understood here")
        if (kind := data.pop("kind", None)) != KIND:
            raise Refusal(UNSUPPORTED, f"kind: only {KIND} is possible here, not {kind}")
        if unknown := data.keys() - {field.name for field in fields(Workload)}:
            raise Refusal(UNSUPPORTED, f"the field {min(unknown)} is not known here")
        return Workload(**data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal(BAD_INPUT, f"cannot read the workload {path}: {error!r}") from error
