"""Measures the constants of a subject by running the transfers that show them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from h123.catalogue import DEFAULT_CONGESTION, Subject, default_controller, make_bodies
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool
from h123.verification.constants import growth, recovery
from h123.verification.constants.experiment import (
    BULK_BYTES,
    FAR_NS,
    LEAST_PAUSE_S,
    LOSING_BYTES,
    NEAR_NS,
    PAUSING_BYTES,
    TAIL_BYTES,
    BodyTransfer,
    Laboratory,
    SenderCase,
    bulk,
    losing,
    pausing,
    short,
    without_its_tail,
)
from h123.verification.constants.findings import Constants, NotMeasurable
from h123.verification.constants.transfer import Transfer
from h123.verification.server_cases import PROBE
from h123.verification.trial import trials_with
from h123.virtual import NAME, installed_kernel

_Reads = Mapping[str, Callable[[Transfer], Any]]
"""Maps constants to the functions that read them from a transfer."""
CLOCK: Final = "virtual"
KERNEL_PROTOCOL = "h2"
KERNEL = ("cubic", "reno", "bbr")
"""The controllers of the kernel's TCP. They are measured with the built-in server over KERNEL_PROTOCOL, which runs over
TCP."""
_SENDING: _Reads = {
    "first_flight": growth.first_flight,
    "slow_start": growth.slow_start,
    "datagrams": growth.datagrams,
    "in_flight": growth.in_flight,
}
_GETTING: _Reads = {
    "received": growth.in_flight,
    "acknowledgements": growth.acknowledgements,
}
_TAILS = {"tail_near": NEAR_NS, "tail_far": FAR_NS}


def measurable(subject: Subject) -> str:
    """Return why this machine cannot measure the constants of a subject, or an empty string if it can."""
    if CLOCK not in subject.features.clocks:
        return "the subject does not run under the virtual clock"
    if installed_kernel() is None:
        return f"{NAME} is not installed (`h123 install {NAME}`)"
    return ""


def measure(subject: Subject, role: VerifiedRole, pool: Pool, moved: Callable[[str], None]) -> list[Constants]:
    """Measure each protocol of this role. `moved` receives a line about every finished transfer.

    The subject and the built-in ones must be installed, and measurable() must return an empty string.
    """
    make_bodies([BULK_BYTES, LOSING_BYTES, TAIL_BYTES, PAUSING_BYTES])
    with trials_with(subject, pool) as (trials, place):
        laboratory = Laboratory(trials, place)
        findings = {sender: _Findings() for sender in _sender_cases(subject, role)}

        def make(bodies: Iterable[BodyTransfer]) -> Iterator[tuple[BodyTransfer, _Findings, Transfer | NotMeasurable]]:
            for body, came in laboratory.transfers(bodies):
                moved(f"{body.sender_case.protocol} {body.sender_case.congestion} {body.name}")
                yield body, findings[body.sender_case], came

        whole = {body: reads for sender in findings for body, reads in _whole(sender)}
        shorts = {short(sender, trip): name for sender in findings for name, trip in _TAILS.items()}
        tails = dict[BodyTransfer, str]()
        for body, constants, came in make([*whole, *shorts]):
            if body in whole:
                constants.read(came, whole[body])
            elif isinstance(last := constants.read(came, {shorts[body]: recovery.tail_packet}), recovery.TailPacket):
                # The packet is a placeholder until the transfer without its tail has been read.
                tails[without_its_tail(body, last)] = shorts[body]
        for body, constants, came in make(tails):
            constants.read(came, {tails[body]: recovery.tail})
    return [constants.constants(sender) for sender, constants in findings.items()]


def _sender_cases(subject: Subject, role: VerifiedRole) -> Iterator[SenderCase]:
    part = subject.server if role == "server" else subject.client
    assert part is not None
    for protocol in part.protocols:
        kernel = (role, subject.name, protocol) == ("server", PROBE, KERNEL_PROTOCOL)
        for congestion in KERNEL if kernel else [DEFAULT_CONGESTION]:
            yield SenderCase(subject, role, protocol, congestion)


def _whole(sender: SenderCase) -> Iterator[tuple[BodyTransfer, _Reads]]:
    """Yield the transfers in which no tail is lost, each with the constants to read from it."""
    for method, reads in ((sender.sends, _SENDING), (sender.gets, _GETTING)):
        also: _Reads = {"handshake": growth.handshake} if method == "GET" else {}
        yield bulk(sender, method), {**also, **reads}
    for body in losing(sender):
        yield body, {"decrease": recovery.decrease}
    yield pausing(sender), {"silences": partial(recovery.silences, least_s=LEAST_PAUSE_S)}


class _Findings:
    """The constants of one role, protocol and controller, and the reasons why others are missing."""

    def __init__(self) -> None:
        self._values = defaultdict[str, list[Any]](list)

    def read(self, came: Transfer | NotMeasurable, reads: _Reads) -> Any:
        """Read the constants in `reads` from a transfer. Return the value of the last one, or the reason why it has
        none."""
        for name, read in reads.items():
            try:
                if isinstance(came, NotMeasurable):
                    raise came
                self._values[name].append(read(came))
            except NotMeasurable as why:
                self._values[name].append(why)
        return self._values[name][-1]

    def constants(self, sender: SenderCase) -> Constants:
        values, reasons = dict[str, Any](), dict[str, str]()
        for name, measured in self._values.items():
            try:
                values[name] = _OF_SEVERAL.get(name, _last)(measured)
            except NotMeasurable as why:
                reasons[name] = str(why)
        controller = _controller(sender)
        return Constants(role=sender.role, protocol=sender.protocol, congestion=controller, unknown=reasons, **values)


def _last(measured: Sequence[Any]) -> Any:
    """Return the value of a constant that a single transfer shows. Raises NotMeasurable if the transfer does not show
    it."""
    if isinstance(measured[-1], NotMeasurable):
        raise measured[-1]
    return measured[-1]


_OF_SEVERAL: Mapping[str, Callable[[Sequence[Any]], Any]] = {"decrease": recovery.typical}
"""The constants that need more than one transfer, with the functions that combine the transfers' values."""


def _controller(sender: SenderCase) -> str:
    """Return the sender's congestion controller: the requested one, or the subject's default."""
    return (
        default_controller(sender.subject, sender.protocol)
        if sender.congestion == DEFAULT_CONGESTION
        else sender.congestion
    )
