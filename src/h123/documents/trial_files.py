"""Defines trial.json and client.json: what a lab must run, and what a client reports about itself. The client's task is
defined in study/workload."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from h123.documents.shapes import Count, Document, Shape
from h123.study.networks.network import Bottleneck, Cross, Direction, Move


def _sane(way: Direction) -> Direction:
    changes = way.changes or []
    delays = [way.delay_ns, *(change.delay_ns for change in changes)]
    delays += [way.jitter.spread_ns] if way.jitter else []
    delays += [way.reorder.ahead_ns] if way.reorder else []
    delays += [way.retransmission.delay_ns] if way.retransmission else []
    if any(abs(delay or 0) >= 2**62 for delay in delays):
        raise ValueError("a delay that no link can have")
    losses = [loss.mean for loss in (way.loss, *(change.loss for change in changes)) if loss]
    if not all(0 <= share <= 1 for share in losses):
        raise ValueError("a loss that no link can have")
    if not all(_possible(rate) for rate in (way.rate, *(change.rate for change in changes)) if rate):
        raise ValueError("a rate that no link can have")
    return way


def _possible(rate: Bottleneck) -> bool:
    if rate.bps is not None:
        return 0 < rate.bps < 2**62
    trace, size = rate.trace_ms, rate.opportunity_bytes
    return bool(trace and size and 0 < trace[-1] < 2**53 and 0 < size < 2**32 and trace == sorted(trace))


Way = Annotated[Direction, AfterValidator(_sane)]


class NetworkPath(Shape):
    """The properties of a network in each direction."""

    up: Way | None = None
    down: Way | None = None


class LinkEnd(Shape):
    host: str
    address: str | None = None
    """The IPv4 address. Each link needs its own /30 network."""
    address6: str | None = Field(default=None, exclude_if=lambda address: address is None)
    """The IPv6 address, from the link's /64 network. Either both ends have one, or neither."""


class Link(Shape):
    name: str | None = None
    a: LinkEnd | None = None
    """The host whose packets go up."""
    b: LinkEnd | None = None
    """The host whose packets go down."""
    kind: Literal["emulated", "veth"] | None = None
    """`emulated`: a pair of TUN devices, connected by the lab's link in user space. `veth`: a plain veth pair, which
    has no `up` and `down`."""
    up: Way | None = None
    down: Way | None = None
    moves: list[Move] = Field(default=[])
    cross: Cross | None = None
    packets: Count = 0
    """The largest number of packets to record, at most 4 million."""
    capture: bool = False
    """Whether to keep the recorded packets in full."""
    frames: bool = False
    """Whether to read the HTTP/2 and QUIC frames in the recorded packets."""


class Readiness(Shape):
    tcp: list[int] = Field(default=[])
    """TCP ports that must be in the state LISTEN, according to /proc/net."""
    udp: list[int] = Field(default=[])
    address: str | None = None
    """The address where the ports must be open. None: anywhere on the host."""
    accepts: bool = False
    """Whether the first TCP port must also have accepted a connection."""
    line: str | None = None
    """Text that the role's output must contain."""
    besides: list[int] = Field(default=[])
    """Additional TCP ports that must be open, at any address of the host."""
    elsewhere_ns: int | None = None
    """The time in ns after which the lab gives up on a program that listens only on other ports or addresses. None:
    `timeout_ns`."""
    timeout_ns: int


SECOND_SERVER = "server-h2"
"""The role that offers HTTP/2 at the server's address and port, for clients that may fall back to it."""


class Role(Shape):
    """A command on a host."""

    name: str
    host: str
    kind: Literal["service", "main"]
    """`main`: the trial ends when this role ends; each trial has exactly one. `service`: a role that runs throughout
    the trial."""
    command: list[str]
    """The command line. Programs that h123 installs have paths below a fixed root."""
    env: dict[str, str] = Field(default={})
    ready: Readiness | None = None
    stop_timeout_ns: int | None = None
    """The time in ns between SIGTERM and SIGKILL when the lab stops the role. Only services have this key."""
    timeout_ns: int | None = None
    """The time limit in ns of the main role."""
    outside: bool = False
    """Whether the role may open sockets in the network namespace that the lab was started in. Its environment variable
    `H123_OUTSIDE` is the number of a descriptor of that namespace. Wall clock only."""
    resolver: bool = False
    """Whether the role's /etc/resolv.conf names 127.0.0.1, on the role's host, as the resolver."""
    processors: list[int] = Field(default=[])
    """The processors that the role may use, by the kernel's numbers. Empty: any."""
    inherits: bool = False
    """Whether the role is the user's own program, which gets the environment variables and the /tmp that the lab was
    started with."""
    writes: list[str] = Field(default=[], exclude_if=lambda folders: not folders)
    """Folders of the machine (absolute paths) in which changes are kept. All other changes outside the trial's folder
    are discarded."""


