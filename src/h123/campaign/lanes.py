"""How many trials run at once, and which of them may: slow links leave the processors idle (docs/architecture.md).

Trials of one block only, and only where the link is the bottleneck by far: a trial over a plain veth runs alone, and so
does every repeat. With a number given (`--lanes N`) that many shaped trials run at once. Without, the tool chooses:

* a campaign shorter than `SHORT_CAMPAIGN_S` is run one trial after the other, for there is little to gain;
* of each network the first `TRIALS_ALONE` trials run alone, and the machine's busy share during them is measured;
* then as many run at once as `automatic_lanes` says; where networks mix, the narrowest decides.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from h123.study import Network, Plan, PlannedTrial
from h123.study.network import Direction

SHORT_CAMPAIGN_S = 1800.0
"""Estimated time, one trial after the other, below which the automatic choice is one lane."""
TRIALS_ALONE = 2
"""Of each network, before the automatic choice puts others beside it."""
SHORTEST_RUN_NS = 500_000_000
"""The machine counts its busy time in ticks of 10 ms, which says little about a shorter run."""
LANE_BPS_PER_CPU = 100e6
"""Link rate that one processor carries with ease, link, client and server together; measured: about a tenth of that
for a tenth of a processor."""
BUSY_TARGET = 0.35
"""Share of all processors that all lanes together may be expected to use, so that bursts seldom meet."""
LANES_PER_CPU = 3
"""More are never chosen by themselves."""


def automatic_lanes(rate_bps: float | None, cpus: int, busy: float | None) -> int:
    """How many trials like these run at once; at least 1.

    `rate_bps`: of their links, None where nothing limits it (then 1). `busy`: share of all `cpus` processors, from 0 to
    1, that was busy while one such trial ran alone; None where that is not known yet.
    """
    if rate_bps is None:
        return 1
    by_rate = cpus * LANE_BPS_PER_CPU / rate_bps
    by_headroom = BUSY_TARGET / busy if busy else float("inf")
    return max(1, int(min(by_rate, by_headroom, cpus * LANES_PER_CPU)))


@dataclass
class Lanes:
    """The rule of one campaign; learns from the trials that ran alone."""

    networks: dict[str, Network]
    compared: str
    """The factor whose levels are compared."""
    cpus: int
    most: int | None
    """At once, whatever the link; None: chosen by the rates and the measured headroom."""
    _busy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Access network to the machine's busy shares."""

    @classmethod
    def of(cls, plan: Plan, given: int | None, cpus: int) -> Self:
        """The rule for `plan`; `given` is what the person asked for."""
        short = sum(cost.seconds for cost in plan.estimates().values()) < SHORT_CAMPAIGN_S
        most = 1 if given is None and short else given
        return cls(plan.study.networks, plan.study.compare.factor, cpus, most)

    def learn(self, event: dict[str, Any], report: dict[str, Any]) -> None:
        """Take a finished trial's report into account; counts if it ran alone, and long enough to tell."""
        machine = report["machine"]
        if event["valid"] and event.get("alone") and machine.get("wall_ns", 0) >= SHORTEST_RUN_NS:
            share = machine["busy_ns"] / (machine["wall_ns"] * machine["cpus"])
            self._busy[event["parameters"]["network"]].append(share)

    def order(self, block: Iterable[PlannedTrial]) -> list[PlannedTrial]:
        """The order of starts: as planned; with lanes, first what must run alone, then the rest, each as planned.

        Mixed, each trial over a plain veth would have to wait until all lanes are empty. What is compared stays mixed.
        """
        trials = list(block)
        kinds: dict[tuple[str, ...], set[bool]] = defaultdict(set)
        for trial in trials:
            rest = tuple(level for factor, level in trial.cell.items() if factor != self.compared)
            kinds[rest].add(self._shaped(trial))
        if self.most == 1 or any(len(kind) > 1 for kind in kinds.values()):
            return trials
        return sorted(trials, key=self._shaped)

    def width(self, trial: PlannedTrial) -> int:
        """How many trials may run while this one does, itself included, as far as known."""
        if not self._shaped(trial):
            return 1
        if self.most is not None:
            return self.most
        busy = self._busy[trial.parameters.network]
        return automatic_lanes(self._rate_bps(trial), self.cpus, statistics.median(busy) if busy else None)

    def admits(self, trial: PlannedTrial, beside: list[PlannedTrial]) -> bool:
        """Whether `trial` may start for the first time while `beside` run."""
        if not beside:
            return True
        both = [trial, *beside]
        if self.most is None and any(len(self._busy[t.parameters.network]) < TRIALS_ALONE for t in both):
            return False
        return len(both) <= min(self.width(t) for t in both)

    def seconds(self, plan: Plan) -> float:
        """Estimate of the campaign's time with these lanes."""
        trials = {trial.id: trial for trial in plan.trials()}
        return sum(cost.seconds / self.width(trials[name]) for name, cost in plan.estimates().items())

    def _shaped(self, trial: PlannedTrial) -> bool:
        return self.networks[trial.parameters.network].shaped

    def _rate_bps(self, trial: PlannedTrial) -> float | None:
        """Of the trial's shaped links together; None where the access link has no limit in either direction."""
        p = trial.parameters
        rate = _fastest_bps(self.networks[p.network])
        behind = self.networks.get(p.backend_network or "")
        return rate if rate is None or behind is None else rate + (_fastest_bps(behind) or 0.0)


def _fastest_bps(network: Network) -> float | None:
    """The faster direction's highest rate; None if a direction is unlimited."""
    rates = [_highest_bps(direction) for direction in (network.up, network.down)]
    return None if None in rates else max(rate for rate in rates if rate is not None)


def _highest_bps(direction: Direction | None) -> float | None:
    if direction is None or direction.rate is None:
        return None
    later = [change.rate.mean_bps for change in direction.changes or [] if change.rate]
    return max(direction.rate.mean_bps, *later) if later else direction.rate.mean_bps
