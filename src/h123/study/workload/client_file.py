"""workload.json: the client's task (docs/contracts/workload.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from h123.study.workload.headers import WrittenHeader, written_headers
from h123.study.workload.load import Load

FORMAT: Literal["workload/2"] = "workload/2"


class WorkloadFile(BaseModel):
    """workload.json: the fields that all kinds have (docs/contracts/workload.md)."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)

    h123: Literal["workload/2", "workload/1"]
    protocol: Literal["h1", "h2", "h3", "h3-or-h2"]
    """h3-or-h2: HTTP/3 if it gets through, else HTTP/2."""
    host: str
    """The name in TLS and in requests."""
    address: str
    port: int
    ca: str
    """A path below a root, like all paths of a trial's files: none belongs to the machine that wrote them."""
    users: int
    """The number of users who send requests at the same time."""
    requests: int
    """Requests of each user, after `warmup`."""
    rate: float | None
    """Open loop: starts per second. Null: closed loop, or `gaps_ns`."""
    connections: int | Literal["shared", "per-user"]
    """`shared`: one, or over HTTP/1.1 one for each user. `per-user`. Or a number, dealt round robin."""
    cold: bool
    """Whether one request on each new connection comes first."""
    warmup: int
    """Requests of each user that are marked, not dropped."""
    timeout_ns: int
    """Timeout of each request."""
    seed: int
    """Seed of the gaps in an open loop."""
    headers: list[WrittenHeader] = Field(default=[])
    """Headers of each request."""
    authority: str | None = None
    """The authority of requests. Present only for the user's own server, whose certificate the client does not check
    and whose answers are not the block."""
    tls: Literal["1.2", "1.3"] = "1.3"
    """The only version that the client offers. Present only if it is not 1.3."""
    gaps_ns: list[int] | None = None
    """The time to the first request, and from each to the next, ns. Present only if the study has `arrivals`."""
    dealt_to: list[int] | None = None
    """The index of each request's connection. Present only if each connection has its own arrivals."""
    abandon_ns: int | None = None
    """The time from when such a request is due until the client abandons it, ns. Present only if the study has
    `abandon`."""
    abandoned: list[int] | None = None
    """The numbers of the requests to abandon, in order."""
    retry_ns: int | None = None
    """The time from when a request is made until it is repeated, ns. Present only if the study has `retry`."""
    retries: int | None = None
    """The most repeats of a request."""

    def asking(self) -> "VisitOrder | None":
        """How requests depend on one another. None: each is independent."""
        return None


@dataclass(frozen=True)
class VisitOrder:
    """The order in which a visit requests its resources."""

    askers: Sequence[int | None]
    """For each resource, the one that requests it. None: the document has none."""
    runs_ns: Sequence[int]
    """The time from the last byte of each until its own requests are due, ns."""
    at_once: int
    """The number of simultaneous requests on a connection."""


@dataclass(frozen=True)
class Target:
    """The server as the client reaches it, and the seed of a trial's random choices."""

    host: str
    address: str
    port: int
    ca: str
    """A path below a root, like all paths of a trial's files: none belongs to the machine that wrote them."""
    seed: int
    authority: str | None = None
    """The authority of a server that is not a subject."""
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
