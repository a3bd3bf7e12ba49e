"""Defines workload.json, the client's task (docs/contracts/workload.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from h123.catalogue import USUAL_SHARE, KeyShare
from h123.study.workload.headers import WrittenHeader, written_headers
from h123.study.workload.load import Load

FORMAT: Literal["workload/2"] = "workload/2"


class WorkloadFile(BaseModel):
    """The fields of workload.json that all kinds have."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)

    h123: Literal["workload/2", "workload/1"]
    protocol: Literal["h1", "h2", "h3", "h3-or-h2"]
    """h3-or-h2: HTTP/3 if it works over the network, otherwise HTTP/2."""
    host: str
    """The server's name in TLS and in requests."""
    address: str
    port: int
    ca: str
    """The path of the certificate authority's certificate. Like all paths in a trial's files, it is below a fixed root,
    so it is the same on every machine."""
    users: int
    """The number of users who send requests at the same time."""
    requests: int
    """The number of requests that each user sends after `warmup`."""
    rate: float | None
    """The number of requests started per second (open loop). Null: a closed loop, or an open loop with `gaps_ns`."""
    connections: int | Literal["shared", "per-user"]
    """`shared`: one connection, or over HTTP/1.1 one for each user. `per-user`: one for each user. A number: users are
    assigned to this many connections round-robin."""
    cold: bool
    """Whether each new connection starts with one extra request."""
    warmup: int
    """How many of each user's first requests are marked as warm-up in the samples. They are not dropped."""
    timeout_ns: int
    """The timeout of each request."""
    seed: int
    """The seed of the random gaps between requests in an open loop."""
    headers: list[WrittenHeader] = Field(default=[])
    """The headers of each request."""
    authority: str | None = None
    """The authority of requests. Present only for the user's own server. The client does not check that server's
    certificate, and its bodies need not be the standard block."""
    tls: Literal["1.2", "1.3"] = "1.3"
    """The only TLS version that the client offers. Present only if it is not 1.3."""
    key_share: KeyShare = USUAL_SHARE
    """The only key exchange that the client offers. Present only if it is not X25519."""
    gaps_ns: list[int] | None = None
    """The times in ns to the first request, and from each request to the next. Present only if the study has
    `arrivals`."""
    dealt_to: list[int] | None = None
    """The index of each request's connection. Present only if each connection has its own arrivals."""
    abandon_ns: int | None = None
    """The time in ns from when a request is due until the client abandons it. Present only if the study has
    `abandon`."""
    abandoned: list[int] | None = None
    """The numbers of the requests to abandon, in order."""
    retry_ns: int | None = None
    """The time in ns from when a request is due until its first retry, and from each retry to the next. Present only if
    the study has `retry`."""
    retries: int | None = None
    """The largest number of retries of a request."""

    def asking(self) -> "VisitOrder | None":
        """Return how requests depend on each other, or None if each is independent."""
        return None


@dataclass(frozen=True)
class VisitOrder:
    """The order in which a visit requests its resources."""

    askers: Sequence[int | None]
    """For each resource, the index of the resource that requests it. None for the document."""
    runs_ns: Sequence[int]
    """For each resource, the time in ns from its last byte until the requests that it causes are due."""
    at_once: int
    """The largest number of simultaneous requests on a connection."""


@dataclass(frozen=True)
class Target:
    """The server as the client reaches it, and the seed of a trial's random choices."""

    host: str
    address: str
    port: int
    ca: str
    """The path of the certificate authority's certificate. Like all paths in a trial's files, it is below a fixed root,
    so it is the same on every machine."""
    seed: int
    authority: str | None = None
    """The authority of a server that is not a subject."""
    tls: str = "1.3"
    key_share: str = USUAL_SHARE


def common_fields(load: Load, target: Target) -> dict[str, Any]:
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
        **({} if target.key_share == USUAL_SHARE else {"key_share": target.key_share}),
    }
