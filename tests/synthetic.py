"""Synthetic campaign folders, exactly by contract (docs/contracts/): what a campaign would leave, with known truth.

    PYTHONPATH=src:tests python -m synthetic DIR --seed 1

The same `Scenario` gives the same samples. Request times are log-normal about a mean that has the treatment's
effect, a share common to the block and one of the trial's own: requests inside a trial are correlated as real ones are.
"""

import argparse
import csv
import hashlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from documents import put
from h123.documents.campaign_file import Proof, SubjectFacts
from h123.documents.events import AttemptFacts
from h123.documents.lab_report import Report
from h123.documents.trial_files import ClientFile, TrialFile
from h123.execution import machine_facts
from h123.store import CampaignFolder, ingest
from h123.store.columns import RETRIED_COLUMNS
from h123.store.seal import seal_attempt
from h123.study import Network, PlannedTrial, Study, make_plan
from synthetic_report import SECOND, lab_report

ROUND_TRIPS = {"h1": 2, "h2": 2, "h3": 1}


def _network(name: str, title: str, one_way_ns: int, bps: int, loss: float, queue: int) -> dict[str, Any]:
    direction = {"delay_ns": one_way_ns, "rate": {"bps": bps}, "queue": {"bytes": queue}, "loss": {"random": loss}}
    return {"name": name, "title": title, "up": direction, "down": direction}


NETWORKS: dict[str, dict[str, Any]] = {
    "lan": {"name": "lan", "title": "unshaped veth pair"},
    "medium": _network("medium", "30 ms, 20 Mbit/s, 0.5 % loss", 15_000_000, 20_000_000, 0.005, 100_000),
    "poor": _network("poor", "50 ms, 10 Mbit/s, 2 % loss", 25_000_000, 10_000_000, 0.02, 125_000),
}


def answer_family(*metrics: str, **more: list[str]) -> dict[str, Any]:
    """The family that answers a study's question by these metrics, corrected by Holm's method."""
    return {"name": "answer", "correction": "holm", "metrics": list(metrics), **more}


FAMILIES: list[dict[str, Any]] = [
    answer_family("latency", pairs=["h3/h2"], each=["network"]),
    {
        "name": "details",
        "correction": "bh",
        "metrics": ["latency", "ttfb", "cold_latency", "cold_ttfb", "handshake", "goodput", "cpu"],
    },
]

Spoil = Callable[[PlannedTrial, Path], None]
"""Changes a trial's files (samples.csv, report.json, client.json, trial.json) before they are taken in."""


class _Every:
    def __contains__(self, _: object) -> bool:
        return True


EVERY: Container[str] = _Every()
"""All trials of a campaign."""


