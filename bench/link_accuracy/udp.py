"""Sends UDP packets over a path, and shows when each arrives and which are lost."""

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from paths import SERVER, Kind, Profile, lay, run, service

Clock = Literal["virtual", "wall"]
Plan = list[tuple[int, int]]
"""For each packet, when it is sent, in ns after the first, and its bytes including the headers of IP and UDP."""

_TRAIN = Path(__file__).with_name("train.py")
_PORT = 9000
_SMALLEST, _MTU = 60, 1500
_PATIENCE_NS = 600 * 10**9


@dataclass(frozen=True)
class Arrival:
    index: int
    sent_ns: int
    received_ns: int


@dataclass(frozen=True)
class Passage:
    """The result of sending a train of packets."""

    plan: Plan
    arrivals: list[Arrival]
    report: dict[str, Any]

    def lost(self) -> set[int]:
        """Return the indices of the packets that did not arrive."""
        return set(range(len(self.plan))) - {arrival.index for arrival in self.arrivals}

    def delay_errors_ns(self, profile: Profile) -> list[int]:
        """Return how many ns later than configured each packet arrived, in ascending order. Lost packets are left
        out."""
        return sorted(
            arrival.received_ns - arrival.sent_ns - profile.arrival_ns(self.plan[arrival.index][1])
            for arrival in self.arrivals
        )

    def drop_set(self) -> str:
        """Return the lab's own digest of the indices that its link lost on the way up."""
        digest: str = self.report["links"][0]["directions"]["up"]["drop_set"]
        return digest


def sparse(packets: int, interval_ns: int, seed: int) -> Plan:
    """Plan packets of random sizes that never wait for each other."""
    rng = random.Random(seed)
    return [(i * interval_ns, rng.randint(_SMALLEST, _MTU)) for i in range(packets)]


def overload(profile: Profile, share: float, packets: int) -> Plan:
    """Plan full packets at `share` of the link's rate."""
    return [(round(i * _MTU * 8e9 / (profile.bps * share)), _MTU) for i in range(packets)]


def burst(packets: int) -> Plan:
    """Plan a burst of full packets, all sent at once."""
    return [(0, _MTU)] * packets


def send(folder: Path, kind: Kind, profile: Profile, plan: Plan, seed: int = 1, clock: Clock = "virtual") -> Passage:
    """Send the packets from client to server over a new path. Raises UserError if the trial is invalid."""
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    train = [sys.executable, str(_TRAIN)]
    client = {
        "name": "client",
        "host": "client",
        "kind": "main",
        "command": [*train, "send", SERVER, "plan.json"],
        "env": {},
        "timeout_ns": _PATIENCE_NS,
    }
    roles = [service("server", [*train, "receive", "arrivals"], udp=[_PORT]), client]
    trial = {"h123": "trial/1", "id": f"{folder.name}", "seed": seed, "clock": clock, "congestion": "cubic"}
    report = run(lay({**trial, "check": False, "roles": roles}, kind, profile), folder)
    lines = (folder / "arrivals").read_text(encoding="ascii").splitlines()
    return Passage(plan, [Arrival(*map(int, line.split())) for line in lines], report)
