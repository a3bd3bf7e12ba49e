"""Describes a machine that executes trials: its properties and its capacity."""

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from h123.base.errors import UserError
from h123.base.paths import lab_binary, lab_remedy
from h123.base.processes import usable_processors
from h123.documents.campaign_file import MachineFacts, Privileges
from h123.documents.events import PlaceName
from h123.documents.shapes import Count
from h123.execution.wire import Message
from h123.study import Network, Parameters
from h123.virtual import virtual_kernel

_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")
_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_MACHINE_ID = Path("/etc/machine-id")
_DIGITS = 6
_BUILD_DIGITS = 12
_LONGEST_NAME = 40
_NAME_VARIABLE = "H123_MACHINE"
_STILL_WORKS = "plan, analyse, report, import and claims work; `h123 doctor` shows all ways"


class Machine(Message):
    """A machine that runs blocks. Each block runs on a single machine, so that its trials differ only in their
    treatments."""

    h123: Literal["machine/1"] = "machine/1"
    name: PlaceName
    """A short, unique name for the journal."""
    facts: MachineFacts
    cpus: Count
    memory_bytes: Count
    """Free memory. Together with the processors, it determines how many trials may run at the same time."""


class UnfitMachine(UserError):
    """The error about a machine that cannot execute trials, or can no longer execute them. Its running trials are
    lost."""

    def __init__(self, message: str, remedy: str | None = None, status: int = 3) -> None:
        super().__init__(message, remedy, status=status)


@dataclass(frozen=True)
class OfferedWay:
    """A way to run trials, and whether it is available on this machine."""

    way: Privileges
    open: bool
    links: bool
    """Whether links can be emulated in real time."""
    detail: str
    """The cost of this way, or why it is not available."""
    remedy: str
    """How to make this way, or all of its features, available. Empty if all are available."""


@dataclass(frozen=True)
class MachineOffer:
    """The ways to run trials, available or not, and the one that the lab uses."""

    chosen: Privileges
    ways: Sequence[OfferedWay]

    def chosen_way(self) -> OfferedWay:
        return next(way for way in self.ways if way.way == self.chosen)


def this_machine() -> Machine:
    return Machine(
        name=_name(),
        facts={**machine_facts(), **_builds(), "privileges": _privileges()},
        cpus=len(usable_processors()),
        memory_bytes=os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def _builds() -> MachineFacts:
    """Return the digests of the lab and the virtual kernel. Under the virtual clock, nothing else may affect a
    trial."""
    try:
        kernel = _build(virtual_kernel())
    except UserError:
        kernel = None
    return {"virtual_kernel": kernel is not None, "lab_build": _build(lab_binary()), "virtual_kernel_build": kernel}


def _build(program: Path) -> str | None:
    """Return the first digits of a program's digest, or None if it cannot be read."""
    try:
        with program.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:_BUILD_DIGITS]
    except OSError:
        return None


def _privileges() -> Privileges | None:
    """Return the privileges of trials here, or None if no lab is built yet."""
    return ways().chosen if lab_binary().is_file() else None


def _name() -> str:
    """Return a name that stays the same on this machine and differs on others, without revealing anything
    (machine-id(5)).

    The variable H123_MACHINE overrides this name, for machines that share a machine ID, such as containers of one
    image.
    """
    if given := os.environ.get(_NAME_VARIABLE):
        fit = re.sub(r"[^A-Za-z0-9._-]+", "-", given).lstrip("._-")
        if fit == given and len(fit) <= _LONGEST_NAME:
            return given
        digest = hashlib.sha256(given.encode(errors="surrogateescape")).hexdigest()[:_DIGITS]
        return f"{fit[: _LONGEST_NAME - _DIGITS - 1]}-{digest}".lstrip("-")
    try:
        identity = _MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        identity = ""
    digest = hashlib.sha256(f"h123 place {identity or platform.node()}".encode()).hexdigest()
    return f"local-{digest[:_DIGITS]}"


def machine_facts() -> MachineFacts:
    """Return kernel, processor, memory, distribution, clock and load, ready for JSON. A fact is null if the machine
    does not provide it."""
    cpu = _key_values(Path("/proc/cpuinfo"), ":")
    memory = _key_values(Path("/proc/meminfo"), ":").get("MemTotal", "0 kB")
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": cpu.get("model name") or platform.processor() or None,
        "cpus": os.cpu_count(),
        "cpus_usable": len(usable_processors()),
        "memory_bytes": int(memory.split()[0]) * 1024,
        "distribution": _distribution(),
        "python": platform.python_version(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "governor": _text(_GOVERNOR),
        "clock_source": _text(_CLOCK),
        "default_congestion": _text(_CONGESTION),
        "virtual": "hypervisor" in cpu.get("flags", "").split(),
        "container": any(mark.exists() for mark in _CONTAINER_MARKS),
    }


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _key_values(path: Path, separator: str) -> dict[str, str]:
    pairs = [line.split(separator, 1) for line in (_text(path) or "").splitlines() if separator in line]
    # The first processor represents all.
    return {key.strip(): value.strip() for key, value in reversed(pairs)}


_UNKNOWN_COMMAND = 2


@cache
def ways() -> MachineOffer:
    """Return the ways to run trials on this machine. Raises UserError if the lab cannot be started."""
    try:
        process = subprocess.run([str(lab_binary()), "ways"], capture_output=True, text=True, check=False)
        if process.returncode == _UNKNOWN_COMMAND:
            # A lab that was built before this command existed runs trials only as root.
            return MachineOffer("root", [OfferedWay("root", True, True, f"this lab is older: {lab_remedy()}", "")])
        answer = json.loads(process.stdout)
        offer = MachineOffer(answer["chosen"], [OfferedWay(**way) for way in answer["ways"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"cannot ask {lab_binary()}: {error}", remedy=lab_remedy(), status=3) from None
    return offer


def require_privileges(trials: Sequence[Parameters], networks: Mapping[str, Network]) -> MachineOffer:
    """Return the ways that this machine offers for these trials. Raises UserError if it can run none of them."""
    offer = ways()
    offered = offer.chosen_way()
    wall = [trial for trial in trials if trial.clock == "wall"]
    if wall and offer.chosen == "virtual-clock":
        closed = next(way for way in offer.ways if way.way == "user-namespace")
        raise UserError(
            f"no trials in real time here: {closed.detail}",
            remedy=f"{closed.remedy}, or add `--clock virtual`\n{_STILL_WORKS}",
            status=3,
        )
    if any(networks[name].shaped for trial in wall for name in trial.networks()) and not offered.links:
        raise UserError(
            f"no trials in real time here: {offered.detail}",
            remedy=f"{offered.remedy}, or add `--clock virtual`\n{_STILL_WORKS}",
            status=3,
        )
    return offer
