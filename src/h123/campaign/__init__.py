"""Campaigns: run a study's trials on an engine, journal them, resume, show progress."""

from h123.campaign.campaign import Campaign
from h123.campaign.engine import Engine, LocalEngine
from h123.campaign.lanes import Lanes
from h123.campaign.preparation import check_campaign, lacking, likeness
from h123.campaign.progress import Display, display_for
from h123.campaign.runner import Outcome, extend_campaign, run_campaign, start_campaign
from h123.campaign.verify import find_trial, verify_trial

__all__ = [
    "Campaign",
    "Display",
    "Engine",
    "Lanes",
    "LocalEngine",
    "Outcome",
    "check_campaign",
    "display_for",
    "extend_campaign",
    "find_trial",
    "lacking",
    "likeness",
    "run_campaign",
    "start_campaign",
    "verify_trial",
]
