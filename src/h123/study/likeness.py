"""How alike the compared treatments send, apart from what the study compares: what of it is equal, and what is not.

TCP's part is the kernel's, in every trial the same one; over QUIC each stack has its own constants. What can be chosen
is made equal where a study says `transport: matched`; the rest is named, so that nobody takes it for the protocol's.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from h123.study.connections import connection_count
from h123.study.parameters import Parameters
from h123.study.plan import Plan
from h123.study.study import split_pair

KERNEL_WINDOW = 10
"""Packets that Linux' TCP begins with where no route says otherwise."""
WINDOW = "initial window"
STACKS = (
    "least retransmission time",
    "pacing",
    "ACK frequency",
    "packet size",
    "receive windows",
    "details of congestion control",
)
"""What two implementations have of their own, and no study can set."""
_NAMED = 3

Choosing = Mapping[str, Collection[str]]
"""Subject to the roles in which it takes an initial window."""


@dataclass(frozen=True)
class Sender:
    """Whoever sends the bodies of a trial, and the packets that it begins with; None: a number of its own."""

    name: str
    protocol: str
    role: str
    window: int | None

    @classmethod
    def of(cls, p: Parameters, choosing: Choosing) -> "Sender":
        """Of a trial with these parameters."""
        role = "server" if p.method == "GET" else "client"
        name = p.server if role == "server" else p.client
        if p.protocol != "h3":
            return cls("", p.protocol, role, p.window or KERNEL_WINDOW)
        return cls(name, p.protocol, role, p.window if role in choosing.get(name, ()) else None)

    @property
    def starts_with(self) -> str:
        """`10 packets`, `go's own`."""
        return f"{self.window} packets" if self.window else f"{self.name}'s own"

    def begins_like(self, other: "Sender") -> bool:
        """Whether both begin with as many packets, as far as that is known."""
        if self.window is None or other.window is None:
            return (self.name, self.window) == (other.name, other.window)
        return self.window == other.window


Sides = tuple[Parameters, Parameters]


@dataclass(frozen=True)
class Likeness:
    """Of all pairs with one `transport`: what is unlike in some of them, and where that can be told, how."""

    transport: str
    unlike: Mapping[str, str]

    @property
    def said(self) -> str:
        """In words that go on after `Transport`."""
        listed = ", ".join(f"{what} ({how})" if how else what for what, how in self.unlike.items())
        if self.transport == "matched":
            return f"matched but for: {listed}" if listed else "matched"
        return f"as deployed; not alike, besides what is compared: {listed}" if listed else "as deployed; alike"


def likenesses(plan: Plan, choosing: Choosing) -> list[Likeness]:
    """One for each `transport` that the plan's trials have."""
    pairs = list(compared(plan))
    found = dict.fromkeys(p.transport for pair in pairs for p in pair)
    return [
        Likeness(transport, _unlike([pair for pair in pairs if transport in {p.transport for p in pair}], choosing))
        for transport in found
    ]


def compared(plan: Plan) -> Iterator[Sides]:
    """The two treatments of each comparison."""
    factor = plan.study.compare.factor
    cells = {tuple(sorted(t.cell.items())): t.parameters for t in plan.blocks[0]}
    for pair in map(split_pair, plan.pairs):
        for cell, parameters in cells.items():
            if (factor, pair[0]) in cell and (other := cells.get(_with(cell, factor, pair[1]))):
                yield parameters, other


def unmatched(plan: Plan, choosing: Choosing) -> Iterator[tuple[Sender, Sender]]:
    """Senders that are compared and do not begin with as many packets."""
    for pair in compared(plan):
        a, b = (Sender.of(p, choosing) for p in pair)
        if not a.begins_like(b):
            yield a, b


def _with(cell: tuple[tuple[str, str], ...], factor: str, level: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({**dict(cell), factor: level}.items()))


def _unlike(pairs: Sequence[Sides], choosing: Choosing) -> dict[str, str]:
    found = {}
    senders = [(Sender.of(a, choosing), Sender.of(b, choosing)) for a, b in pairs]
    if starting := [sender for pair in senders if not pair[0].begins_like(pair[1]) for sender in pair]:
        found[WINDOW] = _by_protocol((sender.starts_with, sender.protocol) for sender in starting)
    if several := [p for pair in pairs if _connections(pair[0]) != _connections(pair[1]) for p in pair]:
        found["connections"] = _by_protocol((str(_connections(p)), p.protocol) for p in several)
    if any(_stack(a) != _stack(b) for a, b in pairs):
        found.update(dict.fromkeys(STACKS, ""))
    return found


def _stack(p: Parameters) -> tuple[str, ...]:
    """What sends and receives packets: the kernel, or two programs."""
    return ("QUIC", p.server, p.client) if p.protocol == "h3" else ("TCP",)


def _connections(p: Parameters) -> int:
    return connection_count(p.connections, p.users, p.protocol)


def _by_protocol(told: Iterator[tuple[str, str]]) -> str:
    """`10 packets over h1 and h2, go's own over h3`."""
    protocols: dict[str, dict[str, None]] = {}
    for value, protocol in told:
        protocols.setdefault(value, {})[protocol] = None
    said = [f"{value} over {' and '.join(sorted(over))}" for value, over in protocols.items()]
    more = len(said) - _NAMED
    return ", ".join(said if more <= 1 else [*said[:_NAMED], f"{more} more"])
