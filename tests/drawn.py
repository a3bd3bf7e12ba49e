"""Campaigns drawn by seed: any mixture of what an answer has to cope with.

    PYTHONPATH=src:tests python -m drawn 17 DIR

Networks, protocols or builds, clocks, blocks, spreads between blocks, true differences, failed requests, failed trials,
disturbed ones, trials that were not run, impossible data, and how a campaign ends.
"""

import sys
from pathlib import Path
from random import Random
from typing import Any

from h123.store import CampaignFolder
from h123.store.columns import TIME_COLUMNS
from h123.study import PlannedTrial, Study, make_plan
from synthetic import NETWORKS, Scenario, Spoil, changed_samples, make_campaign, study_of

_EFFECTS = (1.0, 1.0, 1.0, 1.01, 0.97, 1.1, 0.8, 1.4, 0.6, 2.6)
"""True effects."""
_MOST = 80
"""Trials; more make no other kind of answer."""
_PAIRS = {("h1", "h2", "h3"): ("h3/h2", "h2/h1", "h3/h1"), ("h2", "h3"): ("h3/h2",), ("h1", "h2"): ("h2/h1",)}


def drawn(seed: int) -> Scenario:
    """The same seed, the same campaign."""
    random = Random(seed)
    networks = random.sample(["lan", "medium", "poor"], random.choice([1, 2, 3, 3]))
    builds = ("base", "new") if random.random() < 0.4 else ()
    protocols = random.choice([("h2",), ("h2", "h3"), ("h1", "h2", "h3")] if builds else list(_PAIRS))
    blocks = random.choice([1, 2, 3, 4, 5, 6, 8, 8, 8, 10, 12])
    sides = builds or protocols
    while len(networks) > 1 and blocks * len(networks) * (len(protocols) * 3 if builds else len(sides) + 1) > _MOST:
        networks.pop()
    clocks = not builds and random.random() < 0.15
    settings: dict[str, Any] = {"cold": random.random() < 0.8, "requests": random.choice([3, 5])}
    if not clocks and random.random() < 0.3:
        settings["clock"] = "virtual"
    each = [name for name in ("network", *(["protocol"] if builds else [])) if random.random() < 0.8]
    asked = random.choice([["latency"], ["latency"], ["latency"], ["ttfb"], ["latency", "ttfb"], ["goodput"]])
    cold = ["cold_latency", "cold_ttfb", "handshake"] if settings["cold"] else []
    details = [name for name in ("latency", "ttfb", "goodput", *cold, "cpu") if name not in asked]
    families = [
        {"name": "answer", "correction": random.choice(["holm", "holm", "bh"]), "metrics": asked, "each": each},
        *(
            [{"name": name.replace("_", "-"), "correction": "bh", "metrics": [name], "each": each} for name in details]
            if random.random() < 0.5
            else [{"name": "details", "correction": random.choice(["bh", "holm"]), "metrics": details}]
        ),
    ]
    shape = Scenario(
        seed=seed,
        blocks=blocks,
        protocols=protocols,
        networks={name: NETWORKS[name] for name in networks},
        effects={(network, side): random.choice(_EFFECTS) for network in networks for side in sides[1:]},
        builds=builds,
        clocks=clocks,
        processing={(network, side): random.choice(_EFFECTS) for network in networks for side in sides[1:]},
        pairs=("new/base",) if builds else _PAIRS[protocols],
        twin=sides[0],
        families=families,
        settings=settings,
        block_noise=random.choice([0.02, 0.1, 0.6]),
        trial_noise=random.choice([0.001, 0.02, 0.06, 0.15, 0.4]),
        looks=(8, 12) if blocks in (8, 12) and random.random() < 0.6 else (),
        width={"wanted": 0.03, "at_most": 30} if blocks == 12 and random.random() < 0.3 else None,
    )
    return _with_faults(shape, random)


def _with_faults(shape: Scenario, random: Random) -> Scenario:
    plan = make_plan(Study.from_resolved(study_of(shape)), blocks=shape.blocks, seed=shape.seed)
    names = [trial.id for trial in plan.trials()]
    faults = random.choices(["none", "missing", "failed", "invalid", "requests", "impossible", "disturbed"], k=2)
    some = random.choice([0.03, 0.15, 0.5])
    given: dict[str, Any] = {}
    if "missing" in faults:
        given["missing"] = frozenset(names[round(len(names) * (1 - some)) :])
    if "failed" in faults:
        given["failed"] = frozenset(random.sample(names, round(len(names) * some)))
    if "invalid" in faults:
        given["invalid"] = frozenset(random.sample(names, round(len(names) * some)))
    if "disturbed" in faults:
        chosen, share = {*random.sample(names, round(len(names) * some))}, random.choice([0.03, 0.2, 0.6])
        given["disturbed"] = lambda trial: share if trial.id in chosen else 0.0
    if "requests" in faults:
        given["spoil"] = _failing(random.choice([0.02, 0.3, 1.0]), random.choice([None, shape.twin, *shape.networks]))
    elif "impossible" in faults:
        given["spoil"] = _impossible(random.choice([shape.twin, *shape.networks]))
    return Scenario(**{**vars(shape), **given})


def _failing(share: float, level: str | None) -> Spoil:
    """So many of a trial's requests fail, where it has that level (None: everywhere)."""

    def change(rows: list[dict[str, str]]) -> None:
        for row in rows[: round(share * len(rows))]:
            row["status"], row["error"] = "0", "timeout"

    return _changing(level, change)


def _impossible(level: str) -> Spoil:
    """All is a hundred times as fast as the link."""

    return _changing(level, hundredfold)


def hundredfold(rows: list[dict[str, str]]) -> None:
    """Make requests a hundred times as fast."""
    for row in rows:
        start = int(row["start_ns"])
        for name in TIME_COLUMNS:
            if row[name]:
                row[name] = str(start + (int(row[name]) - start) // 100)


def _changing(level: str | None, change: Any) -> Spoil:
    def spoil(trial: PlannedTrial, folder: Path) -> None:
        if level is not None and level not in trial.cell.values():
            return
        with changed_samples(folder) as rows:
            change(rows)

    return spoil


def campaign(seed: int, path: Path) -> CampaignFolder:
    """Write it into a new folder."""
    return make_campaign(path, drawn(seed))


if __name__ == "__main__":
    campaign(int(sys.argv[1]), Path(sys.argv[2]))
