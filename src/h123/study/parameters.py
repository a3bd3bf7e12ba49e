"""Defines the parameters of a trial: everything that a study may set or vary."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, TypeAdapter

from h123.base.transport import SETTINGS, TCP_PAYLOAD, TCP_PAYLOAD_IPV6, Name, Value
from h123.base.units import format_bytes
from h123.catalogue import KeyShare
from h123.study.quantities import Duration, Size
from h123.study.workload import WorkloadParameters

Count = Annotated[int, Field(strict=True)]
Role = Literal["server", "client", "backend"]
SUBJECT_PARAMETERS: tuple[str, ...] = get_args(Role)
NETWORK_PARAMETERS = ("network", "backend_network")
LEAST_DATAGRAM = 1252
"""The UDP payload of an IPv4 packet of 1280 bytes. Every IPv6 path carries packets of this size, and every QUIC stack
accepts them."""
LEAST_CHAIN, MOST_CHAIN = 1000, 40_000
"""The limits on a certificate chain's size in bytes. Two small certificates take 900 bytes, and a chain of post-quantum
ones (ML-DSA) less than 30 kB."""
_MS = 10**6


def _check_route_time(ns: int | None) -> int | None:
    """Return the time unchanged. Raises ValueError if it cannot be set for TCP as an attribute of a route."""
    if ns is None or (ns % _MS == 0 and 1 <= ns // _MS <= 60_000):
        return ns
    raise ValueError("must be whole milliseconds, from 1ms to 1min, such as 50ms")


def _of_a_chain(size: int | None) -> int | None:
    """Return the size unchanged. Raises ValueError if h123 cannot make a certificate chain of this size."""
    if size is None or LEAST_CHAIN <= size <= MOST_CHAIN:
        return size
    raise ValueError(f"must be from {format_bytes(LEAST_CHAIN)} to {format_bytes(MOST_CHAIN)}")


def _read_pacing(value: object) -> object:
    if value is None or value is False or value == "off":  # YAML's off is false
        return None if value is None else "off"
    raise ValueError("must be off, or left out to keep each stack's default")


def _read_version(value: object) -> object:
    return str(value) if isinstance(value, float) else value  # YAML's 1.2 is a number


class Parameters(WorkloadParameters):
    """All conditions of one trial. Times are in nanoseconds, sizes in bytes, `rate` in requests per second."""

    server: str
    """A subject, or one of the `servers` that the study defines."""
    client: str
    """The subject that is the client."""
    network: str
    """A network's name, or the path of its file."""
    losses: Literal["own", "none", "one"] = "own"
    """The losses of the access link. own: those of its network. none: no losses. one: only a single packet is lost, in
    the direction that carries most of the bodies, at a different point in each block."""
    queue_limit: Literal["own", "none"] = "own"
    """The queues of the access link. own: those of its network. none: queues without a limit, which neither drop nor
    mark packets."""
    round_trip: Literal["own", "half"] = "own"
    """The delays of the access link. own: those of its network. half: half of each delay."""
    cross_traffic: Literal["own", "none"] = "own"
    """The other senders on the access link. own: those of its network. none: no other senders."""
    tls: Annotated[Literal["1.2", "1.3"], BeforeValidator(_read_version)] = "1.3"
    """The only TLS version that both sides use."""
    key_share: KeyShare = "X25519"
    """The key exchange of TLS 1.3. The post-quantum X25519MLKEM768 adds 1184 bytes to the client's first message, and
    1088 to the server's."""
    port: Annotated[Count, Field(ge=1, le=65_535)] = 4443
    """The TCP or UDP port on which the server listens."""
    address: Literal["ipv4", "ipv6", "both"] = "ipv4"
    """The IP version between client and server. For ipv6, the server listens only at its IPv6 address. For both, it
    listens at all addresses, and the client chooses."""
    store: Literal["memory", "gcs"] = "memory"
    """memory: the server generates and discards bodies; gcs: it reads and writes bodies as objects of a backend."""
    backend: str = "fake-gcs"
    """The subject that stores the objects. h123 starts it only if `store` is not memory."""
    backend_network: str | None = None
    """The network from the server to its backend or origin, which then runs on a separate host. None: a plain veth pair
    leads to a store's backend, and a proxy's origin runs on the proxy's host."""
    congestion: Literal["cubic", "reno", "bbr", "default"] = "cubic"
    """The congestion controller of the end that sends bodies. default: the QUIC stack's own choice; for TCP, cubic."""
    transport: Literal["deployed", "matched"] = "deployed"
    """deployed: each stack keeps its own settings. matched: senders use equal settings where they can."""
    initial_window: Annotated[Count, Field(ge=1, le=1000)] | None = None
    """The number of packets that senders may send first. None: `transport` decides."""
    pacing: Annotated[Literal["off"] | None, BeforeValidator(_read_pacing)] = None
    """off: senders send at once everything that their windows allow. None: `transport` decides."""
    max_datagram: Annotated[Count, Field(ge=LEAST_DATAGRAM, le=TCP_PAYLOAD)] | None = None
    """The largest packet payload in bytes, excluding the UDP or TCP header. None: `transport` decides."""
    min_rto: Annotated[Duration | None, AfterValidator(_check_route_time)] = None
    """TCP's minimum retransmission timeout. None: the kernel's default, 200 ms."""
    tcp_ecn: StrictBool = False
    """Whether TCP connections negotiate ECN (RFC 3168). QUIC stacks decide for themselves."""
    quick_ack: StrictBool = False
    """Whether TCP acknowledges every segment at once. QUIC stacks decide for themselves."""
    certificate: Annotated[Size | None, AfterValidator(_of_a_chain)] = None
    """The total size of the certificates that the server sends: its own and an intermediate one. None: only its own, as
    small as possible."""
    certificate_wait: Duration | None = None
    """How long the server waits for its certificate in each QUIC handshake. None: not at all."""
    instant_ack: StrictBool = True
    """Whether the server acknowledges a client's first message before `certificate_wait` has passed."""
    qlog: StrictBool = False
    """Whether the server writes a log of its QUIC connections into the trial's folder."""
    capture: StrictBool = False
    """Whether to save all packets of the links in full, in files that Wireshark opens, and the TLS keys that the client
    logs."""
    clock: Literal["wall", "virtual"] = "wall"
    """wall: real time. virtual: time passes only while a virtual kernel waits, so processing takes no time."""
    affinity: Literal["shared", "apart"] = "shared"
    """shared: programs run on any processor. apart: the client has half of the processors to itself, and the server and
    its backend share the other half."""
    trial_timeout: Annotated[Duration, Field(gt=0)] = 120 * 10**9
    """The time limit for the client's whole run."""

    def setting(self, name: Name) -> Value | None:
        """Return the value that senders must use for a setting, or None if each stack uses its own value."""
        value: Value | None = getattr(self, name)
        if value is None and self.transport == "matched" and self.congestion != SETTINGS[name].brought_by:
            matched = SETTINGS[name].matched_value
            return TCP_PAYLOAD_IPV6 if name == "max_datagram" and self.address != "ipv4" else matched
        return value

    def networks(self) -> tuple[str, ...]:
        """Return the names of the networks of the trial's links, beginning with the access link."""
        return (self.network, self.backend_network) if self.backend_network else (self.network,)

    def checked_links(self) -> tuple[str, ...]:
        """Return a key for link checks. Trials with equal keys share one check."""
        return (self.clock, self.losses, self.queue_limit, self.round_trip, self.cross_traffic, *self.networks())

    def roles(self) -> dict[Role, str]:
        pair: dict[Role, str] = {"server": self.server, "client": self.client}
        return pair if self.store == "memory" else {**pair, "backend": self.backend}


