"""Drafts a campaign that repeats another one's trials under the virtual clock, with one thing changed at a time."""

from collections.abc import Sequence

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.campaign.campaign import DraftedStudy
from h123.catalogue import own_subjects
from h123.execution import check_trials
from h123.store import CampaignFolder
from h123.study import LevelFilter, Parameters, Study, make_plan
from h123.study.interventions import BY_NAME, MOST_COMBINED, WhatIf, draft_what_if


def what_if(
    folder: CampaignFolder,
    selection: LevelFilter,
    pair: str,
    *,
    wanted: Sequence[str],
    combined: Sequence[str],
    most_combined: int = MOST_COMBINED,
    made_by: str,
) -> tuple[DraftedStudy, WhatIf]:
    """Return the draft of the campaign, and which changes it makes. `selection` selects levels of the study. `wanted`:
    the names of changes, or none for all that make a difference. `combined`: changes in the order of their importance;
    the first few, at most `most_combined`, are made in all combinations.
    `made_by`: the command that makes this campaign. Raises UserError if nothing can be changed."""
    study = Study.from_resolved(folder.study, folder.networks)
    check_wanted(study, pair, wanted)
    level_filter = make_plan(study, blocks=1, level_filter={**folder.level_filter, **selection}).level_filter
    own = own_subjects(study.servers)

    def refusal(treatments: Sequence[Parameters]) -> str | None:
        for p in treatments:
            if fault := p.workload.fault():
                return fault
        try:
            check_trials(treatments, own)
        except UserError as error:
            return error.message
        return None

    asked = draft_what_if(
        study, level_filter, pair, refusal=refusal, wanted=wanted, combined=combined, most_combined=most_combined
    )
    if not all(asked.level_filter.values()):
        raise UserError(
            f"{folder.path} has no trials that h123 can change: under the virtual clock, only emulated links take time",
            remedy="choose another campaign, or leave out --filter",
        )
    changes = [name for name in asked.study.factors[asked.study.compare.changes or ""] if name in BY_NAME]
    if not changes:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in asked.refused.items())
        raise UserError(
            f"none of the changes can make a difference to these trials{f': {reasons}' if reasons else ''}",
            remedy="`--change all` makes every change that can make one; `h123 what-if --list` lists them",
        )
    text = f"# Drafted by `{made_by}` from the campaign below. Run that command again to repeat this campaign.\n\n"
    original = (folder.path / "study.yaml").read_text(encoding="utf-8")
    drafted = asked.study.model_copy(update={"made_by": made_by})
    return DraftedStudy(drafted, asked.level_filter, folder.seed, text + original, folder.uploads), asked


def check_wanted(study: Study, pair: str, wanted: Sequence[str]) -> None:
    """Raise UserError if the study lacks the pair, if h123 has no change with a wanted name, or if the study already
    makes changes."""
    if study.compare.changes:
        raise UserError(
            f"the study {study.name} already makes changes", remedy="name the folder of the campaign without changes"
        )
    if pair not in study.compare.pairs:
        raise UserError(f"--pair {pair}: {choose(pair, study.compare.pairs)}")
    for name in wanted:
        if name not in BY_NAME:
            raise UserError(f"--change {name}: {choose(name, list(BY_NAME))}")