@dataclass(frozen=True)
class Scenario:
    """The truth behind a synthetic campaign."""

    seed: int = 1
    blocks: int = 6
    protocols: tuple[str, ...] = ("h1", "h2", "h3")
    networks: dict[str, dict[str, Any]] = field(default_factory=lambda: dict(NETWORKS))
    effects: dict[tuple[str, str], float] = field(
        default_factory=lambda: {("poor", "h3"): 0.71, ("lan", "h3"): 1.4, ("poor", "h1"): 0.85}
    )
    """(network, protocol) to the factor on request times, 1 where not named; (network, build) of builds."""
    builds: tuple[str, ...] = ()
    """Two servers to compare instead of protocols, of which there may then be one."""
    clocks: bool = False
    """Whether a further factor `clock` has both; `effects` are then those under the virtual clock."""
    processing: dict[tuple[str, str], float] = field(default_factory=dict)
    """(network, protocol) to what processing makes of request times under the wall clock, 1 where not named."""
    machines: tuple[str, ...] = ()
    """Those that run the blocks in turn, if there are several."""
    slowness: dict[tuple[str, str], float] = field(default_factory=dict)
    """(machine, protocol) to the factor on request times there, 1 where not named."""
    pairs: tuple[str, ...] = ("h3/h2", "h3/h1", "h2/h1")
    """To compare, if the campaign has both levels."""
    twin: str = "h2"
    families: list[dict[str, Any]] = field(default_factory=lambda: list(FAMILIES))
    settings: dict[str, Any] = field(default_factory=dict)
    """Parameters instead of the usual ones (users 4, requests 5, size 100 kB...)."""
    loads: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Levels of a further factor `load`, if any."""
    block_noise: float = 0.10
    trial_noise: float = 0.02
    request_noise: float = 0.15
    """Standard deviations of log request time."""
    invalid: frozenset[str] = frozenset()
    """Trials whose first attempt is invalid (and repeated)."""
    invalid_by: tuple[str, str] = ("link-late", "release lateness p99 2.1 ms")
    """Code and detail of why."""
    failed: frozenset[str] = frozenset()
    """Trials of which each attempt failed by its client."""
    disturbed: Callable[[PlannedTrial], float] = lambda _: 0.0
    """Share of a trial's times that is the machine's, and is said to be; more than 2.5 % is disturbed."""
    missing: Container[str] = ()
    """Trials that were not run (the campaign was interrupted)."""
    only: dict[str, list[str]] = field(default_factory=dict)
    width: dict[str, Any] | None = None
    """As `CampaignFolder.width`."""
    looks: tuple[int, ...] = ()
    """As `CampaignFolder.looks`."""
    require: tuple[str, ...] = ()
    """Conditions of the study."""
    as_published: bool = False
    """Whether the study asks for the published analysis too."""
    first_flight: int | None = None
    """Packets that `h123 verify` has counted of the server over HTTP/3, if it has."""
    paths: dict[str, Any] = field(default_factory=dict)
    """The field `paths` of proofs (None if nothing was measured), by server; absent where not named."""
    spoil: Spoil | None = None
    study: Study | None = None
    """A study instead of the one that the fields above make; its networks are among `networks`."""


def make_campaign(path: Path, scenario: Scenario | None = None) -> CampaignFolder:
    """Write a campaign of `scenario` into the new folder `path`. A power cut it need not survive: that takes long."""
    with mock.patch("os.fsync"):
        return _written(path, scenario or Scenario())


def _written(path: Path, scenario: Scenario) -> CampaignFolder:
    study = scenario.study or Study.from_resolved(study_of(scenario))
    plan = make_plan(study, blocks=scenario.blocks, seed=scenario.seed, level_filter=scenario.only)
    folder = CampaignFolder.create(
        path,
        study=study.resolved(),
        study_text="# synthetic: see tests/synthetic.py\n",
        networks={name: Network.from_resolved(n).resolved() for name, n in scenario.networks.items()},
        seed=scenario.seed,
        blocks=scenario.blocks,
        level_filter=scenario.only,
        looks=scenario.looks,
        precision=scenario.width,
        machine=machine_facts(),
        subjects={name: _subject(scenario, name) for name in ("go", *scenario.builds)},
    )
    folder.append({"event": "campaign"})
    for trial in plan.trials():
        if trial.id in scenario.missing:
            continue
        if trial.id in scenario.failed:
            for attempt in (1, 2, 3):
                _attempt(folder, scenario, trial, attempt, [{"code": "client-failed", "detail": "exit status 1"}])
            continue
        if trial.id in scenario.invalid:
            _attempt(folder, scenario, trial, 1, [dict(zip(("code", "detail"), scenario.invalid_by, strict=True))])
        _attempt(folder, scenario, trial, 2 if trial.id in scenario.invalid else 1, [])
    folder.append({"event": "interrupted" if scenario.missing else "finished"})
    return folder


def _subject(scenario: Scenario, name: str) -> SubjectFacts:
    passed: Proof = {
        "outcome": "passed",
        "upstream": True,
        "time": "2026-01-01T00:00:00+00:00",
        "failed": [],
        "first_flight": scenario.first_flight,
    }
    if name in scenario.paths:
        passed["paths"] = scenario.paths[name]
    return {"version": "0.65.0", "stack": "quic-go", "language": "Go", "proofs": {"server": passed, "client": passed}}


def study_of(scenario: Scenario) -> dict[str, Any]:
    """The scenario's own, resolved."""
    settings = {
        "server": "go",
        "client": "go",
        "congestion": "cubic",
        "method": "GET",
        "size": 100_000,
        "users": 4,
        "requests": 5,
        **scenario.settings,
    }
    for level in scenario.loads.values():
        settings = {name: value for name, value in settings.items() if name not in level}
    levels = {*(scenario.builds or scenario.protocols)}
    factors: dict[str, Any] = {
        **({"server": {name: {"server": name} for name in scenario.builds}} if scenario.builds else {}),
        "protocol": {name: {"protocol": name} for name in scenario.protocols},
        "network": {name: {"network": name} for name in scenario.networks},
        **({"load": scenario.loads} if scenario.loads else {}),
        **({"clock": {name: {"clock": name} for name in ("wall", "virtual")}} if scenario.clocks else {}),
    }
    return {
        "h123": "study/1",
        "name": "synthetic",
        "question": "Does the analysis find what was put in?",
        "factors": factors,
        "settings": settings,
        "compare": {
            "factor": "server" if scenario.builds else "protocol",
            "pairs": [pair for pair in scenario.pairs if levels.issuperset(pair.split("/"))],
            "twin": scenario.twin,
            "margin": 0.05,
            "alpha": 0.05,
            "as_published": scenario.as_published,
            "families": scenario.families,
        },
        "require": [{"holds": condition, "by": "interval"} for condition in scenario.require],
        "blocks": scenario.blocks,
        "seed": scenario.seed,
    }


