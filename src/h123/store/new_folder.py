"""Checks that a folder can be used for new results: its path is suitable, and it contains nothing that would be in the
way."""

import os
import shutil
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.durable import sync_tree
from h123.base.files.output import check_place
from h123.base.files.tree import check_tree
from h123.base.units import counted

LONGEST_PATH = 3800
"""The longest path of a folder in bytes. Linux allows 4096, but the paths of the files in it are longer."""
_OWN_NAMES = {"study.yaml", "study.yaml.tmp", "tls", "uploads", "trials", "campaign.json.tmp"}


def check_new(path: Path) -> None:
    """Raise UserError if no campaign can begin in `path`."""
    check_name(path)
    check_place(path)
    check_tree(path)
    refuse_occupied(path)


def check_name(path: Path) -> None:
    """Raise UserError if a folder's path is not suitable for results.

    Readers of JSON and Parquet need valid text, and treat some characters as patterns that could match other campaigns.
    A terminal must not get control characters.
    """
    whole = str(path.absolute())
    if any(character in "*?[" or unicodedata.category(character) in ("Cc", "Cs") for character in whole):
        raise UserError(
            f"{whole!r} cannot be used for results: its path contains control characters, one of * ? [, or bytes "
            "that are not UTF-8",
            remedy="name another folder, or rename this one",
        )
    if len(os.fsencode(whole)) > LONGEST_PATH:
        raise UserError(f"the folder's path is longer than {LONGEST_PATH} bytes", remedy="name another folder")


def refuse_occupied(path: Path) -> None:
    """Raise UserError if the folder contains a campaign, finished trials, or files that are not part of a new
    campaign."""
    if not (path / "campaign.json").exists() and (finished := [*path.glob("trials/*/seal.json")]):
        raise UserError(
            f"{path} contains {counted(len(finished), 'finished trial')}, but no campaign.json",
            remedy="restore campaign.json from a copy, or name another folder with --out",
        )
    if (path / "campaign.json").exists():
        raise UserError(
            f"{path} already contains a campaign", remedy="resume it (`h123 run --out`), or name another folder"
        )
    foreign = sorted(p.name for p in path.iterdir() if p.name not in _OWN_NAMES) if path.exists() else []
    if foreign:
        raise UserError(f"{path} is not empty: it contains {foreign[0]}", remedy="name a new folder with --out")


def make_folder(folder: Path, *, private: bool) -> None:
    """Make a folder if it does not exist. A private one is accessible only to its owner."""
    folder.mkdir(0o700 if private else 0o777, parents=True, exist_ok=True)


def copy_uploads(uploads: Mapping[str, Path], folder: Path) -> None:
    """Copy the files that requests upload into `folder`. `uploads` maps the names of the copies to the files."""
    folder.mkdir(exist_ok=True)
    for name, file in uploads.items():
        shutil.copyfile(file, folder / name)
    sync_tree(folder)
