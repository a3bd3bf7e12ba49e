"""Trials whose cause was made: what makes it, and what `causes` should call the largest part of the requests' time."""

import shlex
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from adversary.zoo import Fault, write_falling_back, write_faulty
from h123.catalogue import catalogue, make_bodies
from h123.causes import CAUSES, NUMBER, explain
from h123.results import ingest, read_document, write_document
from h123.results.packets import MOST
from h123.results.qlog import QLOG_FOLDER
from h123.results.trial_files import Trial
from h123.study import Network, Parameters
from h123.study.network import Bottleneck, Direction, Loss, Queue
from h123.study.workload import OK
from h123.trial import Engine
from h123.trial.certificate import Certificate
from h123.verification.trial import Trials

WORK: Final = ("client-work", "server-work")
HOGS: Final = 24
"""Loops that compete with a program for its processor."""
FALLBACK: Final = "fallback"
COMMON = {
    "network": "made",
    "congestion": "cubic",
    "users": 1,
    "requests": 6,
    "cold": False,
    "timeout": "30s",
    "trial_timeout": "90s",
}


def network(
    *,
    ms: float,
    mbit: float,
    queue: Queue | None = None,
    loss: float | None = None,
    udp: Literal["drop"] | None = None,
) -> Network:
    """The same both ways, but for losses, which are of what the server sends. `ms` is the round trip."""
    way = Direction(delay_ns=round(ms * 5e5), rate=Bottleneck(bps=round(mbit * 1e6)), queue=queue, udp=udp)
    down = way.model_copy(update={"loss": Loss(random=loss)}) if loss else way
    return Network(name="made", title="made", up=way, down=down)


@dataclass(frozen=True)
class Made:
    """One kind of trial."""

    name: str
    largest: str
    """The group of causes that should be the largest."""
    over: Network
    parameters: Mapping[str, Any]
    server: str = "none"
    """A server of the zoo."""
    client: str = "go"
    """`fallback`: one that tries HTTP/3 first."""
    busy: str = ""
    """The role that shares its processor with others."""
    phase: str = "warm"
    protocols: tuple[str, ...] = ("h2", "h3")
    against: str = ""
    """The server that the difference is taken to; without one the time itself counts."""
    cause: Mapping[str, str] = field(default_factory=dict)
    """By protocol, which of the group's causes must be the largest: where what is read tells one from another."""

    def expected(self, protocol: str) -> str:
        """What `Bench.largest` should say."""
        return self.cause.get(protocol, self.largest)


MADE = [
    Made("a small window", "limit", network(ms=40, mbit=100), {"method": "POST", "size": "2MB"}, server="windows"),
    Made(
        "a small stream window",
        "limit",
        network(ms=40, mbit=100),
        {"method": "POST", "size": "2MB"},
        server="stream-window",
        cause={"h3": "stream-limit"},
    ),
    Made(
        "a small receive window",
        "limit",
        network(ms=40, mbit=100),
        {"method": "POST", "size": "2MB"},
        server="receive-window",
        cause={"h2": "receiver", "h3": "connection-limit"},
    ),
    Made("2 % loss", "loss", network(ms=30, mbit=100, loss=0.02), {"size": "500kB"}),
    Made("a queue of ten packets", "loss", network(ms=40, mbit=100, queue=Queue(packets=10)), {"size": "2MB"}),
    Made(
        "a queue of two seconds",
        "queue",
        network(ms=20, mbit=10, queue=Queue(ns=2_000_000_000)),
        {"size": "200kB", "users": 8, "connections": "per-user"},
    ),
    Made("a slow server", "server", network(ms=4, mbit=100), {"size": "5kB"}, server="delay"),
    Made("a busy server", "server-work", network(ms=4, mbit=100), {"size": "5kB"}, server="busy"),
    Made("a busy client", "client-work", network(ms=4, mbit=1000), {"size": "100kB"}, busy="client"),
    Made("a full link", "rate", network(ms=20, mbit=5), {"size": "500kB"}),
    Made("a long way", "trip", network(ms=300, mbit=100), {"size": "1kB"}),
    Made("slow start", "slow-start", network(ms=200, mbit=1000), {"size": "2MB", "cold": True}, phase="cold"),
    Made(
        "a new connection",
        "connecting",
        network(ms=100, mbit=100),
        {"size": "1kB", "cold": True},
        phase="cold",
        protocols=("h2",),
    ),
    Made(
        "a Retry",
        "retry",
        network(ms=60, mbit=100),
        {"size": "1kB", "cold": True},
        server="retry",
        phase="cold",
        protocols=("h3",),
        against="none",
    ),
    Made(
        "blocked UDP",
        "blocked",
        network(ms=30, mbit=100, udp="drop"),
        {"size": "10kB", "cold": True, "users": 3, "connections": "per-user"},
        client=FALLBACK,
        phase="cold",
        protocols=("h1", "h2"),
    ),
    Made(
        "a full receive buffer",
        "drops",
        network(ms=20, mbit=100),
        {"method": "POST", "size": "500kB", "requests": 3},
        server="overflow",
        protocols=("h3",),
    ),
    Made("a server that dribbles", "idle", network(ms=14, mbit=100), {"size": "50kB"}, server="dribble"),
]


