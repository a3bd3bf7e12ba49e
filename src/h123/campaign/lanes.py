"""How many trials run at once, and which of them may: slow links leave the processors idle (docs/architecture.md).

Only where the link is the bottleneck by far: a trial over a plain veth runs alone, and so does every repeat. With a
number given (`--lanes N`) that many shaped trials run at once. Without, the tool chooses:

* of each network the first `TRIALS_ALONE` trials run alone, and the processor time that they take is measured;
* then as many run at once as `automatic_lanes` says; where networks mix, the narrowest decides.

A trial that waited too long for processors that others had (`crowded` in the journal) takes a lane away; `CALM_TRIALS`
that did not give it back.

Trials of the virtual clock cannot be disturbed: as many run at once as there are processors, and memory, for them. They
never run beside those of the wall clock, which would be.
"""

import heapq
import os
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from h123.results import own_ns
from h123.study import Network, Plan, PlannedTrial
from h123.study.network import Direction

TRIALS_ALONE = 1
"""Of each network, before the automatic choice puts others beside it."""
SHORTEST_RUN_NS = 500_000_000
"""A shorter run has not come to its usual pace."""
LANE_BPS_PER_CPU = 100e6
"""Link rate that one processor carries with ease, link, client and server together; measured: about a tenth of that
for a tenth of a processor."""
BUSY_TARGET = 0.35
"""Share of all processors that all lanes together may be expected to use, so that bursts seldom meet."""
LANES_PER_CPU = 8
"""More are never chosen by themselves. Measured: with 12 trials on 2 processors links are as punctual as with one."""
CALM_TRIALS = 8
"""Undisturbed trials that give back a lane."""
VIRTUAL_TRIAL_BYTES = 2**30
"""Memory of the kernel in which a trial of the virtual clock runs."""


def automatic_lanes(rate_bps: float | None, cpus: int, busy: float | None) -> int:
    """How many trials like these run at once; at least 1.

    `rate_bps`: of their links, None where nothing limits it (then 1). `busy`: share of all `cpus` processors, from 0 to
    1, that one such trial took while it ran alone; None where that is not known yet.
    """
    if rate_bps is None:
        return 1
    by_rate = cpus * LANE_BPS_PER_CPU / rate_bps
    by_headroom = BUSY_TARGET / busy if busy else float("inf")
    return max(1, int(min(by_rate, by_headroom, cpus * LANES_PER_CPU)))


