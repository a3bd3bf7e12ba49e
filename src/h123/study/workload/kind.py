"""What a workload of any kind answers to whoever plans, runs, holds or shows it.

A kind is a module beside this one. It has its parameters, a subclass of `Load`; its answers, a subclass of `Kind`; and
what it tells a client in workload.json, a subclass of `WorkloadFile`. Nobody outside of this package knows kinds by
their names.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from h123.base.strict import Strict, shown
from h123.catalogue import FULL, Announcement
from h123.study.quantities import Duration
from h123.study.sites.documents import Documents
from h123.study.workload.abandon import LEAVING, Abandon
from h123.study.workload.arrivals import MOST_WRITTEN, Arrivals
from h123.study.workload.headers import MOST_HEADERS, Header, WrittenHeader, once_each, written
from h123.study.workload.retry import Retry

OK, BEYOND_OK = 200, 300
"""An answer that must be a success has any status from the first to before the second."""
RARE = 0.01
"""Of trials: those in which chance may have made something longer than is reckoned with."""
FORMAT: Literal["workload/2"] = "workload/2"
Count = Annotated[int, Field(strict=True)]
Method = Literal["GET", "POST"]
Sender = Literal["server", "client"]
SENDERS: Mapping[str, Sender] = {"GET": "server", "POST": "client"}
"""Who sends the body that a method moves."""


def _read_connections(value: object) -> object:
    if value in ("shared", "per-user") or (type(value) is int and 1 <= value <= 10_000):
        return value
    raise ValueError(f"{shown(value)} is not valid; write shared, per-user, or a number of connections from 1 to 10000")


Connections = Annotated[Literal["shared", "per-user"] | int, BeforeValidator(_read_connections)]


class Load(Strict):
    """The parameters of all kinds: who asks, how often, over how many connections. Of imported samples each may be None
    that nothing is known of."""

    protocol: Literal["h1", "h2", "h3"]
    users: Annotated[Count, Field(ge=1, le=10_000)] = 1
    requests: Annotated[Count, Field(ge=1, le=10_000_000)] = 10
    """Requests of each user, warm-up not counted."""
    rate: Annotated[float, Field(ge=0.001, le=1_000_000, strict=True, allow_inf_nan=False)] | None = None
    """Requests a second of all users together (open loop); None: each user waits for its last answer (closed loop)."""
    arrivals: Arrivals | None = None
    """Instead of `rate`: rates that change. The client is told when each request is due."""
    abandon: Abandon | None = None
    """Some warm requests are given up while they are under way. The client is told which."""
    retry: Retry | None = None
    """Requests without an answer are made again after a while, cold ones apart."""
    connections: Connections = "shared"
    """shared: HTTP/2 and HTTP/3 use one, HTTP/1.1 one per user; users are dealt round robin over a number of them."""
    warmup: Annotated[Count, Field(ge=0, le=10_000_000)] = 0
    cold: StrictBool = True
    """One request on each new connection before anything else."""
    timeout: Annotated[Duration, Field(gt=0)] = 30 * 10**9
    """Of one request."""
    headers: Annotated[tuple[Header, ...], Field(max_length=MOST_HEADERS), AfterValidator(once_each)] = ()
    """Of each request, besides those that its protocol needs."""


@dataclass(frozen=True)
class Exchange:
    """One of the requests that a workload is made of, and the answer that it must get."""

    method: Method | None
    """None: not known."""
    up: int | None = None
    down: int | None = None
    """Body bytes; None: nothing is asked of them."""
    status: int = OK
    """That the answer must have; OK: any of success."""
    share: float = 1.0
    """Of all requests of the workload."""
    pause_ns: int = 0
    """That a user takes before it."""

    def moved(self, way: str) -> int:
        """Body bytes `up` or `down`, none where nothing is asked."""
        return (self.up if way == "up" else self.down) or 0


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

    def asking(self) -> "Asking | None":
        """How requests follow one another; None: none asks for another."""
        return None


@dataclass(frozen=True)
class Asking:
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


@dataclass(frozen=True)
class Visit:
    """Requests that belong together, as a page's do; in samples those of a user with the same `group`."""

    requests: int
    largest: int
    """The resource with the largest body. Resource 0 is what is asked for first, the document."""


