"""Where trials are executed: a machine, with what is known of it and what it has room for."""

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from h123.base.errors import UserError
from h123.base.processes import usable_processors
from h123.documents.campaign_file import MachineFacts
from h123.execution.machine_facts import machine_facts
from h123.virtual import virtual_kernel

_MACHINE_ID = Path("/etc/machine-id")
_DIGITS = 6


@dataclass(frozen=True)
class Machine:
    """Where blocks run. Each is executed on one machine, since only there all else is equal."""

    name: str
    """Short, and no other machine's: the journal's."""
    facts: MachineFacts
    cpus: int
    memory_bytes: int
    """Free. With the processors it is the capacity, of which lanes are made."""


class UnfitMachine(UserError):
    """The machine cannot execute trials, or not any more: nothing runs there, and what ran is lost."""

    def __init__(self, message: str, remedy: str | None = None, status: int = 3) -> None:
        super().__init__(message, remedy, status=status)


def this_machine() -> Machine:
    """The machine that is always there."""
    return Machine(
        name=_name(),
        facts={**machine_facts(), "virtual_kernel": _has_kernel()},
        cpus=len(usable_processors()),
        memory_bytes=os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def _has_kernel() -> bool:
    try:
        virtual_kernel()
    except UserError:
        return False
    return True


def _name() -> str:
    """The same after a pause, another one on another machine; it tells strangers nothing (machine-id(5))."""
    try:
        known = _MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        known = ""
    digest = hashlib.sha256(f"h123 place {known or platform.node()}".encode()).hexdigest()
    return f"local-{digest[:_DIGITS]}"
