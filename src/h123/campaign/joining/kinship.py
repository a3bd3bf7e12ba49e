"""Checks whether two folders contain parts of the same campaign."""

from collections.abc import Mapping
from typing import Any

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.terminal.redaction import hidden_in
from h123.execution import folder_digest
from h123.store import CampaignFolder

_ABSENT = "absent"


def require_kin(folder: CampaignFolder, first: CampaignFolder) -> None:
    """Raise UserError if the folder does not belong to the same campaign as `first`. The error names one difference."""
    if folder.imported:
        raise UserError(f"{folder.path} contains imported samples, not blocks that h123 ran", remedy=_LEAVE_OUT)
    for name, (here, there) in _facts(folder, first).items():
        if difference := _difference(here, there, name):
            where, mine, other = difference
            raise UserError(
                f"{folder.path / 'campaign.json'} belongs to a different campaign: {where} is {mine}, but {other} in "
                f"{first.path / 'campaign.json'}",
                remedy=_LEAVE_OUT,
            )


_LEAVE_OUT = "leave this folder out, or join it into a separate campaign (--out)"


def _facts(folder: CampaignFolder, first: CampaignFolder) -> dict[str, tuple[object, object]]:
    """Return what must be equal in both folders, by its name in campaign.json: the value in `folder` and the value in
    `first`. The number of blocks may differ, because a longer campaign contains the shorter one."""
    both = _identity(folder), _identity(first)
    return {name: (both[0][name], both[1][name]) for name in both[0]}


def _identity(folder: CampaignFolder) -> dict[str, object]:
    return {
        "seed": folder.seed,
        "version": " and ".join(_versions(folder)),
        "study": folder.study,
        "networks": folder.networks,
        "filter": folder.level_filter,
        "looks": folder.looks,
        "precision": folder.precision,
        "subjects": {name: {**facts, "proofs": None} for name, facts in folder.subjects.items()},
        "uploads": folder_digest(folder.uploads) if folder.uploads.is_dir() else None,
    }


def _versions(folder: CampaignFolder) -> list[str]:
    steps = [event["version"] for event in folder.events() if event["event"] in ("campaign", "resume")]
    return list(dict.fromkeys([folder.version, *steps]))


def _difference(here: object, there: object, name: str) -> tuple[str, str, str] | None:
    """Return the name of the first part in which two values differ, and both values in readable form. None if they are
    equal."""
    if here == there:
        return None
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for key in dict.fromkeys([*here, *there]):
            if found := _difference(here.get(key, _ABSENT), there.get(key, _ABSENT), f"{name}.{key}"):
                return found
    shown: list[Any] = [hidden_in({name.rpartition(".")[2]: value}) for value in (here, there)]
    mine, other = (excerpt(next(iter(value.values()))) for value in shown)
    return name, mine, other if other != mine else "another value"
