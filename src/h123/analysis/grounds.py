"""Grounds for which a comparison is not judged, whatever its figures: they rest on data that cannot be relied on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from h123.analysis.answers import Answers, answers_words
from h123.analysis.audits import SPOILS, Failed
from h123.analysis.audits.finding import CampaignAudit
from h123.analysis.comparisons import Comparison
from h123.analysis.failures import Shares, mean_difference
from h123.analysis.trials import Treated
from h123.study import METRICS, Network, Plan, timeless

MOSTLY = 0.5
"""Share of its values above which a comparison may be of the machine and not of the levels."""
MACHINE, FAILURES, AUDITS, TIMELESS, ANSWERS = "machine", "failures", "audits", "timeless", "answers"
_NAMED = 2


@dataclass(frozen=True)
class Ground:
    """Which kind, and why, in words."""

    kind: str
    why: str


class Grounds:
    """All that speaks against judging, of one campaign."""

    def __init__(
        self,
        audits: Iterable[Failed],
        shares: Shares,
        plan: Plan,
        campaign: Sequence[CampaignAudit] = (),
        networks: Mapping[str, Network] | None = None,
        answers: Answers | None = None,
    ) -> None:
        """`campaign`: audits of the whole that comparisons are qualified by; `networks`: profiles by name."""
        self._study, self._factor = plan.study, plan.study.compare.factor
        self._shares, self._tolerated = shares, plan.study.compare.failures
        self._campaign, self._networks = campaign, networks or {}
        self._answers = answers if plan.study.compare.answers == "alike" else None
        self._audits: dict[Treated, list[str]] = defaultdict(list)
        for one in audits:
            self._audits[one.trial].append(one.audit)

    def against(self, comparison: Comparison) -> Ground | None:
        """The weightiest; None where there is none."""
        return (
            self._answered(comparison)
            or self._spoiled(comparison)
            or self._failures(comparison)
            or self._timeless(comparison)
            or _machine(comparison)
        )

    def qualified(self, c: Comparison) -> list[str]:
        """The audits of load, chance and order that it failed: the verdict stands, and they are named beside it."""
        of_trials = {audit for audits in self._failed(c).values() for audit in audits if not SPOILS[audit]}
        return sorted(of_trials | {audit.name for audit in self._campaign if audit.qualifies(c)})

    def _answered(self, c: Comparison) -> Ground | None:
        """The two sides did different work."""
        found = self._answers.between(c.cell, c.a, c.b) if self._answers and not c.twin else None
        return Ground(ANSWERS, f"{answers_words(found)}: they do different work") if found else None

    def _spoiled(self, c: Comparison) -> Ground | None:
        """Audits that call impossible or mistaken what the trials of the comparison gave for its metric."""
        found = {
            trial: names
            for trial, audits in self._failed(c).items()
            if (names := {audit for audit in audits if c.metric in SPOILS[audit]})
        }
        if not found:
            return None
        said = "one of its trials" if len(found) == 1 else f"{len(found)} of its trials"
        return Ground(AUDITS, f"{said} failed {named(sorted(set().union(*found.values())))}")

    def _failed(self, c: Comparison) -> dict[Treated, list[str]]:
        """By trial. A factor that the comparison's cell leaves open is open here too."""
        sides = [({**c.cell, self._factor: level}.items(), twin) for level, twin in ((c.a, False), (c.b, c.twin))]
        blocks = {pair.block for pair in c.pairs}
        return {
            trial: audits
            for trial, audits in self._audits.items()
            if trial.block in blocks
            and any(trial.twin == twin and cell <= dict(trial.cell).items() for cell, twin in sides)
        }

    def _failures(self, c: Comparison) -> Ground | None:
        """More requests of one side failed than of the other: what is left of it is a choice of the quicker ones."""
        if c.twin or not METRICS[c.metric].of_requests:
            return None
        pairs = self._shares.pairs(c.cell, c.a, c.b)
        if mean_difference(pairs) <= self._tolerated:
            return None
        a, b = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        gone = " or are missing" if self._shares.survivors.missing else ""
        return Ground(
            FAILURES,
            f"{a:.1%} of {c.a}'s requests failed{gone} and {b:.1%} of {c.b}'s: the times of those that are left would "
            f"favour the side that fails (the study tolerates a difference of {self._tolerated:.1%})",
        )

    def _timeless(self, c: Comparison) -> Ground | None:
        """Its times are of trials in which nothing takes any (study/timeless.py)."""
        sides = (self._study.parameters({**c.cell, self._factor: level}) for level in (c.a, c.b))
        names = dict.fromkeys(side.network for side in sides if timeless(side, self._networks))
        if not names or not METRICS[c.metric].of_requests:
            return None
        return Ground(
            TIMELESS,
            f"under the virtual clock nothing takes time over {' and '.join(names)}, which has no delay and no rate: "
            "what is left are microseconds that programs take to read the clock",
        )


def _machine(comparison: Comparison) -> Ground | None:
    """In half of the blocks or more most of what was measured may be the machine's (docs/disturbances.md)."""
    if not comparison.pairs or float(np.median([pair.share for pair in comparison.pairs])) <= MOSTLY:
        return None
    return Ground(MACHINE, "the machine was so busy that most of these values may be its doing")


def named(audits: Sequence[str]) -> str:
    """`loss-off`, `status-wrong` and 2 more audits."""
    more = len(audits) - _NAMED
    return f"`{'`, `'.join(audits[:_NAMED])}`" + (f" and {more} more audits" if more > 0 else "")
