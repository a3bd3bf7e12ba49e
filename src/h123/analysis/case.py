"""Defines a case: a campaign prepared for analysis, with the content of its folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb

from h123.analysis.selected_trials import Selection
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import TrialSet
from h123.base.transport import SETTINGS
from h123.documents.campaign_file import ImportFacts, Precision, SubjectFacts
from h123.documents.events import Event
from h123.documents.shard import Shard
from h123.measures import Attempt
from h123.measures.quantiles import intervals
from h123.store import CampaignFolder, connect
from h123.study import Network, Plan, TransportRoles

Result = TypeVar("Result")


class Facts(NamedTuple):
    """Facts from the campaign's own files."""

    name: str
    created: str
    seed: int
    events: Sequence[Event]
    imported: ImportFacts | None
    precision: Precision | None
    """The interval width that the campaign must reach."""
    subjects: Mapping[str, SubjectFacts]
    """The subjects as they were when the campaign began."""
    shard: Shard | None = None
    """The shard that the folder contains. None for a whole campaign."""


class Evidence:
    """Access to raw samples and packets, which only a few sections read."""

    def __init__(self, folder: CampaignFolder) -> None:
        self._folder = folder

    def of(self, attempt: Attempt) -> Path:
        """Return the folder with the files of one attempt."""
        return self._folder.trial(attempt.trial, attempt.attempt)

    def tables(self) -> duckdb.DuckDBPyConnection:
        """Open a connection to the tables of all samples and attempts (h123.store.connect)."""
        return connect(self._folder)

    def tail_intervals(self, samples: Mapping[Path, Attempt], share: float) -> Mapping[Path, tuple[float, float]]:
        """Return, for each file of samples, the interval of one latency quantile (h123.measures.quantiles). `share`:
        the quantile, such as 0.95."""
        return intervals(self._folder, samples, share)

    def damaged_trials(self) -> Mapping[str, str]:
        """Return, for each trial whose valid attempts are all damaged, a description of the damage."""
        return self._folder.damaged_trials()


@dataclass(frozen=True, eq=False)
class Case:
    """A campaign, prepared for judging."""

    plan: Plan
    measured: TrialSet
    selection: Selection
    rule: Rule
    networks: Mapping[str, Network]
    facts: Facts
    evidence: Evidence
    computed: dict[Callable[["Case"], Any], Any] = field(default_factory=dict, repr=False)
    """The results of functions marked with `once`."""

    @property
    def trials(self) -> TrialSet:
        """The trials that answers are computed from."""
        return self.selection.trials

    @property
    def attempts(self) -> Sequence[Attempt]:
        return self.trials.attempts

    @property
    def factor(self) -> str:
        return self.plan.study.compare.factor

    @property
    def unknown(self) -> Sequence[str]:
        """The parameters for which the study has only a placeholder (imported samples)."""
        return self.facts.imported["unknown"] if self.facts.imported else []

    @property
    def choosing(self) -> TransportRoles:
        """For each subject, the roles in which a study can choose each transport setting, as declared when the campaign
        began."""
        subjects = self.facts.subjects.items()
        return {name: {setting: about.get(setting, []) for setting in SETTINGS} for name, about in subjects}


def once(compute: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return a function that calls `compute` only once per case, and then always returns the same result."""

    @wraps(compute)
    def cached(case: Case) -> Result:
        if cached not in case.computed:
            case.computed[cached] = compute(case)
        result: Result = case.computed[cached]
        return result

    return cached