def _attempt(
    folder: CampaignFolder, scenario: Scenario, trial: PlannedTrial, attempt: int, reasons: list[dict[str, str]]
) -> None:
    partial = folder.partial(trial.id, attempt)
    samples = _samples(scenario, trial)
    write_samples(samples, partial / "samples.csv")
    put(partial / "trial.json", TrialFile, _trial_file(scenario, trial))
    random = _generator(scenario, "report", trial.id)
    put(partial / "report.json", Report, lab_report(trial, _link(scenario, trial), samples, reasons, random))
    put(partial / "client.json", ClientFile, _facts(trial))
    if scenario.spoil:
        scenario.spoil(trial, partial)
    parameters = trial.parameters.model_dump(mode="json")
    reasons = reasons + ingest(partial, parameters)
    event: AttemptFacts = {
        "event": "trial",
        "trial": trial.id,
        "attempt": attempt,
        "block": trial.block,
        "position": trial.position,
        "cell": trial.cell,
        "twin": trial.twin,
        "parameters": parameters,
        "link_seed": trial.link_seed,
        "valid": not reasons,
        "reasons": reasons,
        "disturbed": scenario.disturbed(trial) > 0.025,
        "disturbance": scenario.disturbed(trial),
        "shares": {name: scenario.disturbed(trial) for name in ("latency", "goodput")},
        "seconds": 1.5,
    }
    if scenario.machines:
        event["place"] = _machine(scenario, trial)
    seal_attempt(partial, event)
    folder.append(event)


def _machine(scenario: Scenario, trial: PlannedTrial) -> str:
    return scenario.machines[(trial.block - 1) % len(scenario.machines)] if scenario.machines else ""


