"""Describes what a campaign has lost since it was measured."""

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.store.folder import CampaignFolder


def damage_warning(folder: CampaignFolder) -> UserError | None:
    """The warning about trials that are left out because their files are changed or missing; None if there are none."""
    faults = list(folder.damaged_trials().values())
    if not faults:
        return None
    again = f"h123 run --out {typed(folder.path)} repeats just these trials"
    return UserError(
        f"{len(faults)} trials are left out, for their files are not those that were measured: {'; '.join(faults[:3])}"
        + (f"; and {len(faults) - 3} more" if len(faults) > 3 else ""),
        remedy=f"restore the files from a copy; or {'import the samples again' if folder.imported else again}",
        status=1,
    )
