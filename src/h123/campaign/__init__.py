"""Campaigns: run a study's trials on an engine, journal them, resume, show progress."""

from h123.campaign.engine import Engine, LocalEngine
from h123.campaign.runner import Outcome, extend_campaign, run_campaign, start_campaign

__all__ = ["Engine", "LocalEngine", "Outcome", "extend_campaign", "run_campaign", "start_campaign"]
