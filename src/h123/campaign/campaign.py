"""Defines a campaign as the runner uses it, and a study without a file."""

from dataclasses import dataclass
from pathlib import Path

from h123.catalogue import Subject
from h123.store import CampaignFolder
from h123.study import LevelFilter, Plan, Study


@dataclass(frozen=True)
class Campaign:
    """A plan, and the folder that contains its results."""

    plan: Plan
    subjects: dict[str, Subject]
    folder: CampaignFolder


@dataclass(frozen=True)
class DraftedStudy:
    """A study that h123 derived from another campaign."""

    study: Study
    level_filter: LevelFilter
    seed: int
    text: str
    """The text that the campaign's folder keeps as its study."""
    uploads: Path
    """The folder with the files that requests upload, and that the study's own servers read. It may be missing."""
