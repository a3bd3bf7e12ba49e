"""What a lab may write is not refused, be it ever so unlucky."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from documents import document
from h123.documents.lab_report import Report
from h123.documents.trial_files import Link
from h123.report.page.provenance import link_rows
from h123.study.networks.network import Direction

NO_PROBE_ARRIVED: dict[str, Any] = {"probes": 200, "lost": 200, "error_ns": None}


def report(delay: dict[str, Any]) -> dict[str, Any]:
    check = {"delay": {"up": delay, "down": None}, "passed": False, "failures": ["no probe arrived"]}
    return {
        "h123": "report/1",
        "reasons": [{"code": "link-check-failed", "detail": "no probe arrived"}],
        "started_unix_ns": 1,
        "phases_ns": {},
        "links": [{"name": "access", "kind": "emulated", "check": check, "directions": None}],
        "roles": [],
        "hosts": [],
        "machine": {},
    }


def test_a_check_of_which_no_probe_arrived_is_a_report() -> None:
    """It used to stop a campaign for good: torture found it where every packet of a check was held up."""
    Report.model_validate(report(NO_PROBE_ARRIVED), strict=True)


def test_such_a_check_has_a_row_without_an_error() -> None:
    attempt: Any = SimpleNamespace(
        parameters={"network": "poor"},
        link=Link(up=Direction(), down=Direction()),
        report=document(Report, report(NO_PROBE_ARRIVED)),
        virtual=False,
    )
    assert {row.delay_error for row in link_rows([attempt])} == {"–"}


def test_a_trial_that_ended_before_its_main_role_is_a_report() -> None:
    """It used to stop a campaign for good: torture ended a lab in order."""
    cpu = {"user_ns": 1, "system_ns": 1, "main_ns": 0, "main_wait_ns": None, "main_turns": None}
    whole = report(NO_PROBE_ARRIVED)
    Report.model_validate({**whole, "roles": [{"name": "server", "cpu": cpu}]}, strict=True)
    with pytest.raises(ValidationError):
        Report.model_validate({**whole, "roles": [{"name": "server", "cpu": {**cpu, "main_ns": None}}]}, strict=True)
