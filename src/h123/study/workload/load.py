"""Defines the load of a workload: its users, their requests, and the number of connections."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool

from h123.base.complaints import excerpt
from h123.base.strict import Strict
from h123.study.quantities import Duration
from h123.study.workload.abandon import Abandon
from h123.study.workload.arrivals import Arrivals
from h123.study.workload.headers import MOST_HEADERS, Header, once_each
from h123.study.workload.retry import Retry

OK, BEYOND_OK = 200, 300
"""The lowest status of a successful response, and the first status above those."""
Count = Annotated[int, Field(strict=True)]
Method = Literal["GET", "POST"]
Sender = Literal["server", "client"]
SENDERS: Mapping[str, Sender] = {"GET": "server", "POST": "client"}
"""The role that sends the body for each method."""


def _read_connections(value: object) -> object:
    if value in ("shared", "per-user") or (type(value) is int and 1 <= value <= 10_000):
        return value
    raise ValueError(
        f"{excerpt(value)} is not valid; write shared, per-user, or a number of connections from 1 to 10000"
    )


Connections = Annotated[Literal["shared", "per-user"] | int, BeforeValidator(_read_connections)]


class Load(Strict):
    """The parameters that all kinds of workloads share, such as the users, their requests and the number of
    connections. A parameter that imported samples do not give is None."""

    protocol: Literal["h1", "h2", "h3"]
    """HTTP/1.1, HTTP/2 or HTTP/3."""
    users: Annotated[Count, Field(ge=1, le=10_000)] = 1
    """The number of users who send requests at the same time."""
    requests: Annotated[Count, Field(ge=1, le=10_000_000)] = 10
    """The number of requests per user, excluding warm-up."""
    rate: Annotated[float, Field(ge=0.001, le=1_000_000, strict=True, allow_inf_nan=False)] | None = None
    """The total requests per second across all users (open loop). None: each user waits for the previous response
    (closed loop)."""
    arrivals: Arrivals | None = None
    """Rates that change, instead of `rate`. The client receives a time for each request."""
    abandon: Abandon | None = None
    """Makes the client abandon some warm requests while they are in progress. The client receives the numbers of these
    requests."""
    retry: Retry | None = None
    """Makes the client retry requests that have no response after a while, except cold requests."""
    connections: Connections = "shared"
    """shared: HTTP/2 and HTTP/3 use one connection, HTTP/1.1 one per user. per-user: one for each user. A number: users
    are assigned to this many connections round-robin."""
    warmup: Annotated[Count, Field(ge=0, le=10_000_000)] = 0
    """How many of each user's first requests are marked as warm-up and do not count."""
    cold: StrictBool = True
    """Whether each new connection starts with one extra request before all others."""
    timeout: Annotated[Duration, Field(gt=0)] = 30 * 10**9
    """The timeout of one request."""
    headers: Annotated[tuple[Header, ...], Field(max_length=MOST_HEADERS), AfterValidator(once_each)] = ()
    """The headers of each request, in addition to those that its protocol needs."""


@dataclass(frozen=True)
class Exchange:
    """One of the distinct requests of a workload, and the required response."""

    method: Method | None
    """The HTTP method, or None if unknown."""
    up: int | None = None
    down: int | None = None
    """The size of the response's body in bytes. None: any size."""
    status: int = OK
    """The required status of the response. OK: any success."""
    share: float = 1.0
    """The fraction of the workload's requests that are of this sort."""
    pause_ns: int = 0
    """The user's pause in ns before this request."""

    def moved(self, way: str) -> int:
        """Return the body bytes in direction `up` or `down`, or 0 if any number is allowed."""
        return (self.up if way == "up" else self.down) or 0


@dataclass(frozen=True)
class VisitShape:
    """A group of requests that belong together, such as the requests of a page. Their samples have the same user and
    `group`."""

    requests: int
    largest: int
    """The index of the resource with the largest body. Resource 0 is the document, which is requested first."""


@dataclass(frozen=True)
class Upload:
    """A file to upload, named in the study."""

    file: str
    """The file's name in the study, relative to the study's folder."""
    size: int

    @property
    def name(self) -> str:
        """The file's name in the folder that contains all files of a study. The name is unique, even if files come from
        different folders."""
        return quote(self.file, safe="")
