"""Trials that are the same but for what was made to take time, and what their requests' time was spent on."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from adversary.zoo import Program, write_asking, write_falling_back, write_made
from h123.catalogue import catalogue, make_bodies
from h123.causes import CAUSES, explain
from h123.documents import read_document, write_document
from h123.documents.trial_files import TrialFile
from h123.execution import Pool
from h123.execution.certificate import Certificate
from h123.packets.capture import MOST
from h123.packets.qlog import QLOG_FOLDER
from h123.study import Network, Parameters
from h123.study.networks.network import Bottleneck, Direction
from h123.study.workload import OK
from h123.verification.trial import Trials

WORK: Final = ("client-work", "server-work")
FALLBACK, ASK = "fallback", "ask"
"""Clients of the zoo: one tries HTTP/3 first, one takes answers in ways of its own."""
HOGS: Final = 24
"""Loops that compete with a program for its processor."""
COMMON = {
    "network": "made",
    "congestion": "cubic",
    "users": 1,
    "requests": 6,
    "method": "GET",
    "cold": False,
    "timeout": "60s",
    "trial_timeout": "180s",
}


@dataclass(frozen=True)
class Scene:
    """The conditions of one trial."""

    over: Network
    protocol: str
    client: str = "go"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    """What makes its answers take time: options of `h123-hostile made`."""
    program: Program = "go"
    """That the server is."""
    asking: tuple[str, ...] = ()
    """How the client `ask` takes them."""
    busy: str = ""
    """The role that shares its processor with others."""
    phase: str = "warm"
    """Of the requests that count."""
    qlog: bool = False
    """The server writes down what flow control does."""
    clock: str = "virtual"

    def but(self, *, server: tuple[str, ...] | None = None, over: Network | None = None, **others: Any) -> Self:
        """The same with other parameters, or fields of a scene."""
        own = {name: others.pop(name) for name in ("asking", "busy", "phase", "client", "clock") if name in others}
        changed = replace(self, parameters={**self.parameters, **others}, **own)
        changed = changed if server is None else replace(changed, server=server)
        return changed if over is None else replace(changed, over=over)

    @property
    def cold(self) -> bool:
        return self.phase == "cold"


@dataclass(frozen=True)
class Spent:
    """What the mean request of a trial spent its time on."""

    folder: Path
    seconds: NDArray[np.float64]
    """Of each of CAUSES."""
    latency: float
    missed: float
    """Share of the latency by which the parts miss it, median over the requests."""


@dataclass(frozen=True)
class Bench:
    """Where such trials are carried out."""

    pool: Pool
    certificate: Certificate
    place: Path
    """Of the trials' folders."""
    subjects: Path
    clock: str = "virtual"
    """wall: for all of them."""
    _subjects: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def spent(self, scene: Scene, name: str, seed: int) -> Spent:
        """Carries it out, in a folder of this name."""
        folder = self.carry_out(scene, name, seed)
        explained = explain(folder, [OK])
        of = np.array(explained.phases) == scene.phase
        assert of.any(), f"{folder} has no {scene.phase} requests"
        took = np.array([(row["end_ns"] - row["start_ns"]) / 1e9 for row in explained.rows])
        return Spent(
            folder, explained.seconds[of].mean(axis=0), float(took[of].mean()), float(np.median(explained.missed))
        )

    def clock_of(self, scene: Scene) -> str:
        """Under which it is carried out."""
        return "wall" if self.clock == "wall" else scene.clock

    def carry_out(self, scene: Scene, name: str, seed: int, packets: int = MOST) -> Path:
        """The trial's folder; `packets` have room in its record."""
        server = self._subject("made", scene.program, scene.protocol, *scene.server)
        subjects = {**catalogue(), server.name: server}
        client = scene.client
        if client in (FALLBACK, ASK):
            subjects |= {client: self._subject(client, *scene.asking)}
            client = subjects[client].name
            subjects[client] = subjects.pop(scene.client)
        values = {**COMMON, "cold": scene.cold, **scene.parameters}
        sides = {
            "server": server.name,
            "client": client,
            "protocol": scene.protocol,
            "clock": self.clock_of(scene),
        }
        parameters = Parameters.model_validate({**values, **sides})
        make_bodies([parameters.size])
        folder = self.place / name

        def change(folder: Path) -> None:
            trial = read_document(folder / "trial.json", TrialFile)
            for link in trial.links:
                link.packets = packets
            for role in trial.roles:
                if role.name == scene.busy:
                    role.command = beset(role.command)
                if role.name == "server" and scene.protocol == "h3" and scene.qlog:
                    role.env |= {"QLOGDIR": QLOG_FOLDER}
            write_document(folder / "trial.json", trial.model_copy(update={"seed": seed}))

        done = Trials(subjects, self.certificate, self.pool).carry_out(folder, parameters, scene.over, change)
        assert done.faults == [], (done.faults, done.logs(3))
        return folder

    def _subject(self, *words: str) -> Any:
        if words not in self._subjects:
            folder = self.subjects / f"{words[0]}-{len(list(self.subjects.iterdir()))}"
            match words:
                case ("made", program, protocol, *reasons):
                    subject = write_made(folder, protocol, reasons, "node" if program == "node" else "go")
                case ("fallback", *_):
                    subject = write_falling_back(folder)
                case (_, *ways):
                    subject = write_asking(folder, ways)
            self._subjects[words] = subject
        return self._subjects[words]


def network(*, ms: float, mbit: float, up: Mapping[str, Any] | None = None, **down: Any) -> Network:
    """`ms` is the round trip. What else there is, is of what the server sends, or of what the client sends: `up`."""
    way = Direction(delay_ns=round(ms * 5e5), rate=Bottleneck(bps=round(mbit * 1e6)))
    return Network(
        name="made", title="made", up=way.model_copy(update=dict(up or {})), down=way.model_copy(update=down)
    )


def beset(command: list[str]) -> list[str]:
    """The command on one processor, which loops want too; they end with their session, when the role has ended."""
    hogs = f"for n in $(seq {HOGS}); do while :; do :; done & done; "
    end = "; status=$?; kill $(jobs -p); exit $status"
    return ["taskset", "-c", "0", "sh", "-c", hogs + shlex.join(command) + end]


def by_group(seconds: NDArray[np.float64]) -> dict[str, float]:
    """Sums of causes."""
    groups: dict[str, float] = dict.fromkeys((cause.group for cause in CAUSES), 0.0)
    for cause, of in zip(CAUSES, seconds.tolist(), strict=True):
        groups[cause.group] += of
    return groups