class Tcp(Shape):
    initial_window: int | None = None
    """The initial window of every route, 1 to 1000 packets."""
    min_rto_ns: int | None = None
    """The minimum retransmission timeout of every route, in whole milliseconds from 1 ms to 60 s."""
    max_payload: int | None = None
    """The largest payload of a segment in bytes."""
    keep_idle_window: bool = False
    """Whether to keep the congestion window after an idle period."""
    fast_open: bool = False
    """Whether to use TCP Fast Open (RFC 7413)."""
    ecn: bool = False
    """Whether TCP connections request ECN (RFC 3168)."""
    quick_ack: bool = False
    """Whether TCP acknowledges every segment at once."""


class TrialFile(Document):
    """The content of trial.json. For imported samples, it describes only the network between client and server, because
    h123 ran nothing."""

    h123: Literal["trial/1"]
    id: str | None = None
    origin: Literal["imported"] | None = None
    seed: int | None = None
    random: str | None = Field(default=None, exclude_if=lambda random: random is None)
    """Virtual clock only: a string that, together with `seed`, seeds the random numbers of the trial's programs. Null:
    `id`."""
    clock: Literal["wall", "virtual"] = "wall"
    start_unix_ns: int | None = None
    """The virtual kernel's time of day at boot, in ns since 1970. Null: the machine's time of day."""
    hosts: list[str] = Field(default=[])
    """The hosts. Each has a route to every host that it is linked with."""
    links: Annotated[list[Link], Field(min_length=1)]
    """The links. The analysis reads the first one, between client and server."""
    congestion: str | None = None
    """TCP's congestion controller on every host, set by a route attribute. QUIC's controller is set on the subject's
    command line."""
    tcp: Tcp | None = None
    tcp_account: bool = False
    """Whether the lab records the state of TCP connections."""
    check: bool = False
    """Whether the lab checks, before the client runs, that the links behave as configured."""
    roles: list[Role] = Field(default=[])


class Tls(Shape):
    """A group of similar TLS connections. A client leaves out what its library does not report."""

    version: str | None = None
    cipher: str | None = None
    key_exchange: str | None = None
    alpn: str | None = None
    connections: Count = 0
    resumed: bool = False
    """Whether the connections resumed an earlier session. False for connections that only obtained one."""
    early: bool = False
    """Whether the server accepted early data (0-RTT)."""
    requests: Count = 0
    """The number of requests over these connections, for imported samples."""


class Process(Shape):
    """A run of the program that made the requests, if that is not the client itself."""

    began_ns: Count
    """The start, on the clock of the samples."""
    ended_ns: Count
    """The end, on the clock of the samples."""


class Spread(Shape):
    """Quantiles over a trial's warm requests, in ns."""

    p50: Count
    p99: Count
    max: Count


class OwnDelay(Shape):
    """The part of the recorded times that the client itself caused."""

    late_ns: Spread
    """The time in ns from when a request was due until the client's loop handled it."""
    held_ns: Spread
    """The time in ns from when the kernel received a response's last packet until the client read the end of the
    response."""
    both_ns: Spread
    """The sum of `late_ns` and `held_ns` for each request, in ns."""


class VisitEvents(Shape):
    """The times of a browser's load events in a visit, on the clock of the samples. A time is None if the browser did
    not report the event."""

    user: Count
    group: Count
    """The number of the visit, as in the samples."""
    dom_content_loaded_ns: Count | None = None
    load_ns: Count | None = None


class ClientFile(Document):
    """The content of client.json: what a client reports about itself."""

    h123: Literal["client/1"]
    tls: list[Tls] = Field(default=[])
    """TLS connections. Similar connections share one entry."""
    congestion: str | None = None
    process: Process | None = None
    delay: OwnDelay | None = None
    """The client's own delay. None if not reported."""
    visits: list[VisitEvents] = Field(default=[])
    """The load events of all page visits, including warm-up. Empty if the client reports no such events."""
    notes: object = None
