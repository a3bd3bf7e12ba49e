"""What a client is to do, as workload.json says it (docs/contracts.md, section 4)."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from contract import BAD_INPUT


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

    @property
    def seats(self) -> int:
        """How many connections; HTTP/1.1 carries one request at a time, so there "shared" is one a user."""
        if isinstance(self.connections, int):
            return self.connections
        return self.users if self.connections == "per-user" or self.protocol == "h1" else 1

    @property
    def per_user(self) -> int:
        """How many requests each user makes, without cold ones."""
        return self.warmup + self.requests

    def phase(self, n: int) -> str:
        """The phase of a user's nth request."""
        return "warmup" if n < self.warmup else "warm"


def read_workload(path: str) -> Workload:
    """Reads the file. Raises Refusal if it is none."""
    try:
        data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if data.get("h123") != "workload/1":
            raise ValueError('h123 must be "workload/1"')
        return Workload(**{field.name: data[field.name] for field in fields(Workload)})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(BAD_INPUT, f"cannot read the workload {path}: {error!r}") from error
