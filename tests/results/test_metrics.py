"""Metrics that follow from a trial's report alone."""

from typing import Any

import pytest

from h123.results.lab_report import NO_REPORT, Report, Role
from h123.results.metrics import METRICS


def reporting(roles: list[dict[str, Any]]) -> Report:
    return NO_REPORT.model_copy(update={"roles": [Role.model_validate(role) for role in roles]})


@pytest.mark.parametrize("role", ["server", "client"])
def test_memory_is_the_roles_own_peak(role: str) -> None:
    sizes = {"server": 30_000_000, "client": 50_000_000}
    report = reporting([{"name": name, "max_rss_bytes": size} for name, size in sizes.items()])
    metric = METRICS[f"memory_{role}"]
    assert metric.lower_is_better
    assert metric.value(None, report) == sizes[role]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "roles", [[], [{"name": "server", "max_rss_bytes": 0}], [{"name": "server", "max_rss_bytes": None}]]
)
def test_no_report_no_memory(roles: list[dict[str, Any]]) -> None:
    assert METRICS["memory_server"].value(None, reporting(roles)) is None  # type: ignore[arg-type]