def virtual_lanes(cpus: int, memory_bytes: int) -> int:
    """How many trials of the virtual clock run at once: each is one thread's work and never waits."""
    return max(1, min(cpus, memory_bytes // VIRTUAL_TRIAL_BYTES))


@dataclass
class Lanes:
    """The rule of one campaign; learns from the trials that ran alone."""

    networks: dict[str, Network]
    compared: str
    """The factor whose levels are compared."""
    estimates: dict[str, float]
    """Seconds by trial."""
    cpus: int
    most: int | None
    """At once, whatever the link; None: chosen by the rates and the measured headroom."""
    virtual: int
    """At once, of trials of the virtual clock."""
    _busy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Access network to the shares of all processors that trials took."""
    _closed: int = 0
    """Lanes taken away by crowded trials."""
    _calm: int = 0
    """Undisturbed trials since."""

    @classmethod
    def of(cls, plan: Plan, given: int | None, cpus: int, memory_bytes: int) -> Self:
        """The rule for `plan` on a machine like this; `given` is what the person asked for."""
        estimates = {trial: cost.seconds for trial, cost in plan.estimates().items()}
        virtual = given or virtual_lanes(cpus, memory_bytes)
        return cls(plan.study.networks, plan.study.compare.factor, estimates, cpus, given, virtual)

    @classmethod
    def here(cls, plan: Plan, given: int | None) -> Self:
        """The rule for `plan` on this machine."""
        memory_bytes = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return cls.of(plan, given, len(os.sched_getaffinity(0)), memory_bytes)

    def learn(self, event: dict[str, Any], report: dict[str, Any]) -> None:
        """Take a finished trial's report into account: headroom from one that ran alone, and long enough to tell;
        room from one that did not, or could not for want of a lane."""
        machine, alone = report["machine"], event.get("alone", True)
        if event["parameters"]["clock"] == "virtual":
            return
        if not alone or (self._closed and self.networks[event["parameters"]["network"]].shaped):
            self._make_room(bool(event.get("crowded")))
        if alone and event["valid"] and machine.get("wall_ns", 0) >= SHORTEST_RUN_NS:
            share = own_ns(report) / (machine["wall_ns"] * machine["cpus"])
            self._busy[event["parameters"]["network"]].append(share)

    def _make_room(self, crowded: bool) -> None:
        self._calm = 0 if crowded else self._calm + 1
        if crowded:
            # One always stays open, and only as many can be given back as there are.
            self._closed = min(self._closed + 1, (self.most or self.cpus * LANES_PER_CPU) - 1)
        elif self._calm == CALM_TRIALS:
            self._closed, self._calm = max(0, self._closed - 1), 0

    def order(self, blocks: Iterable[Sequence[PlannedTrial]]) -> list[PlannedTrial]:
        """The order of starts. One trial at a time: as planned. With lanes: first what must run alone, then block after
        block, in each the longest first, so that lanes are seldom empty; levels that are compared stay as planned.

        Mixed, each trial over a plain veth would have to wait until all lanes are empty; and so would each change of
        clock, so that those of the virtual clock end their block.
        """
        planned = [trial for block in blocks for trial in block]
        if self.most == self.virtual == 1:
            return planned
        wall = [trial for trial in planned if not _virtual(trial)]
        in_order = self.most == 1 or self._compares_shaped_with_unshaped(wall)
        alone = [] if in_order else [trial for trial in wall if not self._shaped(trial)]
        first = {trial.id for trial in alone}
        longest: dict[tuple[str, ...], float] = defaultdict(float)
        for trial in planned:
            longest[self._question(trial)] = max(longest[self._question(trial)], self.estimates[trial.id])

        def place(trial: PlannedTrial) -> tuple[int, bool, float]:
            virtual = _virtual(trial)
            return trial.block, virtual, 0.0 if in_order and not virtual else -longest[self._question(trial)]

        return alone + sorted((trial for trial in planned if trial.id not in first), key=place)

    def _compares_shaped_with_unshaped(self, trials: Iterable[PlannedTrial]) -> bool:
        kinds: dict[tuple[str, ...], set[bool]] = defaultdict(set)
        for trial in trials:
            kinds[self._question(trial)].add(self._shaped(trial))
        return any(len(kind) > 1 for kind in kinds.values())

    def width(self, trial: PlannedTrial) -> int:
        """How many trials may run while this one does, itself included, as far as known."""
        if _virtual(trial):
            return self.virtual
        if not self._shaped(trial):
            return 1
        busy = self._busy[trial.parameters.network]
        headroom = statistics.median(busy) if busy else None
        most = self.most or automatic_lanes(self._rate_bps(trial), self.cpus, headroom)
        return max(1, most - self._closed)

    def admits(self, trial: PlannedTrial, beside: Sequence[PlannedTrial]) -> bool:
        """Whether `trial` may start for the first time while `beside` run."""
        both = [trial, *beside]
        return self._fit(both) and (not beside or self.most is not None or not any(map(self._unknown, both)))

    def _unknown(self, trial: PlannedTrial) -> bool:
        """Whether it is not known yet what such a trial does to the machine."""
        return not _virtual(trial) and len(self._busy[trial.parameters.network]) < TRIALS_ALONE

    def span(self, trials: Iterable[PlannedTrial], seconds: Callable[[PlannedTrial], float]) -> float:
        """How long `trials` take, started in this order as lanes become free; `seconds` of each."""
        now, running = 0.0, list[tuple[float, str, PlannedTrial]]()
        for trial in trials:
            while running and not self._fit([trial, *(other for _, _, other in running)]):
                now, _, _ = heapq.heappop(running)
            heapq.heappush(running, (now + seconds(trial), trial.id, trial))
        return max((end for end, _, _ in running), default=0.0)

    def _fit(self, trials: Sequence[PlannedTrial]) -> bool:
        if len(trials) == 1:
            return True
        one_clock = len({trial.parameters.clock for trial in trials}) == 1
        return one_clock and len(trials) <= min(self.width(trial) for trial in trials)

    def _question(self, trial: PlannedTrial) -> tuple[str, ...]:
        """The trial's treatment but for the factor that is compared."""
        return tuple(level for factor, level in trial.cell.items() if factor != self.compared)

    def _shaped(self, trial: PlannedTrial) -> bool:
        return self.networks[trial.parameters.network].shaped

    def _rate_bps(self, trial: PlannedTrial) -> float | None:
        """Of the trial's shaped links together; None where the access link has no limit in either direction."""
        p = trial.parameters
        rate = _fastest_bps(self.networks[p.network])
        behind = self.networks.get(p.backend_network or "")
        return rate if rate is None or behind is None else rate + (_fastest_bps(behind) or 0.0)


def _virtual(trial: PlannedTrial) -> bool:
    return trial.parameters.clock == "virtual"


def _fastest_bps(network: Network) -> float | None:
    """The faster direction's highest rate; None if a direction is unlimited."""
    rates = [_highest_bps(direction) for direction in (network.up, network.down)]
    return None if None in rates else max(rate for rate in rates if rate is not None)


def _highest_bps(direction: Direction | None) -> float | None:
    if direction is None or direction.rate is None:
        return None
    later = [change.rate.mean_bps for change in direction.changes or [] if change.rate]
    return max(direction.rate.mean_bps, *later) if later else direction.rate.mean_bps
