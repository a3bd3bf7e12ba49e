"""Describes which files and journal entries a campaign has lost since it was measured."""

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.store.folder import CampaignFolder


def damage_warning(folder: CampaignFolder) -> UserError | None:
    """Return a warning about trials that are left out because their files have changed or are missing, or because the
    journal lacks them. None if there are none."""
    faults, lacking = list(folder.damaged_trials().values()), len(folder.unjournalled())
    why, cures = list[str](), list[str]()
    if faults:
        trials, its, these = ("1 trial is", "its", "this trial") if len(faults) == 1 else _many(len(faults))
        more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
        why.append(
            f"{trials} left out, because {its} files have changed since the measurement: {'; '.join(faults[:3])}{more}"
        )
        cures.append(f"repeats only {these}")
    if lacking:
        trials, it = ("1 finished trial is", "it") if lacking == 1 else (f"{lacking} finished trials are", "them")
        why.append(f"{trials} left out, because the journal was cut short and lacks {it}")
        cures.append(f"puts {it} into the journal again")
    if not why:
        return None
    again = f"h123 run --out {typed(folder.path)} {' and '.join(cures)}"
    return UserError(
        ". ".join(why),
        remedy=f"restore the files from a copy; or {'import the samples again' if folder.imported else again}",
        status=1,
    )


def _many(faults: int) -> tuple[str, str, str]:
    return f"{faults} trials are", "their", "these trials"


def damage_words(folder: CampaignFolder) -> str | None:
    """Return why the remaining trials of a damaged campaign allow no conclusion, or None if nothing is damaged."""
    faults, lacking = len(folder.damaged_trials()), len(folder.unjournalled())
    files = f"the files of {_trials(faults)} have changed since the measurement"
    journal = f"the journal lacks {_trials(lacking, 'finished ')}"
    return " and ".join([files] * bool(faults) + [journal] * bool(lacking)) or None


def _trials(count: int, kind: str = "") -> str:
    return f"{count} {kind}trial{'s' * (count != 1)}"
