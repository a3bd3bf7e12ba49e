"""Resolves the subject names that the user gave to a command."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from h123.base.errors import UserError

if TYPE_CHECKING:
    from h123.catalogue import Subject

KERNEL = "virtual-kernel"
"""The name of the virtual clock's kernel in lists of subjects."""


class RoleOption(StrEnum):
    """The roles in which a subject can be verified."""

    SERVER = "server"
    CLIENT = "client"


def named_subjects(names: list[str] | None, everything: bool) -> "tuple[bool, list[Subject]]":
    """Return whether the virtual kernel was named, and the named subjects without duplicates, in the given order."""
    from h123.catalogue import catalogue

    if everything == bool(names):
        raise UserError("give either subject names or --all", remedy="`h123 list subjects` lists the subjects")
    asked_names = names or list(catalogue())
    return KERNEL in asked_names, subjects_by_name([name for name in asked_names if name != KERNEL], [KERNEL])


def subjects_by_name(names: Sequence[str], others: Sequence[str] = ()) -> "list[Subject]":
    """Return the subjects with these names, without duplicates. `others` are names that are allowed but not
    subjects."""
    from h123.catalogue import catalogue, unknown_subject

    every = catalogue()
    for name in names:
        if name not in every:
            raise unknown_subject(name, others)
    return [every[name] for name in dict.fromkeys(names)]
