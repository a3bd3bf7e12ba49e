"""Defines a campaign as the runner uses it."""

from dataclasses import dataclass

from h123.catalogue import Subject
from h123.store import CampaignFolder
from h123.study import Plan


@dataclass(frozen=True)
class Campaign:
    """A plan, and the folder that contains its results."""

    plan: Plan
    subjects: dict[str, Subject]
    folder: CampaignFolder
