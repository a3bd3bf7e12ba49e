"""Computes what the requests or page visits of both compared levels spent their time on, and which parts make the
difference.

Each trial contributes the mean over its requests: unlike medians, means of parts add up to the mean of the whole. A
trial of page visits contributes the median visit, and a trial in which the client moves contributes the median
recovery; their parts also add up. Differences are paired within blocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell, JudgedComparison, headline
from h123.analysis.explanations.means import Means, StoredMeans
from h123.analysis.section import Section
from h123.analysis.statistics.signedrank import SignedRank
from h123.analysis.verdicts.judgement import comparisons
from h123.base.errors import UserError
from h123.causes import CAUSES, NUMBER, UNATTRIBUTED, ExplainedTrial, Stretch, explain
from h123.measures import Attempt
from h123.study import METRICS
from h123.study.metrics.quantity import PageTime, RecoveryTime, RequestTime


class SecondsBetween(TypedDict):
    """How many seconds longer the first level takes than the second, with an interval over the blocks."""

    seconds: float
    """The centre of the paired differences, a minus b."""
    low: float
    high: float
    confidence: float


class CauseRow(TypedDict):
    """A part of a request's time."""

    cause: str
    """The part's name in `h123 explain`."""
    group: str
    """The group in which `h123 why --limits` puts the part."""
    words: str
    """The part's name in tables."""
    rivals: NotRequired[Sequence[str]]
    """Groups of causes between which the evidence cannot decide; absent if the cause is clear."""
    a_seconds: float
    """The mean time in seconds, over the blocks, that level a spends on the part."""
    b_seconds: float
    difference: SecondsBetween
    size: NotRequired[float]
    """The limit on the side that spends more time on this part: the window in bytes, or the number of simultaneous
    requests on a connection."""
    round_trips: NotRequired[float]
    """The difference as a number of round trips (of the link without its queue)."""


class Sums(TypedDict):
    """Shares that show how well the parts add up to the latencies, and how much time is unattributed."""

    a_requests: float
    """The share of requests at level a whose parts add up to the latency within 2 %, averaged over trials."""
    b_requests: float
    a_unattributed: float
    """The unattributed share of level a's time."""
    b_unattributed: float


class Losses(TypedDict):
    """The mean cost of losses per request."""

    a_seconds: float
    b_seconds: float
    a_held: float
    """The seconds during which data of other requests had arrived on the connection but had to wait."""
    b_held: float


class TimeSpent(TypedDict):
    """The mean time per request that went to each cause, at both levels. For pages, it is the time of the median visit.
    Very small parts are left out."""

    blocks: int
    a_seconds: float
    """The mean time of level a over the blocks, in seconds."""
    b_seconds: float
    difference: SecondsBetween
    parts: Sequence[CauseRow]
    """The parts, largest difference first, without the small ones (NOTABLE)."""
    losses: NotRequired[Losses]
    sums: NotRequired[Sums]
    told: NotRequired[bool]
    """False if so much of one side's time is unattributed that the parts do not explain the difference."""


class CausesRow(TimeSpent):
    """The causes of one comparison."""

    metric: str
    cell: Cell
    a: str
    b: str


Seconds = NDArray[np.float64]
"""The seconds of each cause, in the order of CAUSES."""
NOTABLE = 0.005
"""The smallest share of the slower side's time that a side must spend on a part for it to get a row."""
_SIDES: Final = ("a", "b")
LOSS: Final = "loss"
VISIT: Final = "visit"
RECOVERY: Final = "recovery"
"""VISIT and RECOVERY are additional phases: VISIT in trials that load pages, RECOVERY in trials whose client moves."""
UNATTRIBUTED_AT_MOST = 0.1
"""The largest share of a side's time that may be unattributed. Beyond it, the known parts may not explain the
difference."""


def causes(case: Case, comparisons: Sequence[JudgedComparison]) -> list[CausesRow]:
    """Return the `causes` part of verdicts.json: a row for each comparison of whole requests or visits that answers the
    question, and one for the cold requests of the same levels. Comparisons whose trials have no record of packets get
    no row."""
    explanations = TrialExplanations(case)
    rows = [
        row for c in explainable_comparisons(comparisons) if (row := _row(c, case.factor, explanations)) is not None
    ]
    explanations.keep()
    return rows