@dataclass(frozen=True)
class Bench:
    """Where such trials are carried out."""

    engine: Engine
    certificate: Certificate
    place: Path
    clock: str = "wall"
    """virtual: for all that takes no processing."""
    missed: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """By clock, of each trial the median over its requests of the share by which the parts miss the latency."""
    _subjects: dict[tuple[str, str], Any] = field(default_factory=dict)

    def largest(self, made: Made, protocol: str, seed: int) -> tuple[str, Mapping[str, float]]:
        """What took the most of the requests' time, as `expected` calls it, and all groups' seconds."""
        seconds = self._seconds(made, made.server, protocol, seed)
        if made.against:
            seconds = seconds - self._seconds(made, made.against, protocol, seed)
        groups: dict[str, float] = dict.fromkeys((cause.group for cause in CAUSES), 0.0)
        for cause, of in zip(CAUSES, seconds.tolist(), strict=True):
            groups[cause.group] += of
        if made.largest not in WORK and self._clock(made) == "wall":
            groups = {name: of for name, of in groups.items() if name not in WORK}  # of a busy machine
        largest = max(groups, key=lambda name: groups[name])
        if protocol in made.cause and largest == made.largest:
            within = {cause.name: seconds[NUMBER[cause]] for cause in CAUSES if cause.group == largest}
            return max(within, key=lambda name: within[name]), groups
        return largest, groups

    def _clock(self, made: Made) -> str:
        return "wall" if made.largest in WORK else self.clock

    def _seconds(self, made: Made, server: str, protocol: str, seed: int) -> NDArray[np.float64]:
        """Of each cause, of the mean request."""
        told = explain(self.carry_out(made, server, protocol, seed), [OK])
        self.missed[self._clock(made)].append(float(np.median(told.missed)))
        mean: NDArray[np.float64] = told.seconds[np.array(told.phases) == made.phase].mean(axis=0)
        return mean

    def carry_out(self, made: Made, server: str, protocol: str, seed: int, packets: int = MOST) -> Path:
        """The trial's folder; `packets` have room in its record."""
        subject = self._subject(server, protocol)
        values = {**COMMON, "method": "GET", **made.parameters}
        sides = {"server": subject.name, "client": made.client, "protocol": protocol, "clock": self._clock(made)}
        parameters = Parameters.model_validate({**values, **sides})
        make_bodies([parameters.size])
        others = {made.client: self._falling_back()} if made.client == FALLBACK else {}
        trials = Trials({**catalogue(), subject.name: subject, **others}, self.certificate, self.engine)
        folder = self.place / f"{made.name}-{server}-{protocol}-{seed}".replace(" ", "-").replace("%", "percent")

        def change(folder: Path) -> None:
            trial = read_document(folder / "trial.json", Trial)
            for link in trial.links:
                link.packets = packets
            for role in trial.roles:
                if role.name == made.busy:
                    role.command = beset(role.command)
                if role.name == "server" and protocol == "h3" and made.cause:
                    role.env |= {"QLOGDIR": QLOG_FOLDER}
            write_document(folder / "trial.json", trial.model_copy(update={"seed": seed}))

        done = trials.carry_out(folder, parameters, made.over, change)
        assert done.reasons == [], done.reasons
        assert ingest(folder, parameters.model_dump(mode="json")) == []
        return folder

    def _subject(self, fault: str, protocol: str) -> Any:
        if (fault, protocol) not in self._subjects:
            of = Fault(fault, "", protocol, "", "", virtual=True)
            self._subjects[fault, protocol] = write_faulty(self.place / "subjects" / f"{fault}-{protocol}", of)
        return self._subjects[fault, protocol]

    def _falling_back(self) -> Any:
        if (FALLBACK, "") not in self._subjects:
            self._subjects[FALLBACK, ""] = write_falling_back(self.place / "subjects" / FALLBACK)
        return self._subjects[FALLBACK, ""]


def beset(command: list[str]) -> list[str]:
    """The command on one processor, which loops want too; they end with their session, when the role has ended."""
    hogs = f"for n in $(seq {HOGS}); do while :; do :; done & done; "
    end = "; status=$?; kill $(jobs -p); exit $status"
    return ["taskset", "-c", "0", "sh", "-c", hogs + shlex.join(command) + end]
