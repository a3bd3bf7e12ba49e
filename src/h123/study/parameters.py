"""The parameters of a trial: everything that a study may set or vary."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, TypeAdapter

from h123.base.transport import SETTINGS, TCP_PAYLOAD, Name, Value
from h123.base.units import format_bytes
from h123.study.quantities import Duration, Size
from h123.study.workload import WorkloadParameters

Count = Annotated[int, Field(strict=True)]
Role = Literal["server", "client", "backend"]
SUBJECT_PARAMETERS: tuple[str, ...] = get_args(Role)
NETWORK_PARAMETERS = ("network", "backend_network")
LEAST_DATAGRAM = 1252
"""Bytes of payload in packets of 1280 bytes, which every path of IPv6 carries and every QUIC stack accepts."""
LEAST_CHAIN, MOST_CHAIN = 1000, 15_000
"""Bytes of certificates. Two small ones have 900, and a TLS record has room for 16 384 with what surrounds them."""
_MS = 10**6


def _check_route_time(ns: int | None) -> int | None:
    """Raises ValueError for what a route cannot ask of TCP."""
    if ns is None or (ns % _MS == 0 and 1 <= ns // _MS <= 60_000):
        return ns
    raise ValueError("must be whole milliseconds, from 1ms to 1min, such as 50ms")


def _of_a_chain(size: int | None) -> int | None:
    """Raises ValueError for what no chain here can have."""
    if size is None or LEAST_CHAIN <= size <= MOST_CHAIN:
        return size
    raise ValueError(f"must be from {format_bytes(LEAST_CHAIN)} to {format_bytes(MOST_CHAIN)}")


def _read_pacing(value: object) -> object:
    if value is None or value is False or value == "off":  # YAML's off is false
        return None if value is None else "off"
    raise ValueError("must be off, or left out for what each stack has by itself")


def _read_version(value: object) -> object:
    return str(value) if isinstance(value, float) else value  # YAML's 1.2 is a number


class Parameters(WorkloadParameters):
    """One trial's conditions, complete. Times are nanoseconds, sizes bytes, `rate` requests per second."""

    server: str
    """A subject, or one of the study's own `servers`."""
    client: str
    """A subject."""
    network: str
    """A network by name, or the path of its file."""
    losses: Literal["own", "none", "one"] = "own"
    """The losses of the access link. own: what its network loses. none: nothing. one: in each block one other packet
    that carries bodies, and nothing else (single_loss.py)."""
    tls: Annotated[Literal["1.2", "1.3"], BeforeValidator(_read_version)] = "1.3"
    """The only version that both sides speak."""
    port: Annotated[Count, Field(ge=1, le=65_535)] = 4443
    """The port on which the server listens, TCP or UDP."""
    store: Literal["memory", "gcs"] = "memory"
    """memory: the server generates and discards bodies; gcs: it reads and writes them as objects of a backend."""
    backend: str = "fake-gcs"
    """Subject behind the server; started only if `store` is not memory."""
    backend_network: str | None = None
    """The network between the server (a) and its backend or origin (b), on a separate host. None: a plain veth pair
    to a store's backend; the origin behind a proxy is on the proxy's host."""
    congestion: Literal["cubic", "reno", "bbr", "default"] = "cubic"
    """The controller of the end that sends bodies. default: the QUIC stack's own choice, cubic for TCP."""
    transport: Literal["deployed", "matched"] = "deployed"
    """deployed: each stack with its own settings; matched: whatever senders can make equal is equal (`setting`)."""
    initial_window: Annotated[Count, Field(ge=1, le=1000)] | None = None
    """Packets that senders begin with; None: as `transport` decides."""
    pacing: Annotated[Literal["off"] | None, BeforeValidator(_read_pacing)] = None
    """off: senders send what their windows allow at once; None: as `transport` decides."""
    max_datagram: Annotated[Count, Field(ge=LEAST_DATAGRAM, le=TCP_PAYLOAD)] | None = None
    """The most bytes of payload in a packet, after the header of UDP or TCP; None: as `transport` decides."""
    min_rto: Annotated[Duration | None, AfterValidator(_check_route_time)] = None
    """TCP's minimum retransmission timeout; None: the kernel's own, 200 ms."""
    certificate: Annotated[Size | None, AfterValidator(_of_a_chain)] = None
    """Bytes of the certificates that the server sends, its own and the intermediate one. None: only its own, as small
    as possible."""
    qlog: StrictBool = False
    """The server writes a log of its QUIC connections into the trial's folder."""
    capture: StrictBool = False
    """The links' packets are kept whole, in files that Wireshark opens, with the TLS keys that the client logs."""
    clock: Literal["wall", "virtual"] = "wall"
    """wall: real time; virtual: time passes only while a virtual kernel waits, so that processing takes none."""
    affinity: Literal["shared", "apart"] = "shared"
    """shared: the kernel lets programs run on any processor; apart: the client has half of them for itself, the server,
    and what stands behind it, the others."""
    trial_timeout: Annotated[Duration, Field(gt=0)] = 120 * 10**9
    """The timeout of the client's whole run."""

    def setting(self, name: Name) -> Value | None:
        """The value that senders must use. None: each stack's own."""
        value: Value | None = getattr(self, name)
        if value is None and self.transport == "matched" and self.congestion != SETTINGS[name].brought_by:
            return SETTINGS[name].matched_value
        return value

    def networks(self) -> tuple[str, ...]:
        """Names of the networks of such a trial's links, the access link's first."""
        return (self.network, self.backend_network) if self.backend_network else (self.network,)

    def checked_links(self) -> tuple[str, ...]:
        """The scope of a link check: links of these networks with these losses under this clock."""
        return (self.clock, self.losses, *self.networks())

    def roles(self) -> dict[Role, str]:
        """The subject in each role that a trial with these parameters has."""
        pair: dict[Role, str] = {"server": self.server, "client": self.client}
        return pair if self.store == "memory" else {**pair, "backend": self.backend}


PARAMETER_NAMES = list(Parameters.model_fields)


def _adapter(name: str) -> TypeAdapter[Any]:
    field = Parameters.model_fields[name]
    annotated: Any = Annotated[field.annotation, field]
    return TypeAdapter(annotated)


_ADAPTERS = {name: _adapter(name) for name in PARAMETER_NAMES}


def validate_parameter(name: str, value: object, folder: Path) -> Any:
    """The value of one parameter, as written in a file in `folder`, in the form that h123 keeps (JSON). Raises
    pydantic's ValidationError."""
    adapter = _ADAPTERS[name]
    return adapter.dump_python(adapter.validate_python(value, context=folder), mode="json")


@dataclass(frozen=True)
class PlannedTrial:
    """One planned execution of a treatment."""

    id: str
    """Unique in the campaign and fit for a file's name: block, place in the block, levels."""
    block: int
    """The block's number, from 1."""
    position: int
    """Place in the whole block's order, from 1; a filtered plan keeps it, with gaps."""
    cell: dict[str, str]
    """Factor to level."""
    twin: bool
    """Whether this is the second run of the level that runs twice."""
    parameters: Parameters
    link_seed: int
    """Seed of the link's random draws, below 2^53 so that any JSON reader keeps it."""
    lost_at: float = 0.0
    """Where in the transfer, 0 to 1, a trial with one lost packet loses it."""
    moment: float = 0.0
    """Where in the course of cross traffic, 0 to 1, the block starts."""
