"""The lab's report of a synthetic trial."""

import hashlib
from typing import Any

import numpy as np

from h123.study import Network, PlannedTrial

PACKET_BYTES = 1440
SECOND = 1_000_000_000


def lab_report(
    trial: PlannedTrial,
    network: Network,
    samples: dict[str, Any],
    reasons: list[dict[str, str]],
    random: np.random.Generator,
) -> dict[str, Any]:
    """Of a trial with these samples over this network."""
    wall = int(samples["end_ns"].max())
    requests = len(samples["end_ns"])
    per_request = {"h1": 150_000, "h2": 180_000, "h3": 400_000}[trial.parameters.protocol]
    virtual = trial.parameters.clock == "virtual"
    cpu = 1 if virtual else int(requests * per_request * np.exp(random.normal(0, 0.05)))
    counters = {"Udp.InDatagrams": 10, "Tcp.RetransSegs": 3}  # as the lab: those that are not zero
    return {
        "h123": "report/1",
        "id": trial.id,
        "valid": not reasons,
        "reasons": reasons,
        "warnings": [],
        # A virtual kernel's clock starts anew in every trial.
        "started_unix_ns": 1_790_000_000 * SECOND
        + (0 if virtual else trial.block * 100 * SECOND + trial.position * SECOND),
        "phases_ns": {
            "setup": 90_000_000,
            "check": 400_000_000,
            "ready": 30_000_000,
            "main": wall,
            "teardown": 40_000_000,
        },
        "links": [_link_report(network, samples, random)],
        "roles": [_role("server", int(cpu * 0.45), wall), _role("client", int(cpu * 0.55), wall)],
        "hosts": [
            {
                "name": name,
                "congestion": trial.parameters.congestion,
                "counters": {"before": counters, "after": dict(counters)},
            }
            for name in ("client", "server")
        ],
        "machine": {
            "cpus": 2,
            "wall_ns": wall,
            "busy_ns": min(cpu * 2, int(1.5 * wall)),
            "steal_ns": 0,
            "cpu_pressure_ns": 0,
        },
    }


def _role(name: str, main_ns: int, wall: int) -> dict[str, Any]:
    return {
        "name": name,
        "host": name,
        "pid_exit": {"code": 0, "signal": None, "stopped": name == "server"},
        "ready_ns": 12_000_000,
        "cpu": {
            "user_ns": int(main_ns * 0.7),
            "system_ns": int(main_ns * 0.4),
            "main_ns": min(main_ns, int(0.8 * wall)),
        },
        "max_rss_bytes": 30_000_000,
        "log": f"logs/{name}.log",
    }


def _link_report(network: Network, samples: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
    if not network.shaped:
        return {"name": "access", "kind": "veth", "realtime": True, "check": None}
    directions = {}
    for name, direction in (("up", network.up), ("down", network.down)):
        size = int(np.sum(samples[f"bytes_{name}"]))
        packets = 20 + size // PACKET_BYTES + len(samples["end_ns"]) * 30
        loss = (direction.loss.random or 0.0) if direction and direction.loss else 0.0
        lost = int(random.binomial(packets, loss))
        directions[name] = {
            "packets_in": packets,
            "bytes_in": size + 60 * packets,
            "delivered": packets - lost,
            "bytes_delivered": size + 60 * (packets - lost),
            "ipv6_bytes_delivered": 0,
            "duplicated": 3,
            "lost": lost,
            "queue_dropped": 0,
            "blocked": 0,
            "in_flight": 0,
            "drop_set": hashlib.sha256(str(lost).encode()).hexdigest(),
            "queue_ns": {"mean": 3_000_000, "max": 40_000_000},
            "lateness_ns": {
                "p50": 74_000,
                "p99": 240_000,
                "p999": 600_000,
                "max": 900_000,
                "histogram": [[65_536, packets // 3], [131_072, packets // 2], [262_144, packets // 6]],
            },
        }
    return {
        "name": "access",
        "kind": "emulated",
        "realtime": True,
        "check": _check(network, random),
        "directions": directions,
    }


def _check(network: Network, random: np.random.Generator) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {"delay": {}, "rate": {}, "loss": {}, "burst": {}}
    for name, direction in (("up", network.up), ("down", network.down)):
        assert direction
        loss = (direction.loss.random or 0.0) if direction.loss else 0.0
        rate = int(direction.rate.mean_bps) if direction.rate else 0
        expected = round(1000 * loss)
        kinds["delay"][name] = {
            "probes": 200,
            "lost": 2,
            "error_ns": {
                "p50": int(70_000 + random.integers(20_000)),
                "p99": int(220_000 + random.integers(60_000)),
                "max": 600_000,
            },
        }
        kinds["rate"][name] = {"configured_bps": rate, "measured_bps": int(rate * random.normal(1, 0.002))}
        kinds["loss"][name] = {
            "sent": 1000,
            "lost": expected,
            "expected_lost": expected,
            "low": max(0, expected - 15),
            "high": expected + 20,
        }
        kinds["burst"][name] = {"sent": 40, "delivered": 20, "expected": 20}
    return {**kinds, "passed": True, "failures": []}