@dataclass(frozen=True)
class Upload:
    """A file of the study's that requests upload."""

    file: str
    """As the study names it: relative to its own folder."""
    size: int

    @property
    def name(self) -> str:
        """In the root that has all of a study's: another one for each, whatever folders they are from."""
        return quote(self.file, safe="")


@dataclass(frozen=True)
class Kind(ABC):
    """The answers of a workload. Those that are alike for all kinds so far are given here."""

    load: Load
    """Its parameters."""

    @abstractmethod
    def exchanges(self) -> Sequence[Exchange]:
        """The different requests it is made of; a sample's `resource` is the index of its own."""

    @abstractmethod
    def label(self, unknown: Collection[str] = (), /) -> str:
        """In words, such as `GET 100 kB`; without what parameters that are `unknown` would say."""

    @abstractmethod
    def file(self, target: Target) -> WorkloadFile:
        """workload.json."""

    @abstractmethod
    def served(self) -> Sequence[int]:
        """Sizes of the bodies that it downloads as `/bytes/<n>`."""

    def documents(self) -> Documents | None:
        """The page's own, where servers are to have real ones."""
        return None

    def uploads(self) -> Sequence[Upload]:
        """The files that it uploads."""
        return ()

    def fault(self) -> str | None:
        """Why its parameters make no workload together, in words; None: they do."""
        load = self.load
        if load.rate is not None and load.arrivals is not None:
            return "`arrivals` says when requests are due: leave out `rate`"
        if load.arrivals is not None and load.users * self.each() > MOST_WRITTEN:
            return (
                f"the client is told when each request is due, and can be told of {MOST_WRITTEN}: have fewer requests"
            )
        if load.abandon is not None and load.retry is not None:
            return "a request is given up for good, or made again: leave out `abandon`, or `retry`"
        if load.abandon is not None:
            return self._not_abandoned(load.abandon)
        return None if load.retry is None else self._not_retried(load.retry)

    def _not_abandoned(self, abandon: Abandon) -> str | None:
        """Why requests cannot be; None: they can."""
        warm = self.load.users * self.load.requests
        if abandon.after >= self.load.timeout:
            return "`abandon` comes too late, since requests have timed out by then: write a shorter `after`"
        if abandon.count(warm) == warm:
            return f"all of the {warm} requests would be abandoned: have more `requests`, or a smaller `share`"
        if abandon.count(warm) > MOST_WRITTEN:
            return (
                f"the client is told which requests to abandon, and can be told of {MOST_WRITTEN}: have fewer requests"
            )
        return None

    def _not_retried(self, retry: Retry) -> str | None:
        """Why requests cannot be made again; None: they can."""
        if retry.last_ns >= self.load.timeout:
            return (
                "requests have timed out before they are made for the last time: write a shorter `after`, a smaller "
                "`at_most`, or a longer `timeout`"
            )
        return None

    @property
    def open_loop(self) -> bool:
        """Whether requests are due whether or not earlier ones have been answered."""
        return self.load.rate is not None or self.load.arrivals is not None

    @property
    def tells_arrivals(self) -> bool:
        """Whether the client is told when each request is due."""
        return self.load.arrivals is not None

    @property
    def tells_connections(self) -> bool:
        """And on which connection."""
        return self.load.arrivals is not None and self.load.arrivals.per == "connection"

    @property
    def abandons(self) -> bool:
        """Whether the client is told to give requests up."""
        return self.load.abandon is not None

    @property
    def retries(self) -> bool:
        """Whether the client is told to make requests again."""
        return self.load.retry is not None

    def resource(self, _number: int, _seed: int) -> int:
        """What a request is for, of those of all users, counted one user after another."""
        return 0

    def visit(self) -> Visit | None:
        """What its requests make up; None: each is by itself."""
        return None

    def hosts(self) -> Sequence[str]:
        """Labels of the names, below the server's own, that requests are made of too."""
        return ()

    def host(self, _resource: int, /) -> str | None:
        """That a resource is asked of, by its label; None: the server's own name."""
        return None

    # Who takes part

    def methods(self) -> list[str]:
        """Each that a request has."""
        return list(dict.fromkeys(one.method for one in self.exchanges() if one.method))

    def senders(self) -> list[Sender]:
        """Those that send bodies, whoever sends most of them first."""
        weight = dict.fromkeys(SENDERS.values(), 0.0)
        for one in self.exchanges():
            if one.method:
                weight[SENDERS[one.method]] += one.share * max(one.moved("up"), one.moved("down"), 1)
        return [sender for sender in sorted(weight, key=lambda each: -weight[each]) if weight[sender]]

    @property
    def has_headers(self) -> bool:
        """Whether a client must send headers that the study names."""
        return bool(self.load.headers)

    def fresh_bytes(self) -> int:
        """Of headers in each request that no earlier one had."""
        return sum(header.bytes or 0 for header in self.load.headers if header.changes == "request")

    # How much there is of it

    def connection_count(self) -> int:
        """By the parameter `connections`: one that is shared, one per user, or a number.

        HTTP/1.1 carries one request at a time, so there "shared" is one per user too.
        """
        asked = self.load.connections
        if isinstance(asked, int):
            return asked
        return self.load.users if asked == "per-user" or self.load.protocol == "h1" else 1

    def connections_opened(self) -> int:
        """In a trial in which none is lost."""
        return self.connection_count()

    def connections_again(self) -> int:
        """At most, in place of those over HTTP/1.1 that requests have closed which are abandoned or made again."""
        rows = self.rows()
        if self.load.protocol != "h1" or rows is None:
            return 0
        retries = self.load.retry.at_most if self.load.retry else 0
        return rows[LEAVING] + retries * (rows["warm"] + rows["warmup"])

    def connections_uncounted(self) -> int:
        """Beside these: such as earn a session for them to resume, and have no row."""
        return 0

    @property
    def sessions(self) -> str:
        """What handshakes are asked for: full, resumed, fast-open, early."""
        return FULL

    @property
    def early(self) -> bool:
        """Whether the first request of a connection goes out before its handshake is complete."""
        return self.sessions == "early"

    @property
    def fast_open(self) -> bool:
        """Whether what TLS begins with goes out with TCP's first packet."""
        return self.sessions == "fast-open"

    @property
    def fallback(self) -> Literal["h2"] | None:
        """The protocol that the client may take where its own does not come through; None: no other."""
        return None

    @property
    def found(self) -> Announcement | None:
        """Where the client finds HTTP/3 by itself; None: it is told of it."""
        return None

    @property
    def repeats(self) -> bool:
        """Whether each visit follows one that has no row, and of which the client has kept what it learnt."""
        return False

    def protocols(self) -> list[str]:
        """That a request may have been carried by."""
        return [self.load.protocol, *([self.fallback] if self.fallback else [])]

    def rows(self) -> dict[str, int] | None:
        """Samples by phase; None where not all parameters are known."""
        load = self.load
        if _unknown(load, "users", "requests", "warmup", "cold", "connections"):
            return None
        cold = self.connection_count() if load.cold else 0
        warm = load.users * load.requests
        leaving = load.abandon.count(warm) if load.abandon else 0
        return {"warm": warm - leaving, LEAVING: leaving, "warmup": load.users * load.warmup, "cold": cold}

    def each(self) -> int:
        """Requests of one user, cold ones apart."""
        return self.load.requests + self.load.warmup

    def round_trips(self) -> float:
        """That one user takes in a closed loop, at least: a request, then the next."""
        return self.each()

    def all_requests(self) -> int:
        """Of a trial, cold ones too."""
        return sum((self.rows() or {}).values())

    def moved(self, way: str) -> float:
        """Body bytes of a request `up` or `down`, on average."""
        return sum(one.share * one.moved(way) for one in self.exchanges())

    def pause_s(self) -> float:
        """That a user takes before a request, on average."""
        return sum(one.share * one.pause_ns for one in self.exchanges()) / 1e9

    def longest_pause_ns(self) -> int:
        """In which a user need not have a request under way."""
        return max((one.pause_ns for one in self.exchanges()), default=0)

    def longest_silence_ns(self) -> int:
        """In which a connection need not have a request under way: while a user thinks; at a rate, the longest gap
        between starts on one of the connections that one trial in a hundred has."""
        if not self.open_loop:
            return self.longest_pause_ns()
        count = self.load.users * self.each()
        if self.load.arrivals:
            return round(self.load.arrivals.longest_gap_s(count, self.connection_count()) * 1e9)
        assert self.load.rate
        each = self.load.rate / self.connection_count()
        return round(math.log(count / RARE) / each * 1e9)

    def most_in_flight(self) -> int | None:
        """Requests under way at once in a closed loop; None where that is not known, or nothing limits it."""
        return None if self.open_loop else self.load.users

    def most_on_connection(self) -> int | None:
        """Of these, on one connection: users are dealt round robin. HTTP/1.1 has one request at a time there."""
        if self.open_loop or _unknown(self.load, "users", "connections"):
            return None
        return 1 if self.load.protocol == "h1" else -(-self.load.users // self.connection_count())

    def body_bytes(self) -> int | None:
        """Of each request, where all are alike."""
        sizes = {max(one.moved("up"), one.moved("down")) for one in self.exchanges()}
        return sizes.pop() or None if len(sizes) == 1 else None

    def statuses(self) -> list[int]:
        """That each resource must be answered with."""
        return [one.status for one in self.exchanges()]

    # What a client is told

    def common(self, target: Target) -> dict[str, Any]:
        """The fields of workload.json that all kinds have."""
        load = self.load
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
            "headers": list(written(load.headers)),
            **({} if target.authority is None else {"authority": target.authority}),
            **({} if target.tls == "1.3" else {"tls": target.tls}),
            **({} if load.arrivals is None else self._told(load.arrivals, target.seed)),
            **({} if load.abandon is None else self._abandoned(load.abandon, target.seed)),
            **({} if load.retry is None else {"retry_ns": load.retry.after, "retries": load.retry.at_most}),
        }

    def _abandoned(self, abandon: Abandon, seed: int) -> dict[str, Any]:
        """Which requests are given up, by their numbers, and when."""
        load = self.load
        placed = (divmod(place, load.requests) for place in abandon.chosen(seed, load.users * load.requests))
        numbers = [user * self.each() + load.warmup + n for user, n in placed]
        return {"abandon_ns": abandon.after, "abandoned": numbers}

    def _told(self, arrivals: Arrivals, seed: int) -> dict[str, list[int]]:
        """When each request is due, and where that is a matter of each connection, on which."""
        count = self.load.users * self.each()
        if not self.tells_connections:
            return {"gaps_ns": _gaps(arrivals.due(seed, count))}
        dealt = arrivals.dealt(seed, count, self.connection_count())
        return {"gaps_ns": _gaps([due for due, _ in dealt]), "dealt_to": [connection for _, connection in dealt]}


def _gaps(due: Sequence[int]) -> list[int]:
    return [later - earlier for earlier, later in itertools.pairwise([0, *due])]


def _unknown(load: Load, *names: str) -> bool:
    return any(getattr(load, name) is None for name in names)
