"""A complaint names the request, and what is required."""

import pytest

from h123.catalogue import catalogue
from h123.documents.lab_report import Exit, Report, RoleReport
from h123.verification.server import _stop
from h123.verification.server_cases import ServerCase, server_parameters
from h123.verification.server_checks.complaint import explained


@pytest.mark.parametrize(
    ("check", "detail", "said"),
    [
        ("GET 1000", "status 500 instead of 200", "GET /bytes/1000: status 500 instead of 200"),
        (
            "GET 1000",
            "content-length -1 instead of 1000",
            "GET /bytes/1000: the response has no content-length (chunked?); `content-length: 1000` is required",
        ),
        ("POST 5", 'counted "" instead of 5', 'POST /upload of 5 bytes: counted "" instead of 5'),
        ("404", "status 200 instead of 404", "GET /there-is-nothing-here: status 200 instead of 404"),
        (
            "100 uploads at once",
            "only 0 of 100 had begun: status 500 instead of 200",
            "POST /upload of 1000 bytes, 100 at once: only 0 of 100 had begun: status 500 instead of 200",
        ),
        ("GET 1", "GET /bytes/1: EOF", "GET /bytes/1: EOF"),
        ("TLS", "TLS 1.2", "TLS 1.2"),
        ("connection", "EOF", "EOF"),
    ],
)
def test_a_complaint_names_the_request(check: str, detail: str, said: str) -> None:
    assert explained(check, detail) == said


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (Exit(code=1), "role server ended with status 1 after SIGTERM; expected status 0"),
        (Exit(code=143), "status 143 (128 + 15: how Java and shells report SIGTERM) after SIGTERM"),
        (Exit(signal=6), "ended with signal 6 after SIGTERM; expected status 0, or termination by the signal"),
    ],
)
def test_an_end_that_is_not_clean(ending: Exit, said: str) -> None:
    role = RoleReport.model_construct(name="server", pid_exit=ending)
    parameters = server_parameters(catalogue()["go"], protocol="h1")
    result = _stop(ServerCase("h1-wall", "contract", parameters, {}), Report.model_construct(roles=[role]))
    assert result.verdict == "failed"
    assert said in result.detail
