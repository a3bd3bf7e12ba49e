"""What every command about a campaign says last: which of its trials are not as they were measured."""

from typing import TYPE_CHECKING

from h123.errors import UserError
from h123.paths import typed

if TYPE_CHECKING:
    from h123.results import CampaignFolder


def complain_of_damage(folder: "CampaignFolder") -> None:
    """What a campaign has lost since it was measured, after everything that it still has was shown."""
    if lost := list(folder.lost().values()):
        again = f"h123 run --out {typed(folder.path)} repeats just these trials"
        raise UserError(
            f"{len(lost)} trials are left out, for their files are not those that were measured: {'; '.join(lost[:3])}"
            + (f"; and {len(lost) - 3} more" if len(lost) > 3 else ""),
            remedy=f"restore the files from a copy; or {'import the samples again' if folder.imported else again}",
            status=1,
        )
