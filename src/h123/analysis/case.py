"""A campaign as it is judged: what its folder holds, laid out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from h123.analysis.audits import TrialAudits, audit_trials, of_order
from h123.analysis.audits.exclusions import Exclusions
from h123.analysis.audits.finding import CampaignAudit
from h123.analysis.comparisons.answers import Answers
from h123.analysis.comparisons.failures import Shares
from h123.analysis.statistics.looks import looks
from h123.analysis.statistics.remedy import remedy
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import Trials, load_trials, treated
from h123.documents.events import superseded
from h123.measures import Attempt
from h123.store import CampaignFolder
from h123.study import Network, Plan, Study, make_plan


@dataclass(frozen=True)
class Case:
    """A campaign, laid out to be judged."""

    plan: Plan
    trials: Trials
    rule: Rule
    audits: TrialAudits
    networks: Mapping[str, Network] = field(default_factory=dict)
    """Profiles by name."""

    @cached_property
    def shares(self) -> Shares:
        """Of failed requests."""
        return Shares(self.trials, self.plan)

    @cached_property
    def answers(self) -> Answers:
        """Their sizes, where nothing states them."""
        return Answers(self.trials, self.plan)

    @cached_property
    def order(self) -> list[CampaignAudit]:
        """The audits of when the trials ran."""
        return of_order(self.trials.attempts, self.plan)

    @cached_property
    def exclusions(self) -> Exclusions:
        """What speaks against judging."""
        return Exclusions(
            self.audits.failed,
            self.shares,
            self.plan,
            self.order,
            self.networks,
            self.answers,
            self.trials.attempts,
        )


def gather(folder: CampaignFolder) -> Case:
    """All of the campaign. Raises UserError."""
    study, events = Study.from_resolved(folder.study), folder.events()
    plan = make_plan(study, blocks=folder.blocks, seed=folder.seed, only=folder.only)
    folder.examine()
    standing = [e for e in events if e["event"] != "trial" or not (superseded(e) or folder.damage(e))]
    cure = remedy(plan, standing, imported=folder.imported is not None)
    trials = load_trials(folder, plan)
    # A campaign that still has trials to run is looked at as far as it has come.
    now = complete_blocks(trials.attempts, plan) if cure.waiting else len(plan.blocks)
    taken = looks(events, now, folder.looks, by_width=folder.width is not None)
    rule = Rule(study.compare.margin, study.compare.alpha, taken, cure)
    networks = {name: Network.from_resolved(profile) for name, profile in folder.networks.items()}
    return Case(plan, trials, rule, audit_trials(trials.attempts, plan), networks)


def complete_blocks(attempts: Sequence[Attempt], plan: Plan) -> int:
    """Of whose trials all have an attempt that counts."""
    valid = {treated(attempt) for attempt in attempts}
    return sum(all(treated(trial) in valid for trial in block) for block in plan.blocks)
