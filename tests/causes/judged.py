"""Whether what is said of a made cause is right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from causes.made import Case, Kind, Pair, Truth, drawn
from causes.scene import WORK, Bench, Scene, Spent, by_group
from h123.causes import CAUSES, Cause

Verdict = Literal["right", "rivals", "wrong", "void"]
_TRIES: Final = 4
"""Draws of a case, until its cause costs something."""
_NOTABLE: Final = 0.15, 0.0005
"""Share of the time, and seconds, that a cause must cost: less is no cause of the whole."""
_NEAR: Final = 0.7
"""A cause that costs this much of what the other one costs is right to name as well."""


@dataclass(frozen=True)
class Judged:
    """What is said of one case."""

    case: Case
    verdict: Verdict
    """rivals: the truth is among those between which the analysis cannot choose; void: the cause cost nothing."""
    truth: Truth
    said: str
    """The largest group, or the cause where the truth is one."""
    groups: Mapping[str, float]
    """Seconds of the difference to the trial without the cause, or of the trial's own time."""
    cost: float
    latency: float
    missed: Mapping[str, float]
    """By clock, the share of the latency by which the parts miss it."""
    alone: bool | None
    """Whether the trial with the cause names it by itself; None: the cause takes less than half of its time."""

    def __str__(self) -> str:
        shown = sorted(((of * 1e3, name) for name, of in self.groups.items()), key=lambda one: -abs(one[0]))
        parts = ", ".join(f"{name} {ms:+.1f}" for ms, name in shown[:5] if abs(ms) >= 0.05)
        costs = f"{self.cost * 1e3:.1f} of {self.latency * 1e3:.1f} ms"
        return f"{self.verdict}: {self.case}: {costs}: {parts}; truth: {', '.join(sorted(self.truth))}"


def judged(bench: Bench, seed: int, number: int) -> Judged:
    """The case of this number, drawn again where its cause costs nothing."""
    for again in range(_TRIES):
        found = _judged(bench, drawn(seed, number, again=again), f"{number}" + (f"-again{again}" if again else ""))
        if found.verdict != "void":
            break
    return found


def _judged(bench: Bench, case: Case, name: str) -> Judged:
    pair, trials = case.pair, dict[str, Spent]()
    for part, scene in _scenes(pair):
        trials[part] = bench.spent(scene, f"{name}-{part}", case.seed)
    made, without = trials["made"], trials.get("without")
    seconds = made.seconds - without.seconds if without else made.seconds
    cost = made.latency - without.latency if without else made.latency
    groups = by_group(seconds)
    if bench.clock_of(pair.made) == "wall":
        noise = set(WORK) - case.kind.truth  # of a busy machine
        groups = {group: of for group, of in groups.items() if group not in noise}
    truth = _truth(case.kind, pair, shares({part: spent.latency for part, spent in trials.items()}))
    found, said = verdict(groups, seconds, truth)
    alone = verdict(by_group(made.seconds), made.seconds, truth)[0] != "wrong" if cost > made.latency / 2 else None
    if cost < max(_NOTABLE[0] * made.latency, _NOTABLE[1]):
        found = "void"
    return Judged(case, found, truth, said, groups, cost, made.latency, {bench.clock_of(pair.made): made.missed}, alone)


def _scenes(pair: Pair) -> Iterator[tuple[str, Scene]]:
    yield "made", pair.made
    if pair.without:
        yield "without", pair.without
    for number, (_, scene) in enumerate(pair.each):
        yield f"without-{number}", scene


def shares(latencies: Mapping[str, float]) -> list[float]:
    """Seconds that each of two causes costs: the mean of what it adds to the other one, and of what it adds by itself,
    since what one costs may hide behind the other, or grow with it."""
    if "without-0" not in latencies:
        return []
    both, neither = latencies["made"], latencies["without"]
    first, second = latencies["without-1"], latencies["without-0"]
    return [(both - second + first - neither) / 2, (both - first + second - neither) / 2]


def _truth(kind: Kind, pair: Pair, costs: Sequence[float]) -> Truth:
    """What is right to name; of two causes the one that costs more, or both."""
    if pair.exact:
        return pair.exact
    if not pair.each or kind.either:
        return kind.truth
    return Truth().union(*(of for (of, _), cost in zip(pair.each, costs, strict=True) if cost >= _NEAR * max(costs)))


def verdict(
    groups: Mapping[str, float], seconds: NDArray[np.float64], truth: Truth, causes: Sequence[Cause] = CAUSES
) -> tuple[Verdict, str]:
    """Whether the largest group is the truth, and what it is called. `seconds`: of each cause."""
    largest = max(groups, key=lambda group: groups[group])
    within = [(cause, float(of)) for cause, of in zip(causes, seconds, strict=True) if cause.group == largest]
    first = max(within, key=lambda one: one[1])[0]
    said = first.name if largest not in truth and first.name in truth else largest
    if said in truth:
        return "right", said
    group_of = {cause.name: cause.group for cause in causes}
    named = [name for cause, of in within if of > 0 for name in getattr(cause, "rivals", ())]
    rivals = {*named, *(group_of.get(name, name) for name in named)}
    return ("rivals" if rivals & truth else "wrong"), said
