"""Campaigns: run a study's trials on an engine, journal them, resume, show progress."""

from h123.campaign.engine import Engine, LocalEngine
from h123.campaign.progress import Display, display_for
from h123.campaign.runner import Campaign, Outcome, extend_campaign, run_campaign, start_campaign

__all__ = [
    "Campaign",
    "Display",
    "Engine",
    "LocalEngine",
    "Outcome",
    "display_for",
    "extend_campaign",
    "run_campaign",
    "start_campaign",
]
