"""Measures a subject on paths that interfere with ECN or drop large packets."""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.catalogue import (
    DEFAULT_CONGESTION,
    QUIC,
    Subject,
    check_supported,
    default_controller,
    make_bodies,
)
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool
from h123.packets.capture import DOWN, TCP, UDP, UP, read_packets
from h123.store import Rows
from h123.study import Network
from h123.study.networks.network import Bottleneck, Change, Direction, Mtu, Queue
from h123.verification.constants.experiment import SenderCase
from h123.verification.constants.findings import NotMeasurable
from h123.verification.paths import judgement
from h123.verification.paths.findings import HEADERS, SMALL, PathBehaviour
from h123.verification.server_cases import PROBE
from h123.verification.trial import Trial, Trials, calm_clock, trials_with

BODY_BYTES = 4_000_000
DELAY_NS = 20_000_000
CHANGE_NS = 1_000_000_000
"""The time at which a path changes, in ns: while the body is being sent, which takes three seconds."""
TIMEOUT = "30s"
KERNEL_PROTOCOL = "h2"
_WAY = Direction(delay_ns=DELAY_NS, rate=Bottleneck(bps=10_000_000), queue=Queue(ns=200_000_000))
_CODEL = {"limit": 1000, "target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": True}
_SILENT, _ICMP = Mtu(bytes=SMALL, silent=True), Mtu(bytes=SMALL)
PATHS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "reports": {},
    "small": {"mtu": _SILENT},
    "bleach": {"ecn": "bleach"},
    "swap": {"ecn": "swap"},
    "mark": {"ecn": "mark"},
    "drop": {"ecn": "drop"},
    "reaction": {"queue": Queue.model_validate({"codel": _CODEL})},
    "black_hole": {"changes": [Change(at_ns=CHANGE_NS, mtu=_SILENT)]},
    "icmp": {"changes": [Change(at_ns=CHANGE_NS, mtu=_ICMP)]},
}
"""The properties, in the body's direction, of the path that tests each field of PathBehaviour. `plain` tests several
fields."""
_ALWAYS, _OF_ECN, _OF_SIZE = ("plain", "reports", "small"), ("bleach", "swap", "mark", "drop"), ("black_hole", "icmp")


def follows_paths(subject: Subject, role: VerifiedRole) -> bool:
    """Return whether the subject uses QUIC in this role. Over TCP, only the kernel's behaviour matters."""
    part = subject.server if role == "server" else subject.client
    return part is not None and QUIC in part.protocols


def path_network(name: str, way: int) -> Network:
    """Return a network whose direction `way` has the properties of the path `name`."""
    special = _WAY.model_copy(update=PATHS[name])
    up, down = (special, _WAY) if way == UP else (_WAY, special)
    return Network(name="paths", title=name, up=up, down=down)


def measure_paths(
    subject: Subject, role: VerifiedRole, pool: Pool, report: Callable[[str], None]
) -> list[PathBehaviour]:
    """Measure a subject's QUIC and, if the subject is the built-in server, also the kernel's TCP with ECN. `report`
    receives a line about every finished trial.

    The subject and the built-in ones must be installed. Raises UserError if this machine cannot execute trials.
    """
    protocols = [QUIC] if follows_paths(subject, role) else []
    if (subject.name, role) == (PROBE, "server"):
        protocols.append(KERNEL_PROTOCOL)
    make_bodies([BODY_BYTES])
    with trials_with(subject, pool) as (trials, place):
        senders = [SenderCase(subject, role, name, DEFAULT_CONGESTION, calm_clock(subject)) for name in protocols]
        return [_Measurement(sender, trials, place, report).behaviour() for sender in senders]


class _Measurement:
    """The measurement of a subject in one role over one protocol."""

    def __init__(self, sender: SenderCase, trials: Trials, place: Path, report: Callable[[str], None]) -> None:
        self._sender, self._trials, self._place, self._report = sender, trials, place, report
        self._values, self._unknown = dict[str, Any](), dict[str, str]()

    def behaviour(self) -> PathBehaviour:
        """Run the trials that can show something, and return the behaviour that they show."""
        sender = self._sender
        self._carry_out(_ALWAYS)
        if self._values.get("ect", "none") != "none":
            self._carry_out(_OF_ECN)
            if default_controller(sender.subject, sender.protocol).startswith("bbr"):
                self._unknown["reaction"] = "BBR empties the queue without marks too"
            else:
                self._carry_out(["reaction"])
        if "datagrams" in self._values and self._values["datagrams"].common > SMALL - HEADERS:
            self._carry_out(_OF_SIZE)
        kind = {"role": sender.role, "protocol": sender.protocol, "clock": sender.clock}
        return PathBehaviour.model_validate({**kind, **self._values, "unknown": self._unknown})

    def _carry_out(self, names: Iterable[str]) -> None:
        sender, prepared, name_of = self._sender, [], dict[Path, str]()
        tcp = {} if sender.protocol == QUIC else {"tcp_ecn": True}
        for name in names:
            method = sender.gets if name == "reports" else sender.sends
            parameters = sender.parameters(method=method, size=BODY_BYTES, network="paths", timeout=TIMEOUT, **tcp)
            try:
                check_supported(sender.subject, sender.role, parameters)
            except UserError as error:
                self._unknown[name] = error.message
                continue
            folder = Path(tempfile.mkdtemp(dir=self._place)) / f"paths-{name}"
            network = path_network(name, self._way(name))
            prepared.append(self._trials.prepare(folder, parameters, network, lambda _: None))
            name_of[folder] = name
        for trial in self._trials.carry_out_each(prepared):
            name = name_of[trial.folder]
            try:
                self._values |= self._read(name, trial)
            except NotMeasurable as why:
                self._unknown[name] = str(why)
            self._report(f"{sender.protocol} {name}")
            shutil.rmtree(trial.folder)

    def _way(self, name: str) -> int:
        return DOWN if (self._sender.role == "server") != (name == "reports") else UP

    def _read(self, name: str, trial: Trial) -> dict[str, Any]:
        if trial.faults:
            raise NotMeasurable("; ".join(f"{fault['code']}: {fault['detail']}" for fault in trial.faults))
        protocol = UDP if self._sender.protocol == QUIC else TCP
        sent = judgement.sent_by(read_packets(trial.folder), self._way(name), protocol)
        complete = all(not sample["error"] for sample in Rows.read(trial.folder / "samples.parquet").samples())
        if name == "plain":
            ect, share = judgement.codepoint(sent)
            return {"ect": ect, "share": share, "datagrams": judgement.datagrams(sent)}
        if name == "reports":
            return {name: judgement.spoilt(sent).stopped is None}
        if name == "reaction":
            return {name: judgement.reaction(sent, DELAY_NS)}
        if name in _OF_ECN:
            return {name: judgement.spoilt(sent, complete)}
        from_ns = trial.report.main_began_ns + (0 if name == "small" else CHANGE_NS)
        return {name: judgement.limited(sent, from_ns, complete)}
