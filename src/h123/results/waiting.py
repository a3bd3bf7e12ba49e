"""How long a trial's roles waited for a processor."""

from typing import Any, NamedTuple


class Waiting(NamedTuple):
    """Of the role whose ready threads waited longest, on average."""

    mean_ns: float
    role: str


def longest_waiting(report: dict[str, Any]) -> Waiting | None:
    """During the main role's run; None where the report does not tell."""
    cpus = [(role["cpu"], role["name"]) for role in report["roles"] if role.get("cpu")]
    return max(
        (Waiting(cpu["main_wait_ns"] / cpu["main_turns"], name) for cpu, name in cpus if cpu.get("main_turns")),
        default=None,
    )
