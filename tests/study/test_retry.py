"""Requests that are made again: what a study may ask, what a client is told, who can do it."""

from typing import Any

import pytest

from h123.study.workload import KINDS, Target, workload_of

TARGET = Target("h123.test", "10.1.0.2", 4443, "/ca.pem", 7)
MS = 10**6
RETRY = {"after": 200 * MS, "at_most": 2}


def _work(**values: Any) -> Any:
    return workload_of({"protocol": "h1", "retry": RETRY, **values})


@pytest.mark.parametrize("kind", ["requests", "mix"])
def test_a_client_is_told_when_and_how_often(kind: str) -> None:
    work = _work(kind=kind, users=3, requests=4, warmup=1, **KINDS[kind].example(["GET"], False))
    document = work.file(TARGET).model_dump(exclude_unset=True)
    assert (document["retry_ns"], document["retries"]) == (200 * MS, 2)
    assert work.rows() == {"warm": 12, "leaving": 0, "warmup": 3, "cold": 3}
    assert (work.retries, work.connections_again()) == (True, 2 * 15)


def test_over_other_protocols_a_connection_goes_on() -> None:
    assert [_work(protocol=protocol).connections_again() for protocol in ("h2", "h3")] == [0, 0]


def test_nothing_is_told_where_nothing_is_made_again() -> None:
    work = workload_of({"protocol": "h2"})
    assert not {"retry_ns", "retries"} & {*work.file(TARGET).model_dump(exclude_unset=True)}
    assert not work.retries


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"timeout": 400 * MS}, "time out before their last try"),
        ({"abandon": {"share": 0.5, "after": 100 * MS}}, "leave out `abandon`, or `retry`"),
        ({"kind": "page", **KINDS["page"].example(["GET"], False)}, "leave out `retry`"),
    ],
)
def test_what_makes_no_workload_is_said(values: dict[str, Any], said: str) -> None:
    assert said in (_work(**values).fault() or "")
    assert _work(timeout=401 * MS).fault() is None
