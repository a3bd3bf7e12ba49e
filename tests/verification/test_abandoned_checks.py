"""Requests that a client abandons or makes again, checked: what is as it should be passes, what is wrong is said."""

from typing import Any

import pytest

from h123.catalogue import Subject, catalogue
from h123.store import Sample
from h123.verification.client_cases import ClientCase
from h123.verification.clients.witness import Witness
from h123.verification.trial import SEED
from verification.client_rows import FACTS, MS, WINDOW, Edit, assigned, faults_in, sample


@pytest.fixture(scope="module")
def go() -> Subject:
    return catalogue()["go"]


def _given_up(connections: int) -> list[Sample]:
    """As the assignment asks of 3 users on one connection, or of one whose connections are closed, one after another:
    warm-up, then six requests each, of which the first, third, fourth and sixth are abandoned."""
    size, users = 1_500_000, 3 if connections == 1 else 1
    rows = [sample("cold", 0, 0, 10**9, size)]
    of_user = dict.fromkeys(range(users), 0)
    for n in range(18 // users + 1):
        for user in of_user:
            phase = "warmup" if n == 0 else "warm" if n % 3 == 2 else "leaving"
            fresh = connections > 1 and rows[-1]["error"] == "abandoned"
            of_user[user] += fresh
            start = 10**10 + 2 * 10**9 * n
            ended = {"error": "abandoned", "bytes_down": 9, "end_ns": start + 500 * MS} if phase == "leaving" else {}
            rows.append(sample(phase, user, of_user[user], start, size, reused=int(not fresh), **ended))
    for row in rows:
        row["protocol"] = "h2" if connections == 1 else "h1"
    return rows


def _seen_given_up(protocol: str, **changed: Any) -> Witness:
    count = 1 if protocol == "h2" else 12
    usual = {"connections": count, "bytes_down": 15_000_000, "given_up": 12 if protocol == "h2" else None}
    return Witness(WINDOW, **{**usual, **changed})


FACTS_OF = {
    protocol: {**FACTS, "tls": [{"version": "1.3", "alpn": name, "connections": 12}]}
    for protocol, name in (("h2", "h2"), ("h1", "http/1.1"), ("h3", "h3"))
}


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_requests_are_abandoned_and_all_else_goes_on(go: Subject, protocol: str) -> None:
    asked = assigned(go, "requests that are abandoned", protocol)
    rows = _given_up(1 if protocol == "h2" else 12)
    assert not faults_in(go, asked, rows, FACTS_OF[protocol], seen=_seen_given_up(protocol))


_SOON: Any = {"sent_ns": None, "first_byte_ns": None}
LEFT_WRONG: list[tuple[str, str, Edit, dict[str, Any], str]] = [
    (
        "answered",
        "h2",
        lambda rows: _first_left(rows).update(error=""),
        {},
        "have been abandoned ended with status 200",
    ),
    ("timed out", "h2", lambda rows: _first_left(rows).update(error="timeout"), {}, "error 'timeout'"),
    ("whole", "h2", lambda rows: _first_left(rows).update(bytes_down=1_500_000), {}, "1500000 bytes down"),
    (
        "too soon",
        "h2",
        lambda rows: _first_left(rows).update(_SOON, end_ns=_first_left(rows)["start_ns"] + 100 * MS),
        {},
        "was abandoned after 0.100 s",
    ),
    ("not told", "h2", lambda _: None, {"given_up": 3}, "learned that 3 of"),
    ("sent on", "h2", lambda _: None, {"bytes_down": 25_000_000}, "did not stop sending"),
    ("unseen", "h2", lambda _: None, {"bytes_down": None}, "nothing shows whether the server stopped"),
    ("another connection", "h2", lambda rows: rows[-1].update(connection=1, reused=0), {}, "instead of 1, counted"),
    ("not closed", "h1", lambda rows: rows[3].update(connection=0, reused=1), {}, "on which one had been abandoned"),
    ("other ones", "h2", lambda rows: rows[-1].update(phase="warm"), {}, "rows of phase warm instead of 6"),
]


def _first_left(rows: list[Sample]) -> Sample:
    return next(row for row in rows if row["phase"] == "leaving")


@pytest.mark.parametrize(
    ("protocol", "edit", "seen", "said"), [row[1:] for row in LEFT_WRONG], ids=[r[0] for r in LEFT_WRONG]
)
def test_what_is_wrong_with_abandoned_requests_is_said(
    go: Subject, protocol: str, edit: Edit, seen: dict[str, Any], said: str
) -> None:
    asked = assigned(go, "requests that are abandoned", protocol)
    rows = _given_up(1 if protocol == "h2" else 12)
    edit(rows)
    assert said in faults_in(go, asked, rows, FACTS_OF[protocol], seen=_seen_given_up(protocol, **seen))


def _insisted(asked: ClientCase) -> list[Sample]:
    """As the assignment asks: large answers come at the third try, which over HTTP/1.1 has the third connection."""
    p, work = asked.parameters, asked.parameters.workload
    rows = [sample("cold", 0, 0, 10**9, tries=1, resource=0)]
    used = 0
    for n in range(work.each()):
        for user in range(p.users):
            resource = work.resource(user * work.each() + n, SEED)
            tries = 3 if resource else 1
            used += tries - 1 if p.protocol == "h1" else 0
            start = 10**10 + 5 * 10**9 * n
            made = start + (tries - 1) * 10**9
            marks = {"sent_ns": made, "first_byte_ns": made + 100 * MS, "end_ns": made + 500 * MS}
            told = {"tries": tries, "resource": resource, "reused": int(p.protocol != "h1" or not resource)}
            size = work.exchanges()[resource].down
            assert size
            rows.append(sample("warm" if n else "warmup", user, used, start, size, **marks, **told))
    for row in rows:
        row["protocol"] = p.protocol
    return rows


def _seen_insisting(protocol: str, rows: list[Sample], **changed: Any) -> Witness:
    again = sum(row["tries"] - 1 for row in rows)
    logged = {"requests": len(rows) + again, "given_up": again} if protocol == "h3" else {}
    down = sum(row["bytes_down"] for row in rows) + again * 400_000
    usual = {"connections": 1 + again if protocol == "h1" else 1, "bytes_down": down, **logged}
    return Witness(WINDOW, **{**usual, **changed})


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_requests_are_made_again_until_they_are_answered(go: Subject, protocol: str) -> None:
    asked = assigned(go, "requests that are made again", protocol)
    rows = _insisted(asked)
    assert {row["tries"] for row in rows} == {1, 3}
    assert not faults_in(go, asked, rows, FACTS_OF[protocol], seen=_seen_insisting(protocol, rows))


def _of(resource: int, rows: list[Sample]) -> Sample:
    return next(row for row in rows if row["resource"] == resource and row["phase"] != "cold")


def _too_soon(rows: list[Sample]) -> None:
    row = _of(1, rows)
    row["sent_ns"] = row["start_ns"] + 10**9


INSISTED_WRONG: list[tuple[str, str, Edit, dict[str, Any], str]] = [
    ("too often", "h2", lambda rows: _of(0, rows).update(tries=2), {}, "took 0.500 s has `tries` 2 instead of 1"),
    ("too seldom", "h2", lambda rows: _of(1, rows).update(tries=1), {}, "has `tries` 1 instead of 3"),
    ("the cold one", "h2", lambda rows: rows[0].update(tries=2), {}, "a cold request has `tries` 2"),
    ("too soon", "h2", _too_soon, {}, "the last try of a request was made 1.000 s too early"),
    ("one connection", "h1", lambda _: None, {"connections": 3}, "the server saw 3 connections, and"),
    ("not made", "h3", lambda _: None, {"requests": 13}, "13 requests, but the rows contain"),
    ("not told", "h3", lambda _: None, {"given_up": 1}, "learned that 1 of"),
    ("nothing came", "h2", lambda _: None, {"bytes_down": 10_000_000}, "10000000 bytes came down"),
    ("sent on", "h2", lambda _: None, {"bytes_down": 40_000_000}, "40000000 bytes came down"),
    ("unseen", "h2", lambda _: None, {"bytes_down": None}, "nothing shows what became of the abandoned attempts"),
]


@pytest.mark.parametrize(
    ("protocol", "edit", "seen", "said"), [row[1:] for row in INSISTED_WRONG], ids=[r[0] for r in INSISTED_WRONG]
)
def test_what_is_wrong_with_requests_that_are_made_again_is_said(
    go: Subject, protocol: str, edit: Edit, seen: dict[str, Any], said: str
) -> None:
    asked = assigned(go, "requests that are made again", protocol)
    rows = _insisted(asked)
    witness = _seen_insisting(protocol, rows, **seen)
    edit(rows)
    assert said in faults_in(go, asked, rows, FACTS_OF[protocol], seen=witness)