PARAMETER_NAMES = list(Parameters.model_fields)


def _adapter(name: str) -> TypeAdapter[Any]:
    field = Parameters.model_fields[name]
    annotated: Any = Annotated[field.annotation, field]
    return TypeAdapter(annotated)


_ADAPTERS = {name: _adapter(name) for name in PARAMETER_NAMES}


def validate_parameter(name: str, value: object, folder: Path) -> Any:
    """Validate a parameter's value from a file in `folder`, and return it in the JSON form that h123 stores. Raises
    pydantic's ValidationError."""
    adapter = _ADAPTERS[name]
    return adapter.dump_python(adapter.validate_python(value, context=folder), mode="json")


@dataclass(frozen=True)
class PlannedTrial:
    """One planned execution of a treatment."""

    id: str
    """The trial's ID, unique in the campaign and valid as a file name. It consists of the block, the position in the
    block and the levels."""
    block: int
    """The block's number, from 1."""
    position: int
    """The trial's position in the whole block, from 1. A filter leaves gaps in the numbers."""
    cell: dict[str, str]
    """Maps factors to levels."""
    twin: bool
    """Whether this trial is the second run of a treatment that runs twice in the block."""
    parameters: Parameters
    link_seed: int
    """The seed of the link's random draws. It is below 2^53, so that every JSON reader preserves it."""
    lost_at: float = 0.0
    """For a trial that loses a single packet, the point in the transfer, from 0 to 1, at which the packet is lost."""
    random: str | None = None
    """The seed of the random numbers that programs draw under the virtual clock. None: the trial's ID is the seed."""
    moment: float = 0.0
    """The point, from 0 to 1, at which the block starts within the cross traffic and the records of links."""
