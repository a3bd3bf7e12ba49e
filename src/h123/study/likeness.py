"""Finds the settings in which the senders of compared treatments differ.

Over TCP, the same kernel sends in every trial. Over QUIC, each stack has its own constants. A study with `transport:
matched` makes settings equal where it can. The answer lists the remaining differences, so that readers do not attribute
their effects to the protocol.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from h123.base.transport import SETTINGS, Name, Setting, Value
from h123.study.parameters import Parameters
from h123.study.plan import Plan
from h123.study.study import split_pair

STACKS = (
    "minimum retransmission timeout",
    "ACK frequency",
    "receive windows",
    "details of congestion control",
)
"""Properties of an implementation that a study cannot set."""
_MOST_PHRASES = 3

TransportRoles = Mapping[str, Mapping[Name, Collection[str]]]
"""For each subject and setting, the roles in which the subject accepts the setting."""


@dataclass(frozen=True)
class SenderSetting:
    """One setting of one end that sends bodies in a trial."""

    setting: Setting
    name: str
    """The subject's name, or an empty string for the kernel."""
    protocol: str
    role: str
    value: Value | None

    @classmethod
    def all(cls, p: Parameters, choosing: TransportRoles, setting: Setting) -> "list[SenderSetting]":
        """Return the setting of each sender in a trial with these parameters, starting with the sender that sends the
        most."""
        return [cls.of(p, role, choosing, setting) for role in p.workload.senders()]

    @classmethod
    def of(cls, p: Parameters, role: str, choosing: TransportRoles, setting: Setting) -> "SenderSetting":
        """Return the setting of the sender in this role."""
        value = p.setting(setting.name)
        if p.protocol != "h3":
            kernel = None if p.congestion == setting.brought_by else value or setting.kernel
            return cls(setting, "", p.protocol, role, kernel)
        name = p.server if role == "server" else p.client
        able = role in choosing.get(name, {}).get(setting.name, ())
        return cls(setting, name, p.protocol, role, value if able else None)

    @property
    def text(self) -> str:
        """The value in words, such as `10 packets` or `go's default`."""
        return f"{self.name or 'Linux'}'s default" if self.value is None else self.setting.describe(self.value)

    def is_like(self, other: "SenderSetting") -> bool:
        """Return whether the two senders use the same value. Two unknown values are the same only if they are of the
        same stack."""
        if self.value is None or other.value is None:
            return (self.name, self.value) == (other.name, other.value)
        return self.value == other.value


Sides = tuple[Parameters, Parameters]


@dataclass(frozen=True)
class Likeness:
    """The settings that differ between compared treatments if at least one of these has this `transport`. `differences`
    maps each setting to how it differs, or to an empty string if this is not known."""

    transport: str
    differences: Mapping[str, str]

    @property
    def text(self) -> str:
        """The words that follow `Transport` in a sentence."""
        listed = ", ".join(f"{what} ({how})" if how else what for what, how in self.differences.items())
        if self.transport == "matched":
            return f"matched, except: {listed}" if listed else "matched"
        return f"as deployed; the stacks also differ in: {listed}" if listed else "as deployed; the stacks are alike"


def likenesses(plan: Plan, choosing: TransportRoles) -> list[Likeness]:
    """Return one result for each value of `transport` in the compared treatments."""
    pairs = list(compared(plan))
    transports = dict.fromkeys(p.transport for pair in pairs for p in pair)
    return [
        Likeness(
            transport, _differences([pair for pair in pairs if transport in {p.transport for p in pair}], choosing)
        )
        for transport in transports
    ]


def compared(plan: Plan) -> Iterator[Sides]:
    """Yield the parameters of the two treatments of each comparison."""
    factor = plan.study.compare.factor
    cells = {tuple(sorted(t.cell.items())): t.parameters for t in plan.blocks[0]}
    for pair in map(split_pair, plan.pairs):
        for cell, parameters in cells.items():
            if (factor, pair[0]) in cell and (other := cells.get(_with(cell, factor, pair[1]))):
                yield parameters, other


def unmatched(plan: Plan, choosing: TransportRoles, setting: Setting) -> Iterator[tuple[SenderSetting, SenderSetting]]:
    """Yield the pairs of compared senders that differ in this setting."""
    return _differing(compared(plan), choosing, setting)


def _differing(
    pairs: Iterable[Sides], choosing: TransportRoles, setting: Setting
) -> Iterator[tuple[SenderSetting, SenderSetting]]:
    for first, other in pairs:
        # If one treatment sends bodies from both ends and the other from one, compare the ends that send the most.
        both = zip(
            SenderSetting.all(first, choosing, setting), SenderSetting.all(other, choosing, setting), strict=False
        )
        yield from ((a, b) for a, b in both if not a.is_like(b))


def _with(cell: tuple[tuple[str, str], ...], factor: str, level: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({**dict(cell), factor: level}.items()))


def _differences(pairs: Sequence[Sides], choosing: TransportRoles) -> dict[str, str]:
    differences = {}
    for setting in SETTINGS.values():
        if senders := [sender for pair in _differing(pairs, choosing, setting) for sender in pair]:
            differences[setting.title] = _by_protocol((sender.text, sender.protocol) for sender in senders)
    if several := [p for pair in pairs if _connections(pair[0]) != _connections(pair[1]) for p in pair]:
        differences["connections"] = _by_protocol((str(_connections(p)), p.protocol) for p in several)
    if any(_stack(a) != _stack(b) for a, b in pairs):
        differences.update(dict.fromkeys(STACKS, ""))
    return differences


def _stack(p: Parameters) -> tuple[str, ...]:
    """Return what sends and receives packets: the kernel's TCP, or the QUIC stacks of two subjects."""
    return ("QUIC", p.server, p.client) if p.protocol == "h3" else ("TCP",)


def _connections(p: Parameters) -> int:
    return p.workload.connection_count()


def _by_protocol(values: Iterator[tuple[str, str]]) -> str:
    """Return text such as `10 packets over h1 and h2, go's default over h3`."""
    protocols: dict[str, dict[str, None]] = {}
    for value, protocol in values:
        protocols.setdefault(value, {})[protocol] = None
    phrases = [f"{value} over {' and '.join(sorted(over))}" for value, over in protocols.items()]
    more = len(phrases) - _MOST_PHRASES
    return ", ".join(phrases if more <= 1 else [*phrases[:_MOST_PHRASES], f"{more} more"])
