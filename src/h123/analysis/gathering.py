"""Reads a campaign's folder and prepares the campaign for analysis."""

from collections.abc import Sequence

from h123.analysis.case import Case, Evidence, Facts
from h123.analysis.machines.selection import select
from h123.analysis.statistics.looks import looks
from h123.analysis.statistics.remedy import remedy
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import load_trials, treated
from h123.documents.events import superseded
from h123.measures import Attempt
from h123.store import CampaignFolder
from h123.study import Network, Plan, Study, make_plan


def gather(folder: CampaignFolder) -> Case:
    """Read the whole campaign. Raises UserError."""
    study, events = Study.from_resolved(folder.study), folder.events()
    plan = make_plan(study, blocks=folder.blocks, seed=folder.seed, level_filter=folder.level_filter)
    folder.examine()
    standing = [e for e in events if e["event"] != "trial" or not (superseded(e) or folder.damage(e))]
    imported, shard = folder.imported is not None, folder.shard is not None
    cure = remedy(plan, standing, imported=imported, shard=shard, damaged=_damaged(folder))
    trials = load_trials(folder, plan)
    # An unfinished campaign is analysed as far as it has come.
    now = complete_blocks(trials.attempts, plan) if cure.waiting else len(plan.blocks)
    looks_so_far = looks(events, now, folder.looks, by_width=folder.precision is not None)
    selection = select(trials, plan)
    # A machine that is already left out cannot decide anything.
    homes = {} if selection.left_out else selection.homes
    rule = Rule(study.compare.margin, study.compare.alpha, looks_so_far, cure, homes)
    networks = {name: Network.from_resolved(profile) for name, profile in folder.networks.items()}
    facts = Facts(folder.name, folder.created, folder.seed, events, folder.imported, folder.precision, folder.subjects)
    facts = facts._replace(shard=folder.shard)
    return Case(plan, trials, selection, rule, networks, facts, Evidence(folder))


def _damaged(folder: CampaignFolder) -> set[str]:
    """Return the trials with an attempt that is damaged or missing from the journal."""
    attempts = [event for event in folder.events() if event["event"] == "trial" and not superseded(event)]
    lacking = {attempt.name.partition("~")[0] for attempt in folder.unjournalled()}
    return {event["trial"] for event in attempts if folder.damage(event)} | lacking


def complete_blocks(attempts: Sequence[Attempt], plan: Plan) -> int:
    """Return the number of blocks in which every trial has one of these attempts."""
    valid = {treated(attempt) for attempt in attempts}
    return sum(all(treated(trial) in valid for trial in block) for block in plan.blocks)
