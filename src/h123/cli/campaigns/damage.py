"""Warns, at the end of a campaign's commands, that results could not be saved or that trials' files have changed."""

from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.errors import UserError
from h123.base.files.durable import is_writable
from h123.base.terminal.console import say

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def complain_of_damage(folder: "CampaignFolder") -> None:
    """Raise a UserError that lists the trials of a campaign whose files have changed since they were measured."""
    from h123.store import damage_warning

    if error := damage_warning(folder):
        raise error


def note_unsaved(folder: "CampaignFolder") -> None:
    """If the folder is not writable, print a note that nothing was saved."""
    if not is_writable(folder.path):
        say(f"Note: {folder.path} cannot be written to, so nothing was saved.")


def require_writable(folder: "CampaignFolder", out: Path | None, option: str) -> None:
    """Raise UserError if a command would have to write into the campaign's folder, and the folder is not writable. The
    error recommends `option`, with which the user can choose another folder, `out`."""
    if out is None and not is_writable(folder.path):
        raise UserError(f"{folder.path} cannot be written to", remedy=f"name another place with {option}", status=1)
