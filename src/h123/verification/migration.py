"""Tests an HTTP/3 download during which the client moves to a different port, as after a NAT rebinding, or to a
different address.

The link's packets show whether and when the server sends to the new port or address (RFC 9000, section 9), and when the
body flows again. The client does not notice the move and does nothing, so only the server's behaviour is tested.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from h123.base.errors import UserError
from h123.base.strict import Strict
from h123.base.units import format_seconds
from h123.catalogue import DEFAULT_CONGESTION, QUIC, Subject, check_supported, make_bodies
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool, PreparedTrial
from h123.packets.capture import DOWN, UDP, UP, Packets, read_packets
from h123.store import Rows
from h123.study import Network, Parameters
from h123.study.networks.network import Bottleneck, Direction, Move, Queue
from h123.verification.constants.experiment import SenderCase
from h123.verification.trial import Clock, Trial, Trials, calm_clock, trials_with

New = Literal["port", "address"]
BODY_BYTES = 5_000_000
MOVE_NS = 1_000_000_000
ROUND_TRIP_NS = 40_000_000
RATE_BPS = 10_000_000
"""A rate at which the body takes four seconds, so that the client moves while the body is being sent."""
TIMEOUT = "20s"
FULL = 1000
"""The smallest payload, in bytes, of a datagram that is taken as part of the body."""
_WAY = Direction(delay_ns=ROUND_TRIP_NS // 2, rate=Bottleneck(bps=RATE_BPS), queue=Queue(ns=100_000_000))


class MoveResult(Strict):
    """The reaction of a server to one move."""

    role: VerifiedRole = "server"
    protocol: str = QUIC
    clock: Clock
    new: New
    survived: bool = False
    """Whether the download continued on the same connection and arrived completely."""
    answered: float | None = None
    """The seconds from when the server received the first packet from the new port or address until it sent a packet
    there. None if it sent none."""
    flowed: float | None = None
    """The seconds from the move until a full packet reached the client there. None if none did."""
    unknown: str = ""
    """The reason why there is no result. Empty if there is one."""


def moved_words(move: MoveResult) -> str:
    """Return text such as `a new port: survived, answered there after 0 ms, a body flowed again after 61 ms`."""
    if move.unknown:
        return f"a new {move.new}: not known, {move.unknown}"
    outcome = "survived" if move.survived else "not survived"
    answered = (
        "never answered there" if move.answered is None else f"answered there after {format_seconds(move.answered)}"
    )
    flowed = (
        "no body flowed again" if move.flowed is None else f"a body flowed again after {format_seconds(move.flowed)}"
    )
    return f"a new {move.new}: {outcome}, {answered}, {flowed}"


def networks() -> dict[New, Network]:
    """Return a network for each kind of move, by kind."""
    kinds: tuple[New, ...] = get_args(New)
    return {
        new: Network(name="moves", title=new, up=_WAY, down=_WAY, moves=[Move(at_ns=MOVE_NS, new=new)]) for new in kinds
    }


def moves(subject: Subject, pool: Pool, report: Callable[[str], None]) -> list[MoveResult]:
    """Test each kind of move with an HTTP/3 server and return the results. For other subjects, return an empty list.
    `report` receives a line about every finished trial.

    The subject and the built-in ones must be installed. Raises UserError if this machine cannot execute trials.
    """
    if subject.server is None or QUIC not in subject.server.protocols:
        return []
    make_bodies([BODY_BYTES])
    with trials_with(subject, pool) as (trials, place):
        results = []
        for result in _each(subject, calm_clock(subject), trials, place):
            report(f"{result.protocol} new {result.new}")
            results.append(result)
    return sorted(results, key=lambda result: get_args(New).index(result.new))


def _each(subject: Subject, clock: Clock, trials: Trials, place: Path) -> Iterator[MoveResult]:
    parameters = _parameters(subject, clock)
    try:
        check_supported(subject, "server", parameters)
    except UserError as error:
        yield from (MoveResult(clock=clock, new=new, unknown=error.message) for new in networks())
        return
    moves_by_folder, prepared = dict[Path, New](), list[PreparedTrial]()
    for new, network in networks().items():
        folder = Path(tempfile.mkdtemp(dir=place)) / f"moves-{new}"
        prepared.append(trials.prepare(folder, parameters, network, lambda _: None))
        moves_by_folder[folder] = new
    for trial in trials.carry_out_each(prepared):
        yield _move_result(trial, clock, moves_by_folder[trial.folder], parameters)
        shutil.rmtree(trial.folder)


def _parameters(subject: Subject, clock: Clock) -> Parameters:
    sender = SenderCase(subject, "server", QUIC, DEFAULT_CONGESTION, clock)
    return sender.parameters(method="GET", size=BODY_BYTES, network="moves", timeout=TIMEOUT)


def _move_result(trial: Trial, clock: Clock, new: New, parameters: Parameters) -> MoveResult:
    if trial.faults:
        why = "; ".join(f"{fault['code']}: {fault['detail']}" for fault in trial.faults)
        return MoveResult(clock=clock, new=new, unknown=why)
    began = trial.report.main_began_ns
    samples = Rows.read(trial.folder / "samples.parquet").samples()
    whole = all(not sample["error"] and sample["status"] in parameters.workload.statuses() for sample in samples)
    answered, flowed = after_move(read_packets(trial.folder), began + MOVE_NS)
    return MoveResult(clock=clock, new=new, survived=whole and flowed is not None, answered=answered, flowed=flowed)


def after_move(packets: Packets, at_ns: int, protocol: int = UDP) -> tuple[float | None, float | None]:
    """Return the values `answered` and `flowed` of a MoveResult, for a client that moved at the time `at_ns`, from the
    packets of one protocol. Connections that the client opened after the move are included."""
    packets = packets[packets["protocol"] == protocol]
    up = packets[packets["way"] == UP]
    earlier = np.unique(up["source"][up["at_ns"] < at_ns])
    later = up[~np.isin(up["source"], earlier) & (up["left_ns"] > 0)]
    if not len(later):
        return None, None
    arrival = int(later["left_ns"].min())
    there = packets[(packets["way"] == DOWN) & np.isin(packets["destination"], later["source"])]
    came = there[(there["left_ns"] > 0) & (there["payload"] >= FULL)]
    answered = (int(there["at_ns"].min()) - arrival) / 1e9 if len(there) else None
    flowed = (int(came["left_ns"].min()) - at_ns) / 1e9 if len(came) else None
    return answered, flowed
