"""Decides how many trials run at the same time, and which ones (docs/architecture.md).

Trials may share a machine only if the link is by far the bottleneck, so that the processors are mostly idle. A trial
over a plain veth runs alone, and so does every repeated trial. With `--jobs N`, up to N trials over emulated links run
at the same time.

Without `--jobs`, h123 chooses the number. The rates of the trials' links may add up to `JOB_BPS_PER_CPU` for each
processor, and the trials may use `BUSY_TARGET` of the processors' time. h123 measures this fraction for each network,
and assumes a fraction of `UNKNOWN_SHARE` until the first trial over the network has ended.

If a trial waited too long for processors that other trials used (`crowded` in the journal), one trial fewer may run at
the same time. After `CALM_TRIALS` trials without such waiting, one trial more may run.

Nothing can disturb trials under the virtual clock, so as many run at once as processors and memory allow. They never
run at the same time as trials under the wall clock, which they would disturb.
"""

import heapq
import statistics
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import Field

from h123.documents.events import AttemptFacts
from h123.documents.lab_report import Report
from h123.documents.shapes import Count, Shape
from h123.execution.machine import Machine
from h123.measures import SHARES_MEASURABLE_NS, own_ns
from h123.study import Network, Plan, PlannedTrial, estimate_blocks, unrolled
from h123.study.networks.network import Direction

UNKNOWN_SHARE = 0.1
"""The fraction of all processors' time that a trial is assumed to use until a trial over its network has ended."""
JOB_BPS_PER_CPU = 100e6
"""The largest total rate of the links of simultaneous trials, in bit/s per processor. Measured: at a tenth of this
rate, client, server and link take about a tenth of a processor."""
BUSY_TARGET = 0.4
"""The largest fraction of all processors' time that simultaneous trials are expected to use, so that bursts rarely
coincide."""
JOBS_PER_CPU = 8
"""The largest number of simultaneous trials per processor that h123 chooses. Measured with 6 per processor (12 trials
on 2 processors): links deliver packets as punctually as with a single trial."""
CALM_TRIALS = 8
"""The number of undisturbed trials after which the number of simultaneous trials, if crowding had reduced it, may grow
by one."""
VIRTUAL_TRIAL_BYTES = 2**30
"""The memory in bytes of the kernel that runs a trial under the virtual clock."""


