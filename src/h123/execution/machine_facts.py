"""Provenance: the machine a campaign ran on."""

import os
import platform
from pathlib import Path

from h123.base.processes import usable_processors
from h123.documents.campaign_file import MachineFacts

_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")
_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


def machine_facts() -> MachineFacts:
    """Kernel, processor, memory, distribution, clock and load, JSON-ready; null where the machine does not tell."""
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
    # The first processor stands for all.
    return {key.strip(): value.strip() for key, value in reversed(pairs)}