def explainable_comparisons(comparisons: Sequence[JudgedComparison]) -> Iterator[JudgedComparison]:
    """Yield the comparisons of whole requests or visits that answer the question, and those of the cold requests of the
    same levels."""
    answers = headline(comparisons)
    metrics = {c["metric"] for c in answers} | {METRICS[c["metric"]].cold for c in answers}
    places = [(c["cell"], c["a"], c["b"]) for c in answers]
    for c in comparisons:
        explained = c["metric"] in metrics and explained_phase(c["metric"]) is not None
        if explained and not c["twin"] and (c["cell"], c["a"], c["b"]) in places:
            yield c


def explained_phase(metric: str) -> str | None:
    """Return which part of a trial's explanation covers the time that a metric measures. None if the metric is not
    divided into causes."""
    match METRICS[metric].of:
        case RequestTime(phase, "end_ns"):
            return phase
        case PageTime("complete"):
            return VISIT
        case RecoveryTime():
            return RECOVERY
        case _:
            return None


class TrialExplanations:
    """The explanations of a campaign's trials. Each trial's explanation is read only once."""

    def __init__(self, case: Case) -> None:
        self._evidence, facts = case.evidence, case.facts
        self._attempts = {_place(a.block, a.cell): a for a in case.attempts if not a.twin and not a.imported}
        self._read: dict[str, Mapping[str, Means]] = {}
        self._kept = StoredMeans(f"{facts.created} {facts.seed} {case.plan.study.name}")
        trials = (event for event in facts.events if event["event"] == "trial")
        self._seals = {f"{event['trial']}~{event['attempt']}": event.get("seal") for event in trials}

    def blocks(self) -> list[int]:
        return sorted({block for block, _ in self._attempts})

    def mean(self, block: int, cell: Cell, phase: str) -> Means | None:
        """Return the mean time that requests of a phase spent on each cause in one trial. None if it is unknown."""
        attempt = self._attempts.get(_place(block, cell))
        return self.of(attempt).get(phase) if attempt else None

    def of(self, attempt: Attempt) -> Mapping[str, Means]:
        """Return the mean time spent on each cause, for each phase of an attempt. Empty if the packets do not show
        it."""
        if attempt.name not in self._read:
            self._read[attempt.name] = self._means(attempt)
        return self._read[attempt.name]

    def _means(self, attempt: Attempt) -> Mapping[str, Means]:
        def explained() -> dict[str, Means]:
            return means(explain(self._evidence.of(attempt), attempt.workload.statuses()))

        seal = self._seals.get(attempt.name)
        try:
            return self._kept.means_of(seal, explained) if seal else explained()
        except UserError:  # recorded by an earlier version, or without an emulated link: no packets
            return {}

    def keep(self) -> None:
        self._kept.keep()


def means(trial: ExplainedTrial) -> dict[str, Means]:
    """Return the mean time that a trial's requests spent on each cause, by phase, and the times of its median visit and
    recovery."""
    phases, near = np.array(trial.phases), trial.sums_up
    of = {phase: phases == phase for phase in dict.fromkeys(trial.phases)}
    by_phase = {
        phase: Means(
            seconds=tuple(trial.seconds[its].mean(axis=0).tolist()),
            sums_up=float(near[its].mean()),
            held=float(trial.head_of_line[its].mean()),
            sizes=dict(trial.sizes),
            round_trip=trial.round_trip,
        )
        for phase, its in of.items()
    }
    stretches = {VISIT: trial.visits, RECOVERY: trial.recoveries}
    return by_phase | {name: _mean(of, trial) for name, of in stretches.items() if of}


def _mean(of: Sequence[Stretch], trial: ExplainedTrial) -> Means:
    return Means(
        seconds=tuple(np.mean([mean.seconds for mean in of], axis=0).tolist()),
        sums_up=float(np.mean([mean.sums_up for mean in of])),
        held=float(np.mean([mean.head_of_line for mean in of])),
        sizes=dict(trial.sizes),
        round_trip=trial.round_trip,
    )


def _place(block: int, cell: Cell) -> tuple[int, tuple[tuple[str, str], ...]]:
    return block, tuple(sorted(cell.items()))


