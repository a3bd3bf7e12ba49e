"""Processor time of handshakes and of requests, told apart from runs whose parts are known."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.documents.lab_report import NO_REPORT, Cpu, Report, RoleReport
from h123.measures.processor import of_handshake, of_request
from h123.measures.summary import Summary

MS = 1_000_000
EMPTY = Summary(**dict.fromkeys(field.name for field in fields(Summary)))
BOTH = ("server", "client")


def report(opening_ns: int, requests_ns: int, start: int, opened: int, end: int) -> Report:
    """Of roles that use so much each, evenly, in the two parts of a run; the client's own start costs it 90 ms."""

    def role(name: str, own_start: int) -> RoleReport:
        def used(at: int) -> int:
            first, second = (at - start) / (opened - start), (at - opened) / (end - opened)
            parts = opening_ns * min(max(first, 0), 1) + requests_ns * min(max(second, 0), 1)
            return round(parts) + own_start * min(at, start) // start

        times = sorted({*range(0, end, 5 * MS), start, opened, end})
        return RoleReport(name=name, cpu=Cpu(main_ns=used(end), main_over_time=[[at, used(at)] for at in times]))

    return NO_REPORT.model_copy(update={"roles": [role("server", 0), role("client", 90 * MS), role("origin", 0)]})


@given(
    handshake=st.integers(100_000, 20 * MS),
    request=st.integers(1_000, 5 * MS),
    connections=st.integers(1, 50),
    before=st.integers(0, 100),
    after=st.integers(1, 5000),
    opened=st.integers(60, 500),
    end=st.integers(600, 10_000),
)
def test_the_two_parts_of_a_run(
    handshake: int, request: int, connections: int, before: int, after: int, opened: int, end: int
) -> None:
    opening, requests = (connections * handshake + before * request) // 2, after * request // 2
    told = report(opening, requests, 10 * MS, opened * MS, end * MS)
    summary = replace(
        EMPTY,
        rows=before + after,
        once_open=after,
        handshakes=connections,
        start_ns=10 * MS,
        open_ns=opened * MS,
        warm_end_ns=end * MS,
    )
    assert of_request(summary, told, BOTH) == pytest.approx(request, rel=1e-3, abs=2)
    slack = 2 * (before + 1) * (1 + 1 / after)
    assert of_handshake(summary, told, BOTH) == pytest.approx(handshake, rel=1e-3, abs=slack)


def test_what_was_looked_at_too_seldom_is_not_told() -> None:
    summary = replace(
        EMPTY, rows=20, once_open=10, handshakes=1, start_ns=10 * MS, open_ns=30 * MS, warm_end_ns=900 * MS
    )
    told = report(5 * MS, 50 * MS, 10 * MS, 30 * MS, 900 * MS)
    assert of_request(summary, told, BOTH) == pytest.approx(10 * MS, rel=1e-3)
    assert of_handshake(summary, told, BOTH) is None  # five looks in 20 ms
    assert of_request(replace(summary, warm_end_ns=60 * MS), told, BOTH) is None
    assert of_request(summary, told, ("server", "nobody")) is None
    without = NO_REPORT.model_copy(update={"roles": [RoleReport(name=name, cpu=Cpu(main_ns=5)) for name in BOTH]})
    assert of_request(summary, without, BOTH) is None  # a campaign of an earlier version
