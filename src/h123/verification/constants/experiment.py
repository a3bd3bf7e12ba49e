"""Defines and runs the trials behind the constants: each is one transfer over a link that delays packets and, in some
trials, loses a few known ones."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.transport import Value
from h123.catalogue import Subject, check_supported
from h123.documents import read_document, write_document
from h123.documents.campaign_file import VerifiedRole
from h123.documents.trial_files import TrialFile
from h123.execution import PreparedTrial
from h123.packets.capture import MOST, read_packets
from h123.study import Network, Parameters
from h123.study.networks.network import Blackout, Direction, Loss
from h123.study.workload import AnyWorkloadFile
from h123.verification import client_cases, server_cases
from h123.verification.constants import recovery
from h123.verification.constants.findings import NotMeasurable
from h123.verification.constants.transfer import Transfer, download, upload
from h123.verification.trial import Clock, Trial, Trials

FAR_NS = 100_000_000
"""A round trip in ns, long enough to separate flights, yet short enough that no timer expires within it."""
NEAR_NS = 2_000_000
"""A round trip in ns, so short that the minimum timeout decides when the sender retransmits."""
BULK_BYTES = 20_000_000
"""A body size in bytes: enough for windows to double to several MB, with some round trips left after the first 10
MB."""
LOSING_BYTES = 16_000_000
"""A body size in bytes: enough for a sender with a reduced window to send for more than ten seconds after the loss."""
TAIL_BYTES = 6_000
"""The size of a short body in bytes. It needs more packets than a handshake sends in any round trip and, together with
a server's first data, fewer packets than any initial window allows."""
PAUSING_BYTES = 1_000_000
PAUSED = {"requests": 4, "rate": 0.05}
PAUSES_SEED = 4_324_167
"""The seed of the open loop (docs/contracts/workload.md). With this seed, requests are due 2, 5.8 and 57.8 s after the
previous one."""
LEAST_PAUSE_S = 0.8
_STALLED = "time-stalled"
"""The code of the reason if a program spins, so that virtual time stalls. Later transfers with the same sender and
method then do not run, because each would cost minutes of processor time."""


@dataclass(frozen=True, eq=False)
class SenderCase:
    """A subject as a sender, with its role, protocol and controller."""

    subject: Subject
    role: VerifiedRole
    protocol: str
    congestion: str
    clock: Clock = "virtual"

    @property
    def sends(self) -> str:
        """The HTTP method with which the subject sends the body."""
        return "GET" if self.role == "server" else "POST"

    @property
    def gets(self) -> str:
        """The HTTP method with which the subject receives the body."""
        return "POST" if self.role == "server" else "GET"

    def parameters(self, **values: Any) -> Parameters:
        """Return the parameters of a transfer between the subject and the peer that it is verified with, changed by
        `values`."""
        common = {
            "protocol": self.protocol,
            "congestion": self.congestion,
            "clock": self.clock,
            "network": "constants",
            "cold": False,
            "requests": 1,
            "timeout": "120s",
            "trial_timeout": "300s",
            **values,
        }
        if self.role == "server":
            return server_cases.server_parameters(self.subject, **common)
        assert self.subject.client is not None
        return client_cases.client_parameters(self.subject, self.subject.client, **common)


