"""workload.json: what a client is to do (docs/contracts/workload.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from h123.study.workload.headers import WrittenHeader, written_headers
from h123.study.workload.load import Load

FORMAT: Literal["workload/2"] = "workload/2"


class WorkloadFile(BaseModel):
    """workload.json, what it has of any kind (docs/contracts/workload.md)."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)

    h123: Literal["workload/2", "workload/1"]
    protocol: Literal["h1", "h2", "h3", "h3-or-h2"]
    """h3-or-h2: HTTP/3 where it comes through, else HTTP/2."""
    host: str
    address: str
    port: int
    ca: str
    """Below a root, as all paths of a trial's files: none is of the machine that wrote them."""
    users: int
    requests: int
    rate: float | None
    connections: int | Literal["shared", "per-user"]
    cold: bool
    warmup: int
    timeout_ns: int
    seed: int
    headers: list[WrittenHeader] = Field(default=[])
    authority: str | None = None
    """Only where the server is a person's own: what requests call it. Its certificate is not checked, and its answers
    are not the block."""
    tls: Literal["1.2", "1.3"] = "1.3"
    """Only where it is not 1.3: the version that the client offers, and no other."""
    gaps_ns: list[int] | None = None
    """Only where the study has `arrivals`: from the beginning to the first request, and from each to the next."""
    dealt_to: list[int] | None = None
    """Only where these are of each connection: the index of the one that each request is made on."""
    abandon_ns: int | None = None
    """Only where the study has `abandon`: from when such a request is due until it is given up."""
    abandoned: list[int] | None = None
    """Their numbers, in order."""
    retry_ns: int | None = None
    """Only where the study has `retry`: from when a request is made until it is made again."""
    retries: int | None = None
    """How often at most, the first time not counted."""

    def asking(self) -> "VisitOrder | None":
        """How requests follow one another; None: none asks for another."""
        return None


@dataclass(frozen=True)
class VisitOrder:
    """How a visit's resources are asked for."""

    askers: Sequence[int | None]
    """Of each the one that asks for it; None: of the document."""
    runs_ns: Sequence[int]
    """From the last byte of each until what it asks for is due."""
    at_once: int
    """Requests that a connection has room for."""


@dataclass(frozen=True)
class Target:
    """The server as the client reaches it, and the seed of what is random in a trial."""

    host: str
    address: str
    port: int
    ca: str
    """Below a root, as all paths of a trial's files: none is of the machine that wrote them."""
    seed: int
    authority: str | None = None
    """Of a server that is no subject."""
    tls: str = "1.3"


def common_fields(load: Load, target: Target) -> dict[str, Any]:
    """The fields that the files of all kinds have."""
    return {
        "h123": FORMAT,
        "protocol": load.protocol,
        "host": target.host,
        "address": target.address,
        "port": target.port,
        "ca": target.ca,
        "users": load.users,
        "requests": load.requests,
        "rate": load.rate,
        "connections": load.connections,
        "cold": load.cold,
        "warmup": load.warmup,
        "timeout_ns": load.timeout,
        "seed": target.seed,
        "headers": list(written_headers(load.headers)),
        **({} if target.authority is None else {"authority": target.authority}),
        **({} if target.tls == "1.3" else {"tls": target.tls}),
    }