def virtual_jobs(cpus: int, memory_bytes: int) -> int:
    """Return the number of simultaneous trials under the virtual clock. Each of them keeps one processor busy."""
    return max(1, min(cpus, memory_bytes // VIRTUAL_TRIAL_BYTES))


class Headroom(Shape):
    """What finished trials show about how many trials their machine can run at the same time."""

    busy: dict[str, list[float]] = Field(default={})
    """For each network, the fraction of all processors' time that each of its trials used."""
    open: Count = 0
    """The limit on simultaneous trials after trials crowded each other. 0: there is no such limit."""
    widest: Count = 0
    """The largest number of simultaneous trials so far."""
    calm: Count = 0
    """The number of uncrowded trials since the last crowded trial or the last change of the limit."""


@dataclass
class Jobs:
    """A rule that decides which trials of a campaign run at the same time on a machine. It learns from finished
    trials."""

    networks: dict[str, Network]
    compared: str
    estimates: dict[str, float]
    """The expected duration of each trial in seconds."""
    cpus: int
    most: int | None
    """The largest number of simultaneous trials, whatever their links. None: rates and measured headroom decide."""
    virtual: int
    """The largest number of simultaneous trials under the virtual clock."""
    headroom: Headroom

    @classmethod
    def of(cls, plan: Plan, requested_jobs: int | None, cpus: int, memory_bytes: int) -> Self:
        """Return the rule for `plan` on a machine of this size. `requested_jobs` is the number that the user gave, if
        any."""
        if any(server.address is not None for server in plan.study.servers.values()):
            requested_jobs = 1  # such a server runs once, for all trials
        return cls.ruled(
            plan.blocks, plan.study.networks, plan.study.compare.factor, requested_jobs, cpus, memory_bytes
        )

    @classmethod
    def ruled(
        cls,
        blocks: Iterable[Sequence[PlannedTrial]],
        networks: dict[str, Network],
        compared: str,
        most: int | None,
        cpus: int,
        memory_bytes: int,
        headroom: Headroom | None = None,
    ) -> Self:
        """Return the rule for simultaneous trials of these blocks, based on what is known about the machine."""
        estimates = {trial: cost.seconds for trial, cost in estimate_blocks(blocks, networks).items()}
        virtual = most or virtual_jobs(cpus, memory_bytes)
        whole = {name: unrolled(network) for name, network in networks.items()}
        return cls(whole, compared, estimates, cpus, most, virtual, headroom or Headroom(busy={}))

    @classmethod
    def at(cls, plan: Plan, requested_jobs: int | None, machine: Machine) -> Self:
        """Return the rule for simultaneous trials of `plan` on a machine."""
        return cls.of(plan, requested_jobs, machine.cpus, machine.memory_bytes)

    def learn(self, event: AttemptFacts, report: Report) -> None:
        """Learn from the report of a finished trial: how much processor time trials over the same network need, and
        whether more trials could run at the same time."""
        machine, alone = report.machine, event.get("alone", True)
        if event["parameters"]["clock"] == "virtual":
            return
        if not alone or (self.headroom.open and self.networks[event["parameters"]["network"]].shaped):
            self._make_room(bool(event.get("crowded")))
        if event["valid"] and machine.wall_ns >= SHARES_MEASURABLE_NS:
            share = own_ns(report) / (machine.wall_ns * machine.cpus)
            self.headroom.busy.setdefault(event["parameters"]["network"], []).append(share)

    def _make_room(self, crowded: bool) -> None:
        self.headroom.calm = 0 if crowded else self.headroom.calm + 1
        if crowded:
            self.headroom.open = max(1, (self.headroom.open or self.headroom.widest or self._most) - 1)
        elif self.headroom.calm == CALM_TRIALS and self.headroom.open:
            self.headroom.open, self.headroom.calm = self.headroom.open + 1, 0
            if self.headroom.open >= self._most:
                self.headroom.open = 0

    @property
    def _most(self) -> int:
        return self.most or self.cpus * JOBS_PER_CPU

    def order(self, blocks: Iterable[Sequence[PlannedTrial]]) -> list[PlannedTrial]:
        """Return the order in which trials start. With one trial at a time, this is the plan's order. With more, the
        trials that must run alone come first, then block after block, the longest trials first, so that the machine is
        rarely idle. Compared levels keep the plan's order.

        If trials over a plain veth were mixed in, each would have to wait until all other trials have ended. A change
        of clock has to wait for all other trials too, so trials under the virtual clock come last in their block.
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

        def rank(trial: PlannedTrial) -> tuple[int, bool, float]:
            virtual = _virtual(trial)
            return trial.block, virtual, 0.0 if in_order and not virtual else -longest[self._question(trial)]

        return alone + sorted((trial for trial in planned if trial.id not in first), key=rank)

    def _compares_shaped_with_unshaped(self, trials: Iterable[PlannedTrial]) -> bool:
        kinds: dict[tuple[str, ...], set[bool]] = defaultdict(set)
        for trial in trials:
            kinds[self._question(trial)].add(self._shaped(trial))
        return any(len(kind) > 1 for kind in kinds.values())

    def width(self, trial: PlannedTrial) -> int:
        """Return how many trials like this one may run at the same time, including itself, based on the trials so
        far."""
        most = self.virtual if _virtual(trial) else self._most
        return next((n for n in range(most, 1, -1) if self._fit([trial] * n)), 1)

    def admits(self, trial: PlannedTrial, others: Sequence[PlannedTrial]) -> bool:
        """Return whether `trial` may start for the first time while `others` are running."""
        both = [trial, *others]
        if not self._fit(both):
            return False
        self.began(len(both))
        return True

    def began(self, at_once: int) -> None:
        self.headroom.widest = max(self.headroom.widest, at_once if at_once > 1 else 0)

    def span(self, trials: Iterable[PlannedTrial], seconds: Callable[[PlannedTrial], float]) -> float:
        """Return how long `trials` take if they start in this order, each as soon as there is room for it. `seconds`
        gives the duration of each."""
        now, running = 0.0, list[tuple[float, str, PlannedTrial]]()
        for trial in trials:
            while running and not self._fit([trial, *(other for _, _, other in running)]):
                now, _, _ = heapq.heappop(running)
            heapq.heappush(running, (now + seconds(trial), trial.id, trial))
        return max((end for end, _, _ in running), default=0.0)

    def _fit(self, trials: Sequence[PlannedTrial]) -> bool:
        if len(trials) == 1:
            return True
        if any(map(_virtual, trials)):
            return all(map(_virtual, trials)) and len(trials) <= self.virtual
        rates = [self._rate_bps(trial) if self._shaped(trial) else None for trial in trials]
        shaped = [rate for rate in rates if rate is not None]
        if len(trials) > (self.headroom.open or self._most) or not all(map(self._shaped, trials)):
            return False
        if self.most is not None:
            return True
        if len(shaped) < len(trials):
            return False
        busy = sum(
            statistics.median(self.headroom.busy.get(trial.parameters.network) or [UNKNOWN_SHARE]) for trial in trials
        )
        return sum(shaped) <= self.cpus * JOB_BPS_PER_CPU and busy <= BUSY_TARGET + 1e-9

    def _question(self, trial: PlannedTrial) -> tuple[str, ...]:
        """Return the trial's treatment without the compared factor."""
        return tuple(level for factor, level in trial.cell.items() if factor != self.compared)

    def _shaped(self, trial: PlannedTrial) -> bool:
        return self.networks[trial.parameters.network].shaped

    def _rate_bps(self, trial: PlannedTrial) -> float | None:
        """Return the total rate of the trial's shaped links in bit/s. None if either direction of the access link is
        unlimited."""
        p = trial.parameters
        rate = _fastest_bps(self.networks[p.network])
        behind = self.networks.get(p.backend_network or "")
        return rate if rate is None or behind is None else rate + (_fastest_bps(behind) or 0.0)


def _virtual(trial: PlannedTrial) -> bool:
    return trial.parameters.clock == "virtual"


def _fastest_bps(network: Network) -> float | None:
    """Return the highest rate of the faster direction. None if either direction is unlimited."""
    rates = [_highest_bps(direction) for direction in (network.up, network.down)]
    return None if None in rates else max(rate for rate in rates if rate is not None)


def _highest_bps(direction: Direction | None) -> float | None:
    if direction is None or direction.rate is None:
        return None
    later = [change.rate.mean_bps for change in direction.changes or [] if change.rate]
    return max(direction.rate.mean_bps, *later) if later else direction.rate.mean_bps


class Forecast:
    """A forecast of how long future trials take, from the plan's estimates and this campaign's measurements so far.

    For a treatment that has run, the forecast is the mean of its trials. For any other treatment, the estimate is
    multiplied by the ratio of measured to estimated seconds over all trials so far.
    """

    def __init__(self, estimates: dict[str, float]) -> None:
        self._estimates = estimates
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._seconds = self._estimated = 0.0

    def learn(self, trial: PlannedTrial, seconds: float) -> None:
        self._measured[_treatment(trial)].append(seconds)
        self._seconds += seconds
        self._estimated += self._estimates[trial.id]

    def seconds(self, trial: PlannedTrial) -> float:
        measured = self._measured.get(_treatment(trial))
        if measured:
            return sum(measured) / len(measured)
        return self._estimates[trial.id] * (self._seconds / self._estimated if self._estimated else 1.0)


def _treatment(trial: PlannedTrial) -> str:
    return "/".join(trial.cell.values())


@dataclass
class Running:
    trial: PlannedTrial
    attempt: int
    repeat: bool
    """Whether the trial has already run on this machine."""
    position: int
    lane: int
    check: bool
    began: float
    alone: bool
    """Whether no other trial has run at the same time so far."""


@dataclass(eq=False)
class MachineQueue:
    """The trials that wait or run on a machine, and what they share: processors and link checks."""

    jobs: Jobs
    waiting: deque[PlannedTrial] = field(default_factory=deque)
    running: dict[Path, Running] = field(default_factory=dict)
    _checked: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)

    def may_start(self, trial: PlannedTrial, *, repeat: bool) -> bool:
        others = self.running.values()
        if not others:
            return True
        if repeat or any(running.repeat for running in others):
            return False  # repeats run alone
        return self.jobs.admits(trial, [running.trial for running in others])

    def free_lane(self) -> int:
        """Return the lowest lane number, from 1, that no running trial occupies."""
        return min(set(range(1, len(self.running) + 2)) - {running.lane for running in self.running.values()})

    def unchecked(self, trial: PlannedTrial) -> bool:
        """Return whether the trial's links still need the check that links get once per block."""
        links = trial.parameters.checked_links()
        checking = {r.trial.parameters.checked_links() for r in self.running.values() if r.check}
        return (trial.block, links) not in self._checked and links not in checking

    def checked(self, trial: PlannedTrial) -> None:
        self._checked.add((trial.block, trial.parameters.checked_links()))

    def begin(self, folder: Path, running: Running) -> None:
        for other in self.running.values():
            other.alone = False
        self.running[folder] = running