def _row(c: JudgedComparison, factor: str, explanations: TrialExplanations) -> CausesRow | None:
    phase = explained_phase(c["metric"])
    assert phase
    sides = (
        [explanations.mean(block, {**c["cell"], factor: c[side]}, phase) for block in explanations.blocks()]
        for side in _SIDES
    )
    pairs = [(a, b) for a, b in zip(*sides, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    seconds = between([a for a, _ in pairs], [b for _, b in pairs])
    return {"metric": c["metric"], "cell": c["cell"], "a": c["a"], "b": c["b"], **seconds}


def between(mine: Sequence[Means], others: Sequence[Means]) -> TimeSpent:
    """Return the mean time that each level spent on each cause over the blocks, and the differences between the
    levels."""
    a, b = (np.array([mean.seconds for mean in side]) for side in (mine, others))
    sums = _sums(mine, others, a, b)
    return {
        "blocks": len(a),
        "a_seconds": float(a.sum(axis=1).mean()),
        "b_seconds": float(b.sum(axis=1).mean()),
        "difference": seconds_between((a - b).sum(axis=1)),
        "parts": sorted(_parts(a, b, mine, others), key=lambda part: -abs(part["difference"]["seconds"])),
        "losses": {
            "a_seconds": _of_losses(a),
            "b_seconds": _of_losses(b),
            "a_held": float(np.mean([mean.held for mean in mine])),
            "b_held": float(np.mean([mean.held for mean in others])),
        },
        "sums": sums,
        "told": max(sums["a_unattributed"], sums["b_unattributed"]) <= UNATTRIBUTED_AT_MOST,
    }


def _of_losses(seconds: Seconds) -> float:
    """Return the seconds that losses cost the mean request."""
    return float(sum(seconds[:, number].mean() for cause, number in NUMBER.items() if cause.group == LOSS))


def _sums(mine: Sequence[Means], others: Sequence[Means], a: Seconds, b: Seconds) -> Sums:
    return {
        "a_requests": float(np.mean([mean.sums_up for mean in mine])),
        "b_requests": float(np.mean([mean.sums_up for mean in others])),
        "a_unattributed": _unattributed(a),
        "b_unattributed": _unattributed(b),
    }


def _unattributed(seconds: Seconds) -> float:
    """Return the unattributed share of one side's time, over all its blocks."""
    return float(seconds[:, NUMBER[UNATTRIBUTED]].sum() / seconds.sum())


def _parts(a: Seconds, b: Seconds, mine: Sequence[Means], others: Sequence[Means]) -> Iterator[CauseRow]:
    """Yield the parts from both sides' seconds, which are arrays of shape (blocks, causes)."""
    least = NOTABLE * max(a.sum(axis=1).mean(), b.sum(axis=1).mean())
    trip = float(np.median([mean.round_trip for mean in (*mine, *others)]))
    for number, cause in enumerate(CAUSES):
        first, second = a[:, number], b[:, number]
        if max(first.mean(), second.mean()) < least:
            continue
        part: CauseRow = {
            "cause": cause.name,
            "group": cause.group,
            "words": cause.words,
            "a_seconds": float(first.mean()),
            "b_seconds": float(second.mean()),
            "difference": seconds_between(first - second),
        }
        if cause.rivals:
            part["rivals"] = list(cause.rivals)
        longer = mine if first.mean() >= second.mean() else others
        if sizes := [mean.sizes[cause.name] for mean in longer if cause.name in mean.sizes]:
            part["size"] = float(np.median(sizes))
        if trip > 0 and cause.in_trips:
            part["round_trips"] = abs(part["difference"]["seconds"]) / trip
        yield part


def seconds_between(seconds: Seconds) -> SecondsBetween:
    """Return the difference between both sides, from one value for each block."""
    estimate = SignedRank(seconds).estimate()
    return {"seconds": estimate.centre, "low": estimate.low, "high": estimate.high, "confidence": estimate.confidence}


class CausesPart(TypedDict):
    causes: NotRequired[Sequence[CausesRow]]
    """The causes of each comparison of whole requests or visits that answers the question, and of the cold requests of
    the same levels. Empty without a record of packets."""


def _compute(case: Case) -> CausesPart:
    return {"causes": [] if case.facts.imported else causes(case, comparisons(case))}


SECTION = Section(CausesPart, _compute)