def _generator(scenario: Scenario, *words: object) -> np.random.Generator:
    text = " ".join(map(str, (scenario.seed, *words)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def _link(scenario: Scenario, trial: PlannedTrial) -> Network:
    return Network.from_resolved(scenario.networks[trial.parameters.network])


def _request_seconds(scenario: Scenario, trial: PlannedTrial) -> float:
    """Mean request time of the trial: twice what the link's rate needs, and a round trip, times effect and noise."""
    p, network = trial.parameters, _link(scenario, trial)
    rate = network.down.rate.mean_bps if network.down and network.down.rate else 10e9
    base = 2 * p.users * p.size * 8 / rate + network.round_trip_ns / SECOND + 0.002
    effect = scenario.effects.get((p.network, p.protocol), 1.0)
    effect *= scenario.effects.get((p.network, p.server), 1.0)
    effect *= scenario.slowness.get((_machine(scenario, trial), p.protocol), 1.0)
    if p.clock == "wall":
        effect *= scenario.processing.get((p.network, p.protocol), 1.0)
    block = _generator(scenario, "block", trial.block, p.network).normal(0, scenario.block_noise)
    own = _generator(scenario, "trial", trial.id).normal(0, scenario.trial_noise)
    return float(base * effect * np.exp(block + own)) / (1 - scenario.disturbed(trial))


def _samples(scenario: Scenario, trial: PlannedTrial) -> dict[str, Any]:
    """Columns of the samples: the cold requests one after another, then each user's requests back to back."""
    p, random = trial.parameters, _generator(scenario, "requests", trial.id)
    round_trip, mean = _link(scenario, trial).round_trip_ns, _request_seconds(scenario, trial) * SECOND
    connections = p.connections if isinstance(p.connections, int) else p.users
    cold_count = (1 if p.connections == "shared" and p.protocol != "h1" else connections) if p.cold else 0
    per_user = p.warmup + p.requests
    count = cold_count + p.users * per_user
    noise = np.exp(random.normal(0, scenario.request_noise, count))
    duration = (1.02 * round_trip + mean * noise).astype(np.int64)
    handshake = int((ROUND_TRIPS[p.protocol] * round_trip + 800_000) * 1.02 * np.exp(abs(random.normal(0, 0.02))))
    duration[:cold_count] += handshake
    gap = 20_000
    cold_end = 1_000_000 + int((duration[:cold_count] + gap).sum())
    cold_start = 1_000_000 + np.concatenate([[0], np.cumsum(duration[:cold_count] + gap)])[:cold_count]
    warm = duration[cold_count:].reshape(p.users, per_user)
    warm_start = cold_end + np.cumsum(warm + gap, axis=1) - warm
    start = np.concatenate([cold_start, warm_start.ravel()]).astype(np.int64)
    cold = np.arange(count) < cold_count
    users = np.concatenate([np.arange(cold_count), np.repeat(np.arange(p.users), per_user)])
    warmup = np.concatenate([np.zeros(cold_count, bool), np.tile(np.arange(per_user) < p.warmup, p.users)])
    sent = start + np.where(cold, handshake, 0) + 30_000
    return {
        "phase": np.where(cold, "cold", np.where(warmup, "warmup", "warm")),
        "user": users,
        "start_ns": start,
        "connected_ns": np.ma.masked_array(start + handshake, ~cold),
        "sent_ns": sent,
        "first_byte_ns": sent + ((start + duration - sent) * 0.6).astype(np.int64).clip(int(1.01 * round_trip)),
        "end_ns": start + duration,
        "status": np.full(count, 200),
        "bytes_up": np.full(count, p.size if p.method == "POST" else 0),
        "bytes_down": np.full(count, p.size if p.method == "GET" else 6),
        "protocol": np.full(count, p.protocol),
        "connection": users % max(1, cold_count),
        "reused": (~cold).astype(np.int64),
        "error": np.full(count, ""),
        "group": np.ma.masked_all(count, np.int64),
        "resource": np.ma.masked_all(count, np.int64),
        **({"tries": np.where(~cold & (users == 0), 2, 1)} if p.retry else {}),
    }


def write_samples(samples: dict[str, Any], path: Path) -> None:
    """As a client writes them; `samples`: all columns."""
    columns = [name for name in RETRIED_COLUMNS if name in samples]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(zip(*(samples[name].tolist() for name in columns), strict=True))


@contextmanager
def changed_samples(folder: Path) -> Iterator[list[dict[str, str]]]:
    """Change the rows of a folder's samples.csv. All values are text."""
    path = folder / "samples.csv"
    header, *lines = path.read_text().splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    yield rows
    path.write_text("\n".join([header, *(",".join(row.values()) for row in rows)]) + "\n")


def _trial_file(scenario: Scenario, trial: PlannedTrial) -> dict[str, Any]:
    link = {"name": "access", "a": {"host": "client"}, "b": {"host": "server"}, **_link(scenario, trial).link()}
    return {
        "h123": "trial/1",
        "id": trial.id,
        "seed": trial.link_seed,
        "hosts": ["client", "server"],
        "links": [link],
        "congestion": trial.parameters.congestion,
        "check": True,
        "roles": [],
    }


def _facts(trial: PlannedTrial) -> dict[str, Any]:
    tls = {
        "version": "1.3",
        "cipher": "TLS_AES_128_GCM_SHA256",
        "key_exchange": "X25519",
        "alpn": trial.parameters.protocol,
        "connections": 1,
    }
    return {"h123": "client/1", "tls": [tls], "congestion": trial.parameters.congestion, "notes": []}


def main() -> None:
    """Write one campaign, with an invalid attempt and a trial that never ran if asked."""
    parser = argparse.ArgumentParser(description="Write a synthetic campaign folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=6)
    arguments = parser.parse_args()
    make_campaign(arguments.folder, Scenario(seed=arguments.seed, blocks=arguments.blocks))
    print(arguments.folder)


if __name__ == "__main__":
    main()
