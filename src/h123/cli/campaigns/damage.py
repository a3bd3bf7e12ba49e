"""The last lines of every command about a campaign: trials whose files have changed since the measurement."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def complain_of_damage(folder: "CampaignFolder") -> None:
    """Report, after everything else was shown, which parts of a campaign are lost since it was measured."""
    from h123.store import damage_warning

    if error := damage_warning(folder):
        raise error
