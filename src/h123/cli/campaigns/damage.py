"""What every command about a campaign says last: which of its trials are not as they were measured."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def complain_of_damage(folder: "CampaignFolder") -> None:
    """What a campaign has lost since it was measured, after everything that it still has was shown."""
    from h123.store import damage_warning

    if error := damage_warning(folder):
        raise error
