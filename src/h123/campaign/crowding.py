"""The guard of the lanes: whether a trial's neighbours disturbed it. All limits are here."""

from typing import Any

from h123.results import longest_waiting

LATENESS_LIMIT_NS = 500_000
"""99th percentile of the link's lateness, either direction: a sixtieth of the 30 ms round trip of `medium`. Alone, on
two processors, 0.1 to 0.2 ms were measured."""
WAITING_LIMIT_NS = 500_000
"""Mean time that a ready thread of a service waits for a processor; like a late link, it adds to the round trip."""
CLIENT_LIMIT = 0.9
"""Of one processor, as in the audit `client-saturated`. Alone, over slow links: below 0.2."""


def crowding(report: dict[str, Any]) -> list[dict[str, str]]:
    """Why a trial that ran beside others does not count: reasons with the code `crowded`; none: it does."""
    found = [_lateness(report), _waiting(report), _client(report)]
    return [{"code": "crowded", "detail": detail} for detail in found if detail]


def _lateness(report: dict[str, Any]) -> str | None:
    late = [
        (counted["lateness_ns"]["p99"], f"{link['name']}/{name}")
        for link in report["links"]
        for name, counted in (link.get("directions") or {}).items()
        if counted
    ]
    worst, where = max(late, default=(0, ""))
    if worst <= LATENESS_LIMIT_NS:
        return None
    return f"beside other trials, lateness p99 {worst / 1e6:.2f} ms is above {LATENESS_LIMIT_NS / 1e6:g} ms on {where}"


def _waiting(report: dict[str, Any]) -> str | None:
    found = longest_waiting(report)
    if found is None or found.mean_ns <= WAITING_LIMIT_NS:
        return None
    return (
        f"beside other trials, a ready thread of the {found.role} waited {found.mean_ns / 1e6:.2f} ms for a processor "
        f"on average, more than {WAITING_LIMIT_NS / 1e6:g} ms"
    )


def _client(report: dict[str, Any]) -> str | None:
    wall = report["phases_ns"]["main"]
    used = [role["cpu"]["main_ns"] for role in report["roles"] if role["name"] == "client" and role.get("cpu")]
    if not used or not wall or used[0] / wall < CLIENT_LIMIT:
        return None
    return f"beside other trials, the client used {used[0] / wall:.0%} of one processor, not below {CLIENT_LIMIT:.0%}"
