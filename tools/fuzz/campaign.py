"""Fuzzes campaign.json: the folder, its study, its plan, and the report about it."""

from pathlib import Path

from campaign_files import sample_files, without_digests
from reader import Reader

from h123.report.page.provenance import provenance
from h123.store import CampaignFolder
from h123.study import Study, make_plan


def _read(case: bytes, folder: Path) -> None:
    (folder / "campaign.json").write_bytes(case)
    opened = CampaignFolder.open(folder)
    study = Study.from_resolved(opened.study, opened.networks)
    make_plan(study, blocks=1, seed=opened.seed, level_filter=opened.level_filter)
    provenance(opened, [])


def _corpus() -> list[bytes]:
    files = sample_files("campaign.json")
    return files + without_digests(files)


CAMPAIGN = Reader("campaign", _read, _corpus)
