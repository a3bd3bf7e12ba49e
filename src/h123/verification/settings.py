"""Checks, from the link's record of a body's packets, whether a subject obeys the settings of a study."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from h123.base.transport import SETTINGS, TCP_PAYLOAD, Name, Value
from h123.catalogue import DEFAULT_CONGESTION, QUIC, Subject, settable
from h123.documents.campaign_file import VerifiedRole
from h123.verification.client_cases import MEGABYTE
from h123.verification.constants import growth
from h123.verification.constants.experiment import FAR_NS, BodyTransfer, SenderCase, record_packets
from h123.verification.constants.findings import NotMeasurable
from h123.verification.constants.transfer import Transfer
from h123.verification.result import Result, Verdict
from h123.verification.trial import Trial, Trials, calm_clock

ATTEMPTS = 2
"""The number of attempts that must fail for a check to fail. A busy machine can distort a flight, but rarely twice."""
FEWER, MORE = 3, 1
"""A first flight may have up to FEWER full packets fewer than the initial window, or up to MORE packets more. Other
packets of the round trip use part of the window: the end of the handshake, settings, a probe for larger packets. A
sender may send one packet more than fits."""
AT_ONCE, SHARE = 0.1, 0.7
"""A fraction of a round trip, and the smallest fraction of a flight that is sent within it without pacing. The rest of
the flight waits for acknowledgements that the receiver delays. With pacing, SHARE of a flight takes half a round trip
or more."""

WAIT_NS = 40_000_000
"""How long in ns a server waits for its certificate. It is less than a round trip, so that the client's timer does not
expire within it."""

Seen = tuple[bool, str]
"""Whether the transfer obeys the setting, and the observation in words."""


@dataclass(frozen=True)
class SettingProof:
    """The values to request for a setting, and the function that checks whether a transfer shows them."""

    values: tuple[Value, ...]
    shows: Callable[[Transfer, Value], Seen]


def initial_window(of: Transfer, packets: Value) -> Seen:
    """Check that the number of full packets in the first flight fits the initial window."""
    flight = growth.first_flight(of)
    detail = f"{flight.full} full packets in the first flight, {flight.packets - flight.full} others"
    return -FEWER <= flight.full - int(packets) <= MORE, detail


def pacing(of: Transfer, _: Value) -> Seen:
    """Check that pacing is off: a slow-start flight is sent as soon as the acknowledgements that allow it arrive."""
    share = growth.at_once(of, AT_ONCE)
    return share >= SHARE, f"{share:.0%} of a flight in {AT_ONCE:.0%} of a round trip"


def max_datagram(of: Transfer, size: Value) -> Seen:
    """Check that most packets, and the first flight, have the largest allowed size, and that no packet is larger."""
    datagrams = growth.datagrams(of)
    return (datagrams.first, datagrams.common, datagrams.largest) == (size, size, size), (
        f"{datagrams.first} bytes in the first flight, {datagrams.common} in most packets, {datagrams.largest} at most"
    )


PROOFS: dict[Name, SettingProof] = {
    # The value of the RFCs, and quic-go's default.
    "initial_window": SettingProof((10, 32), initial_window),
    "pacing": SettingProof(("off",), pacing),
    # A value that no stack uses by default, and the value of `matched`.
    "max_datagram": SettingProof((1252, TCP_PAYLOAD), max_datagram),
}


@dataclass(frozen=True)
class _Check:
    """A check of one or more settings over h3."""

    title: str
    settings: Mapping[str, Value]
    shows: Callable[[Transfer, Value], Seen]
    value: Value


def certificate_wait(of: Transfer, instant_ack: Value) -> Seen:
    """Check that a server answers after WAIT_NS: with its first packet, or with the one after an instant
    acknowledgement."""
    asked_ns = int(of.received_packets["left_ns"].min())
    first_ns, second_ns = (int(at_ns) - asked_ns for at_ns in of.sent_packets["at_ns"][:2])
    answer_ns = second_ns if instant_ack else first_ns
    is_instant = first_ns < WAIT_NS / 2
    return is_instant == instant_ack and WAIT_NS <= answer_ns < 1.5 * WAIT_NS, (
        f"the first two packets came after {first_ns / 1e6:.1f} and {second_ns / 1e6:.1f} ms"
    )


def verify_settings(subject: Subject, role: VerifiedRole, trials: Trials, failures: Path) -> Iterator[Result]:
    """Verify each setting that the subject accepts in this role. If a check fails, its last attempt's folder stays in
    `failures`."""
    for check in _checks(subject, role):
        sender = SenderCase(subject, role, QUIC, DEFAULT_CONGESTION, calm_clock(subject))
        name = "-".join(str(part) for setting in check.settings.items() for part in setting)
        body = BodyTransfer(name, sender, sender.sends, MEGABYTE, FAR_NS, settings=check.settings)
        for _ in range(ATTEMPTS):
            trial = trials.carry_out(failures / body.name, body.parameters, body.network, record_packets)
            result = _judge_setting(body, trial, check)
            if result.verdict != "failed":
                shutil.rmtree(trial.folder)
                break
        yield result


def _checks(subject: Subject, role: VerifiedRole) -> Iterator[_Check]:
    for name, roles in settable(subject).items():
        for value in PROOFS[name].values if role in roles else ():
            yield _Check(f"{SETTINGS[name].title} {value}", {name: value}, PROOFS[name].shows, value)
    if role == "server" and subject.features.certificate_wait:
        for instant, title in ((True, "instant acknowledgement"), (False, "late acknowledgement")):
            settings: dict[str, Value] = {"certificate_wait": f"{WAIT_NS}ns", "instant_ack": instant}
            yield _Check(title, settings, certificate_wait, instant)


def _judge_setting(body: BodyTransfer, trial: Trial, check: _Check) -> Result:
    verdict: Verdict = "failed"
    if trial.disturbed:
        verdict, detail = "unsupported", trial.disturbed
    elif trial.reasons:
        detail = "; ".join(f"{reason['code']}: {reason['detail']}" for reason in trial.reasons)
    else:
        try:
            as_asked, detail = check.shows(body.of(trial), check.value)
            verdict = "passed" if as_asked else verdict
        except NotMeasurable as why:
            detail = str(why)
    detail = f"{detail} ({trial.folder})" if verdict == "failed" else detail
    return Result(
        role=body.sender_case.role,
        protocol=QUIC,
        clock=body.sender_case.clock,
        check=check.title,
        verdict=verdict,
        detail=detail,
    )
