"""The last lines of every command about a campaign: trials whose files have changed since they were measured."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def complain_of_damage(folder: "CampaignFolder") -> None:
    """Report what a campaign has lost since it was measured, after everything that it still has was shown."""
    from h123.store import damage_warning

    if error := damage_warning(folder):
        raise error
