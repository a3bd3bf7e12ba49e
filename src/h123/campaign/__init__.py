"""Runs campaigns: decides when and where a study's trials run, and which of them run again, and resumes interrupted
campaigns."""

from h123.campaign.campaign import Campaign, DraftedStudy
from h123.campaign.determinism import find_trial, verify_trial
from h123.campaign.joining import Joined, join_shards
from h123.campaign.loss_costs import LossCosts, measure_losses
from h123.campaign.preparation import Cast, cast_of, check_campaign, lacking, likeness, require_travelling
from h123.campaign.runner import Outcome, extend_campaign, run_campaign, start_campaign
from h123.campaign.scheduler import Hopeless
from h123.campaign.what_if import check_wanted, what_if

__all__ = [
    "Campaign",
    "Cast",
    "DraftedStudy",
    "Hopeless",
    "Joined",
    "LossCosts",
    "Outcome",
    "cast_of",
    "check_campaign",
    "check_wanted",
    "extend_campaign",
    "find_trial",
    "join_shards",
    "lacking",
    "likeness",
    "measure_losses",
    "require_travelling",
    "run_campaign",
    "start_campaign",
    "verify_trial",
    "what_if",
]