@dataclass(frozen=True, eq=False)
class BodyTransfer:
    """A transfer to run."""

    name: str
    sender_case: SenderCase
    method: str
    size: int
    round_trip_ns: int = FAR_NS
    lost: tuple[int, ...] = ()
    """Indices of the packets to lose, counted from 0 in the body's direction."""
    silence: Blackout | None = None
    """A period in which the receiver's packets are lost."""
    paused: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)
    """The transport settings to request from the sender, by name."""

    @property
    def parameters(self) -> Parameters:
        paused = PAUSED if self.paused else {}
        return self.sender_case.parameters(method=self.method, size=self.size, **paused, **self.settings)

    @property
    def network(self) -> Network:
        plain = Direction(delay_ns=self.round_trip_ns // 2)
        sends = plain.model_copy(update={"loss": Loss(packets=list(self.lost))}) if self.lost else plain
        answers = plain.model_copy(update={"blackouts": [self.silence]}) if self.silence else plain
        up, down = (answers, sends) if self.method == "GET" else (sends, answers)
        return Network(name="constants", title="constants", up=up, down=down)

    def of(self, trial: Trial) -> Transfer:
        """Return the packets of the transfer, which `trial` carried out."""
        transfer = download if self.method == "GET" else upload
        return transfer(read_packets(trial.folder), self.round_trip_ns, trial.report.main_began_ns)


def bulk(sender: SenderCase, method: str) -> BodyTransfer:
    """Return a long transfer over a link without losses."""
    return BodyTransfer(f"bulk-{method}", sender, method, BULK_BYTES)


def losing(sender: SenderCase) -> list[BodyTransfer]:
    """Return long transfers that each lose two packets."""
    return [
        BodyTransfer(f"losing-{packet}", sender, sender.sends, LOSING_BYTES, lost=(recovery.ENDS_SLOW_START, packet))
        for packet in recovery.STEADY_STATE
    ]


def short(sender: SenderCase, round_trip_ns: int) -> BodyTransfer:
    """Return a transfer that fits into one flight."""
    return BodyTransfer(f"short-{round_trip_ns}", sender, sender.sends, TAIL_BYTES, round_trip_ns)


def without_its_tail(body: BodyTransfer, tail: recovery.TailPacket) -> BodyTransfer:
    """Return a copy of the transfer that loses its last packet and the first packets sent after it. The name stays the
    same, so that the trials are identical up to the loss.

    The receiver's packets are lost too, except its acknowledgements of the packets before the tail. Otherwise, if its
    timer expires together with the sender's, the sender's retransmissions look like answers to the receiver's."""
    begin_ns = tail.at_ns + round(recovery.ACKNOWLEDGED * body.round_trip_ns)
    return replace(
        body,
        lost=tuple(range(tail.index, tail.index + recovery.TAIL_LOSSES)),
        silence=Blackout(from_ns=begin_ns, to_ns=begin_ns + recovery.SILENCE_NS),
    )


def pausing(sender: SenderCase) -> BodyTransfer:
    """Return a transfer of several bodies on one connection, with ever longer pauses between them."""
    return BodyTransfer("pausing", sender, sender.sends, PAUSING_BYTES, paused=True)


class Laboratory:
    """A runner of transfers, which runs as many at once as there are processors."""

    def __init__(self, trials: Trials, place: Path) -> None:
        self._trials, self._place = trials, place

    def transfers(self, bodies: Iterable[BodyTransfer]) -> Iterator[tuple[BodyTransfer, Transfer | NotMeasurable]]:
        """Yield the packets of each transfer as it ends, or the reason why there are none. If virtual time stalls in a
        transfer, later transfers with the same sender and method do not run."""
        prepared_by_folder = dict[Path, tuple[BodyTransfer, PreparedTrial]]()
        for body in bodies:
            try:
                check_supported(body.sender_case.subject, body.sender_case.role, body.parameters)
            except UserError as error:
                yield body, NotMeasurable(error.message)
            else:
                # Trials may have the same name, so each gets its own parent folder.
                folder = Path(tempfile.mkdtemp(dir=self._place)) / body.name
                prepared_by_folder[folder] = (
                    body,
                    self._trials.prepare(folder, body.parameters, body.network, record_packets),
                )
        stalled = dict[tuple[SenderCase, str], NotMeasurable]()

        def worthwhile(prepared: PreparedTrial) -> bool:
            body, _ = prepared_by_folder[prepared.folder]
            return (body.sender_case, body.method) not in stalled

        finished = set[Path]()
        for trial in self._trials.carry_out_each([prepared for _, prepared in prepared_by_folder.values()], worthwhile):
            finished.add(trial.folder)
            body, _ = prepared_by_folder[trial.folder]
            if trial.reasons:
                unmeasurable = NotMeasurable(
                    "; ".join(f"{reason['code']}: {reason['detail']}" for reason in trial.reasons)
                )
                if any(reason["code"] == _STALLED for reason in trial.reasons):
                    stalled[body.sender_case, body.method] = unmeasurable
                yield body, unmeasurable
            else:
                yield body, body.of(trial)
            shutil.rmtree(trial.folder)
        for folder in prepared_by_folder.keys() - finished:
            body, _ = prepared_by_folder[folder]
            yield body, stalled[body.sender_case, body.method]
            shutil.rmtree(folder)


def record_packets(folder: Path) -> None:
    """Make the link record all packets, and the workload use PAUSES_SEED."""
    path = folder / "trial.json"
    trial = read_document(path, TrialFile)
    for link in trial.links:
        link.packets = MOST
    write_document(path, trial)
    path = folder / "workload.json"
    write_document(path, AnyWorkloadFile.model_validate_json(path.read_bytes()).changed(seed=PAUSES_SEED))
