"""Finds the reasons not to judge a comparison, such as unreliable data."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from h123.analysis.audits import REMEDIES, SPOILS, Failed, order_audits, trial_audits
from h123.analysis.audits.disturbances import unlike_between
from h123.analysis.audits.finding import CampaignAudit
from h123.analysis.case import Case, once
from h123.analysis.comparisons.answers import Answers, answers, answers_words
from h123.analysis.comparisons.comparison import PairedComparison
from h123.analysis.comparisons.failed_attempts import (
    FailedAttemptsRow,
    Treatment,
    failed_of,
    failed_words,
    fails_often,
    unmeasured,
)
from h123.analysis.comparisons.failures import Shares, mean_difference, shares
from h123.analysis.trials import Treated
from h123.base.units import format_seconds
from h123.measures import Attempt
from h123.study import METRICS, Network, Plan, timeless

MOSTLY = 0.5
"""The share of the measured value that may be machine noise, as the median over a comparison's blocks, above which the
comparison is not judged."""
MACHINE, FAILURES, AUDITS, TIMELESS, ANSWERS = "machine", "failures", "audits", "timeless", "answers"
ATTEMPTS, UNMEASURED, UNLIKE = "attempts", "unmeasured", "disturbed"
READINGS_S, READINGS_S_PER_BYTE = 1e-4, 5e-9
"""The longest times, in seconds, by which reading the virtual clock can advance it: per request of one user, and per
byte of the request's and the response's bodies. Measured over a plain veth with the clients `go` and `load`: 10 to 30
µs per request, and up to 2 ns per byte over HTTP/3."""
_NAMED = 2


@dataclass(frozen=True)
class Exclusion:
    kind: str
    why: str


class Exclusions:
    def __init__(
        self,
        audits: Iterable[Failed],
        shares: Shares,
        plan: Plan,
        campaign: Sequence[CampaignAudit] = (),
        networks: Mapping[str, Network] | None = None,
        answers: Answers | None = None,
        attempts: Sequence[Attempt] = (),
        failed: Sequence[FailedAttemptsRow] = (),
        unmeasured: Mapping[Treatment, Counter[str]] | None = None,
    ) -> None:
        """Collect the evidence.

        `campaign`: audits of the whole campaign that qualify comparisons. `networks`: profiles by name. `attempts`: the
        measured attempts. `failed`: treatments with failed attempts. `unmeasured`: treatments without a valid attempt,
        with the reasons.
        """
        self._unmeasured = unmeasured or {}
        self._attempts, self._stuck = attempts, [row for row in failed if fails_often(row)]
        self._study, self._factor = plan.study, plan.study.compare.factor
        self._shares, self._tolerated = shares, plan.study.compare.failures
        self._campaign, self._networks = campaign, networks or {}
        self._answers = answers if plan.study.compare.answers == "alike" else None
        self._audits: dict[Treated, list[str]] = defaultdict(list)
        for audit in audits:
            self._audits[audit.trial].append(audit.audit)

    def against(self, comparison: PairedComparison) -> Exclusion | None:
        """Return the most important reason not to judge the comparison, or None."""
        return (
            self._answered(comparison)
            or self._failed_often(comparison)
            or self._nothing_valid(comparison)
            or self._spoiled(comparison)
            or self._failures(comparison)
            or self._timeless(comparison)
            or _machine(comparison)
            or self._disturbed_unlike(comparison)
        )

    def qualified(self, c: PairedComparison) -> dict[str, int]:
        """Return the failed audits that do not prevent a verdict on the comparison, with the number of the comparison's
        trials that failed each, which is 0 for audits of the whole campaign. The verdict's note names them."""
        of_trials = Counter(audit for audits in self._failed(c).values() for audit in {*audits} if not SPOILS[audit])
        campaign = {audit.name: 0 for audit in self._campaign if audit.qualifies(c)}
        return dict(sorted({**campaign, **of_trials}.items()))

    def _answered(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison whose sides sent responses of different sizes to the same requests."""
        difference = self._answers.between(c.cell, c.a, c.b) if self._answers and not c.twin else None
        return Exclusion(ANSWERS, f"{answers_words(difference)}: they do different work") if difference else None

    def _failed_often(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison if one side often fails or responds wrongly, because its valid attempts show only the
        times when it worked."""
        sides = [{**c.cell, self._factor: level}.items() for level in (c.a, c.b)]
        stuck = [row for row in self._stuck if not c.twin and any(side <= row["cell"].items() for side in sides)]
        return Exclusion(ATTEMPTS, failed_words(stuck[0], self._factor)) if stuck else None

    def _nothing_valid(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison if all attempts of one of its sides are invalid."""
        for level, had in zip((c.a, c.b), self._trials(c), strict=True):
            side = {**c.cell, self._factor: level}.items()
            reasons = [codes for cell, codes in self._unmeasured.items() if side <= dict(cell).items()]
            if reasons and not had:
                codes = sum(reasons, Counter[str]())
                why = ", ".join(f"{count} {code}" for code, count in codes.items())
                return Exclusion(UNMEASURED, f"no attempt of {level} is valid ({why})")
        return None

    def _disturbed_unlike(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison whose sides the machine disturbed unequally."""
        if c.twin or c.a == c.b or not METRICS[c.metric].of_requests:
            return None
        difference = unlike_between(self._attempts, self._study, c.cell, c.a, c.b)
        if difference is None or difference.passed:
            return None
        return Exclusion(
            UNLIKE, f"the machine disturbed one side more, so it may have caused the ratio: {difference.detail}"
        )

    def _spoiled(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison if its trials failed audits that show that the values of its metric are impossible or
        wrong."""
        failures = {
            trial: names
            for trial, audits in self._failed(c).items()
            if (names := {audit for audit in audits if c.metric in SPOILS[audit]})
        }
        if not failures:
            return None
        share = "one of its trials" if len(failures) == 1 else f"{len(failures)} of its trials"
        audits = sorted(set().union(*failures.values()))
        mended = [f": {REMEDIES[name]}" for name in audits if name in REMEDIES][:1]
        return Exclusion(AUDITS, f"{share} failed {audit_names(audits)}{''.join(mended)}")

    def _failed(self, c: PairedComparison) -> dict[Treated, list[str]]:
        """Return the failed audits of the comparison's trials. If the cell does not set a factor, include the trials at
        all levels of this factor."""
        sides = [({**c.cell, self._factor: level}.items(), twin) for level, twin in ((c.a, False), (c.b, c.twin))]
        blocks = {pair.block for pair in c.pairs}
        return {
            trial: audits
            for trial, audits in self._audits.items()
            if trial.block in blocks
            and any(trial.twin == twin and cell <= dict(trial.cell).items() for cell, twin in sides)
        }

    def _failures(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison if its sides' failure rates differ by more than the study tolerates, because the
        remaining times favour the side that fails more."""
        if c.twin or not METRICS[c.metric].of_requests:
            return None
        pairs = self._shares.pairs(c.cell, c.a, c.b)
        if mean_difference(pairs) <= self._tolerated:
            return None
        a, b = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        or_missing = " or are missing" if self._shares.survivors.missing else ""
        return Exclusion(
            FAILURES,
            f"{a:.1%} of {c.a}'s requests failed{or_missing} and {b:.1%} of {c.b}'s: the times of the remaining ones "
            f"would favour the side that fails (the study tolerates a difference of {self._tolerated:.1%})",
        )

    def _timeless(self, c: PairedComparison) -> Exclusion | None:
        """Exclude a comparison of trials in which nothing takes time (study/plan.py), unless the measured times show
        that something did."""
        sides = (self._study.parameters({**c.cell, self._factor: level}) for level in (c.a, c.b))
        names = dict.fromkeys(side.network for side in sides if timeless(side, self._networks))
        if not names or not METRICS[c.metric].of_requests:
            return None
        took, readings = self._took(c), self._readings(c)
        if took is not None and took > readings:
            return None  # a program waited, for example a handler that sleeps
        measured = f"the {format_seconds(took)} that were measured are" if took is not None else "what is left is"
        return Exclusion(
            TIMELESS,
            f"under the virtual clock nothing takes time over {' and '.join(names)}, which has no delay and no rate: "
            f"{measured} what programs take to read the clock (up to {format_seconds(readings)})",
        )

    def _took(self, c: PairedComparison) -> float | None:
        """Return the time of the slower side in seconds, by the comparison's metric, or by latency if that metric is
        not a time."""
        if METRICS[c.metric].unit == "s":
            sides = [[pair.a for pair in c.pairs if pair.whole], [pair.b for pair in c.pairs if pair.whole]]
        else:
            sides = [
                [value for attempt in side if (value := attempt.metrics["latency"]) is not None]
                for side in self._trials(c)
            ]
        medians = [float(np.median(side)) for side in sides if side]
        return max(medians, default=None)

    def _readings(self, c: PairedComparison) -> float:
        """Return the longest time, in seconds, that reading the clock can add to the comparison's times."""
        mine = [attempt for side in self._trials(c) for attempt in side]
        return max((_readings(attempt) for attempt in mine), default=0.0)

    def _trials(self, c: PairedComparison) -> list[list[Attempt]]:
        cells = [{**c.cell, self._factor: level}.items() for level in (c.a, c.b)]
        return [[attempt for attempt in self._attempts if cell <= attempt.cell.items()] for cell in cells]


@once
def exclusions(case: Case) -> Exclusions:
    return Exclusions(
        trial_audits(case).failed,
        shares(case),
        case.plan,
        order_audits(case),
        case.networks,
        answers(case),
        case.attempts,
        failed_of(case),
        unmeasured(case),
    )


def _readings(attempt: Attempt) -> float:
    """Return the longest time, in seconds, by which the clock readings of all users can lengthen a request of this
    trial, or a visit."""
    s, p = attempt.summary, attempt.parameters
    users, requests_per_user = p["users"] or 1, p["requests"] or 1
    requests = max(1.0, s.warm / (users * requests_per_user))
    return float(
        users * requests * (READINGS_S + READINGS_S_PER_BYTE * ((s.bytes_up_max or 0) + (s.bytes_down_max or 0)))
    )


def _machine(comparison: PairedComparison) -> Exclusion | None:
    """Exclude a comparison if machine noise may account for most of the measured value, as the median over its blocks
    (docs/disturbances.md)."""
    if not comparison.pairs or float(np.median([pair.share for pair in comparison.pairs])) <= MOSTLY:
        return None
    return Exclusion(MACHINE, "the machine was so busy that it may have caused most of these values")


def audit_names(audits: Sequence[str]) -> str:
    """Format names of audits, for example "`loss-mismatch`, `status-wrong` and 2 more audits"."""
    more = len(audits) - _NAMED
    return f"`{'`, `'.join(audits[:_NAMED])}`" + (
        f" and {more} more {'audit' if more == 1 else 'audits'}" if more > 0 else ""
    )
