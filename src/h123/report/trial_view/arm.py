"""Represents an attempt with everything that it recorded, and the reasons for missing records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from h123.base.errors import UserError
from h123.causes import Connection, ExplainedTrial, connections, explain, match_logs
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.documents.trial_files import Link, TrialFile
from h123.packets.capture import DOWN, PACKET, UDP, Packets, read_packets
from h123.packets.stack_log import StackLog, StackLogs, read_stack_logs
from h123.packets.tcp_account import Account, read_tcp_account
from h123.report import level
from h123.report.trial_view.choice import SelectedAttempt
from h123.store import Sample, read_samples
from h123.study.networks.network import Direction

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Arm:
    """An attempt, and the page's name for it. All times are in ns, on the clock of the attempt's trial."""

    attempt: SelectedAttempt
    name: str

    @cached_property
    def trial(self) -> TrialFile:
        return read_document(self.attempt.folder / "trial.json", TrialFile)

    @property
    def link(self) -> Link:
        return self.trial.links[0]

    def way(self, way: int) -> Direction:
        return (self.link.down if way == DOWN else self.link.up) or Direction()

    def sender(self, way: int) -> str:
        end = self.link.b if way == DOWN else self.link.a
        return end.host if end else ("server" if way == DOWN else "client")

    @cached_property
    def report(self) -> Report | None:
        """The lab's report. None for imported samples, or if the lab was killed."""
        file = self.attempt.folder / "report.json"
        return read_document(file, Report) if file.is_file() else None

    @cached_property
    def packets(self) -> Packets | None:
        return _if_there(lambda: read_packets(self.attempt.folder))

    def of_way(self, way: int) -> Packets:
        record = self.packets
        return np.empty(0, PACKET) if record is None else record[record["way"] == way]

    @cached_property
    def connections(self) -> Sequence[Connection]:
        if self.packets is None:
            return []
        return connections(self.packets, self.way(0), self.way(1), shared=self.shared)

    @property
    def shared(self) -> bool:
        return self.link.cross is not None

    @cached_property
    def stack_logs(self) -> StackLogs:
        return read_stack_logs(self.attempt.folder)

    @cached_property
    def logs(self) -> Sequence[StackLog | None]:
        return match_logs(self.stack_logs.logs, self.connections)

    @property
    def datagrams(self) -> bool:
        return self.packets is not None and bool((self.packets["protocol"] == UDP).any())

    @property
    def quic(self) -> bool:
        return bool(self.connections) and all(connection.quic for connection in self.connections)

    @cached_property
    def account(self) -> Account | None:
        """The kernel's record of TCP's state, if the lab kept it."""
        return _if_there(lambda: read_tcp_account(self.attempt.folder))

    @cached_property
    def requests(self) -> list[Sample]:
        """The requests in the order of their starts. Empty if the attempt left no samples."""
        file = self.attempt.folder / "samples.parquet"
        return read_samples(file, self.attempt.statuses, measured=bool(self.report)) if file.is_file() else []

    @cached_property
    def explained(self) -> ExplainedTrial | None:
        """The causes of the requests' times, if packets show them."""
        complete = self.packets is not None and self.requests and self.report
        return _if_there(lambda: explain(self.attempt.folder, self.attempt.statuses)) if complete else None

    @cached_property
    def begin_ns(self) -> int:
        """The time in ns at which the client began."""
        if self.report and self.report.main_began_ns:
            return self.report.main_began_ns
        firsts = [row["start_ns"] for row in self.requests[:1]]
        return min([*firsts, *self._packet_times[:1]], default=0)

    @cached_property
    def end_ns(self) -> int:
        """The time in ns at which the last packet or request ended."""
        lasts = [row["end_ns"] for row in self.requests]
        return max([self.begin_ns + 1, *lasts, *self._packet_times[1:]])

    @property
    def _packet_times(self) -> list[int]:
        if self.packets is None or not len(self.packets):
            return []
        return [int(self.packets["at_ns"].min()), int(self.packets["left_ns"].max())]

    @property
    def recorded_to(self) -> int:
        """The time in ns at which the record of packets ended."""
        if not self.left_out or self.packets is None or not len(self.packets):
            return self.end_ns
        return int(self.packets["at_ns"].max())

    @property
    def left_out(self) -> int:
        """The number of packets for which the record had no room."""
        return self.report.links[0].packets_left_out or 0 if self.report and self.report.links else 0


def arms(choices: Sequence[SelectedAttempt], factor: str) -> list[Arm]:
    """Return the attempts with names that distinguish them. A single attempt is named after its level of the compared
    factor."""
    if len(choices) == 1:
        return [Arm(choices[0], _arm_name(choices[0], [factor]))]
    first, second = choices
    differ = [factor for factor in first.cell if first.cell[factor] != second.cell.get(factor)]
    names = [_arm_name(each, differ) for each in choices]
    if first.block != second.block:
        names = [", ".join(filter(None, (name, f"block {of.block}"))) for name, of in zip(names, choices, strict=True)]
    if first.twin != second.twin:
        names = [f"{name} {'twin' if of.twin else 'itself'}".strip() for name, of in zip(names, choices, strict=True)]
    if names[0] == names[1]:
        names = [f"attempt {of.attempt}" for of in choices]
    return [Arm(of, name) for of, name in zip(choices, names, strict=True)]


def _arm_name(choice: SelectedAttempt, factors: Sequence[str]) -> str:
    return ", ".join(level(choice.cell[factor]) for factor in factors)


def _if_there(read: Callable[[], _Read]) -> _Read | None:
    try:
        return read()
    except UserError:
        return None
