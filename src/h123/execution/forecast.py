"""How long the trials to come will take."""

from collections import defaultdict

from h123.study import PlannedTrial


class Forecast:
    """Seconds of trials to come, from the plan's estimates corrected by what this campaign has measured so far.

    A treatment that has run is forecast by its own mean; one that has not, by its estimate times the ratio of measured
    to estimated seconds over all trials so far.
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
        """That `trial` will take."""
        known = self._measured.get(_treatment(trial))
        if known:
            return sum(known) / len(known)
        return self._estimates[trial.id] * (self._seconds / self._estimated if self._estimated else 1.0)


def _treatment(trial: PlannedTrial) -> str:
    return "/".join(trial.cell.values())
