"""Samples that are as they should be pass; each single thing that is wrong in them is found, and said."""

from typing import Any

import pytest

from h123.catalogue import Client, Subject, catalogue
from h123.store import Sample
from h123.verification.client_cases import SPOILED, assignments
from h123.verification.client_networks import FAR
from h123.verification.clients.witness import Witness
from h123.verification.controller import Arrival
from verification.client_rows import FACTS, MS, WINDOW, Edit, assigned, dealt_rows, faults_in, sample
from verification.flights import falling, flights


@pytest.fixture(scope="module")
def go() -> Subject:
    return catalogue()["go"]


@pytest.mark.parametrize(("way", "count"), [("shared", 1), ("per-user", 4), ("number", 2)])
def test_what_is_as_it_should_be_passes(go: Subject, way: str, count: int) -> None:
    asked = assigned(go, f"GET 1 kB, 4 users, connections {way}")
    assert not faults_in(go, asked, dealt_rows(count))
    unknown = [{**row, "connection": None, "reused": None, "sent_ns": None} for row in dealt_rows(count)]
    assert not faults_in(go, asked, unknown)


WRONG: list[tuple[str, Edit, str]] = [
    ("a row short", lambda rows: rows.pop(), "11 rows of phase warm instead of 12"),
    ("no warm-up", lambda rows: [row.update(phase="warm") for row in rows], "0 rows of phase warmup instead of 4"),
    ("user counted from 1", lambda rows: [row.update(user=row["user"] + 1) for row in rows], "user 4, of 4 users"),
    ("uneven users", lambda rows: rows[-1].update(user=2), "user 2 does not have as many rows as user 0"),
    ("a failure", lambda rows: rows[7].update(error="reset", status=0), "status 0, error 'reset'"),
    ("another status", lambda rows: rows[7].update(status=500), "status 500"),
    ("bytes short", lambda rows: rows[7].update(bytes_down=999), "999 down instead of 0 and 1000"),
    ("another protocol", lambda rows: rows[7].update(protocol="h1"), "protocol 'h1' instead of 'h2'"),
    ("end first", lambda rows: rows[7].update(end_ns=rows[7]["start_ns"]), "end_ns is before sent_ns"),
    ("answer first", lambda rows: rows[7].update(first_byte_ns=rows[7]["sent_ns"] - 1), "first_byte_ns is before sent"),
    ("another clock", lambda rows: rows[7].update(end_ns=10**13), "not from this machine's monotonic clock"),
    ("connected when warm", lambda rows: rows[9].update(connected_ns=rows[9]["start_ns"]), "that is not cold"),
    ("no first byte", lambda rows: rows[7].update(first_byte_ns=None), "empty in 1 of 20 rows"),
    ("cold not connected", lambda rows: rows[0].update(connected_ns=None), "connected_ns is empty in a cold row"),
    ("holes", lambda rows: rows[7].update(connection=None), "connection is empty in some rows"),
    ("too many", lambda rows: rows[7].update(connection=4, reused=0), "instead of 4, counted"),
    ("wandering", lambda rows: rows[-1].update(connection=0), "user 3 used 2 connections"),
    ("nothing reused", lambda rows: rows[7].update(reused=0), "2 rows with reused 0 instead of 1"),
    ("cold reused", lambda rows: (rows[0].update(reused=1), rows[4].update(reused=0)), "a cold row says"),
]


@pytest.mark.parametrize(("edit", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_said(go: Subject, edit: Edit, said: str) -> None:
    rows = dealt_rows(4)
    edit(rows)
    assert said in faults_in(go, assigned(go, "GET 1 kB, 4 users, connections per-user"), rows)


def test_users_on_one_connection_where_each_has_its_own(go: Subject) -> None:
    rows = dealt_rows(4)
    for row in rows[4:]:
        row["connection"] = {0: 1, 1: 0}.get(row["connection"], 2)
    said = faults_in(go, assigned(go, "GET 1 kB, 4 users, connections per-user"), rows)
    assert "users 2 and 3 are not on connections as dealt" in said


@pytest.mark.parametrize(
    ("way", "seen", "said"),
    [
        ("per-user", 1, "1 connections reached the server instead of 4"),
        ("shared", 4, "4 connections reached the server instead of 1"),
        ("number", 4, "4 connections reached the server instead of 2"),
        ("per-user", None, "nothing shows how many"),
    ],
)
def test_connections_are_counted_by_others_too(go: Subject, way: str, seen: int | None, said: str) -> None:
    asked = assigned(go, f"GET 1 kB, 4 users, connections {way}")
    silent = [{**row, "connection": None, "reused": None} for row in dealt_rows(asked.connections())]
    assert not faults_in(go, asked, silent)
    assert said in faults_in(go, asked, silent, seen=Witness(WINDOW, seen))


@pytest.mark.parametrize(("seen", "alike"), [(13, False), (14, True), (84, True), (86, False)])
def test_a_browser_opens_as_many_connections_for_a_page_as_it_needs(seen: int, alike: bool) -> None:
    """Each of 2 users' 7 visits has 1 to 6, and clients of HTTP/1.1 may dial once before."""
    browser = catalogue()["chromium"]
    asked = assigned(browser, "a workload of kind page", "h1")
    assert ("reached the server" not in faults_in(browser, asked, [], seen=Witness(WINDOW, seen))) == alike


def test_a_client_that_reopens_connections_may_have_more_of_them_over_h1(go: Subject) -> None:
    assert go.client
    able = go.client.model_copy(update={"reopens": True})
    for protocol, fits in (("h1", True), ("h2", False)):
        asked = assigned(go, "GET 1 kB, 4 users, connections shared", protocol)
        silent = [
            {**row, "connection": None, "reused": None, "protocol": protocol} for row in dealt_rows(asked.connections())
        ]
        more = Witness(WINDOW, asked.connections() + 2)
        assert ("reached the server" not in faults_in(go, asked, silent, client=able, seen=more)) == fits
        assert "reached the server" in faults_in(go, asked, silent, seen=more)


@pytest.mark.parametrize(("swapped", "said"), [(False, False), (True, True)])
def test_what_a_page_asks_for_at_one_moment_is_in_its_order(go: Subject, swapped: bool, said: bool) -> None:
    """Whichever comes first: rows are in the order of their ends."""
    asked = assigned(go, "a workload of kind page")
    rows = [
        sample("warm", 0, 0, 1000 * (1 + (resource > 1)), group=0, resource=resource) for resource in (0, 1, 3, 2, 5, 4)
    ]
    if swapped:
        rows[2]["start_ns"] -= 1
    assert ("user 0 asked for resources" in faults_in(go, asked, rows)) == said


@pytest.mark.parametrize(
    ("missing", "said"), [(0, ""), (MS, "user 0 rested 0.299 s instead of 0.300 s before visit 2")]
)
def test_visits_are_as_far_apart_as_asked(go: Subject, missing: int, said: str) -> None:
    """Each takes 1.3 s; the pause is 300 ms."""
    asked = assigned(go, "visits with a pause between them")
    rows = [sample("warm", 0, n, n * 1600 * MS - (missing if n == 2 else 0), group=n, resource=0) for n in range(3)]
    found = faults_in(go, asked, rows)
    assert said in found if said else "rested" not in found


@pytest.mark.parametrize(("connection", "said"), [(1, False), (0, True)])
def test_each_connection_has_requests_of_one_host(go: Subject, connection: int, said: bool) -> None:
    """Resource 1 is of the page's own host, 2 of another."""
    asked = assigned(go, "a page of three hosts")
    rows = [sample("warm", 0, 0, 1000, group=0, resource=resource) for resource in (0, 1)]
    rows.append(sample("warm", 0, connection, 2000, group=0, resource=2))
    assert ("connection 0 has requests of 2 hosts" in faults_in(go, asked, rows)) == said


def test_first_bytes_that_were_not_declared(go: Subject) -> None:
    assert go.client
    without = go.client.model_copy(update={"ttfb": False})
    asked = assigned(go, "GET 1 kB, 4 users, connections shared")
    assert "not declared (ttfb), but written in 17 of 17" in faults_in(go, asked, dealt_rows(1), client=without)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"h123": "client/2"}, "not of the format client/1"),
        ({"tls": [{"version": "1.3", "alpn": "h3", "connections": 4}]}, "ALPN 'h3' instead of 'h2'"),
        ({"tls": [{"version": "TLS13", "alpn": "h2", "connections": 4}]}, "TLS version 'TLS13'"),
        ({"tls": ["1.3"]}, "each element of tls must be an object"),
        ({"tls": [{"version": "1.3", "alpn": "h2", "connections": "4"}]}, "whose `connections` is a whole number"),
        ({"tls": [{"version": "1.3", "alpn": "h2", "connections": 3}]}, "3 TLS connections, the samples of 4"),
    ],
)
def test_facts_that_are_wrong(go: Subject, edit: dict[str, Any], said: str) -> None:
    asked = assigned(go, "GET 1 kB, 4 users, connections per-user")
    assert said in faults_in(go, asked, dealt_rows(4), {**FACTS, **edit})
    assert not faults_in(go, asked, dealt_rows(4), {**FACTS, "tls": []})  # a client that is not told by its library


def _far(**changes: Any) -> list[Sample]:
    rows = [sample("cold", 0, 0, 10**9, 1_000_000)]
    return rows + [sample("warm", 0, 0, 10**10 * n, 1_000_000, **changes) for n in (1, 2)]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"end_ns": 700}, "the link needs 0.900 s"),
        ({"first_byte_ns": 1299}, "as if it were the last"),
        ({"first_byte_ns": 20, "sent_ns": 10}, "a round trip takes 0.100 s"),
    ],
)
def test_times_that_were_not_measured(go: Subject, after: dict[str, int], said: str) -> None:
    asked = assigned(go, "times over a link of 100 ms and 10 Mbit/s")
    assert asked.network is FAR
    rows = _far()
    assert not faults_in(go, asked, rows)
    for name, ms in after.items():
        rows[-1][name] = rows[-1]["start_ns"] + ms * MS
    assert said in faults_in(go, asked, rows)
    rows = _far()
    rows[0]["connected_ns"] = rows[0]["start_ns"] + 150 * MS
    assert "a handshake takes 0.200 s" in faults_in(go, asked, rows)


def test_false_start_is_for_clients_that_declare_it_and_have_it(go: Subject) -> None:
    assert go.client
    asked, hasty = assigned(go, "TLS 1.2"), go.client.model_copy(update={"false_start": True})
    assert asked.network is FAR

    def told(connected_ms: int, client: Client) -> str:
        rows = _far()
        rows[0]["connected_ns"] = rows[0]["start_ns"] + connected_ms * MS
        return str(faults_in(go, asked, rows, client=client))

    assert "a handshake takes 0.300 s" in told(250, go.client)
    assert "a handshake takes 0.200 s" in told(150, hasty)
    assert "handshake" not in told(250, hasty) + told(300, go.client)
    assert "as without the false_start that it declares" in told(300, hasty)
    assert "false_start" not in told(250, hasty) + told(300, go.client)


def test_connections_ready_too_late_for_their_answers(go: Subject) -> None:
    asked = assigned(go, "times over a link of 100 ms and 10 Mbit/s")
    rows = _far()
    rows[0].update(connected_ns=rows[0]["first_byte_ns"], sent_ns=rows[0]["first_byte_ns"])
    assert "the first byte came 0.000 s after the connection was ready; the link needs 0.100 s" in faults_in(
        go, asked, rows
    )
    assert go.client
    without = go.client.model_copy(update={"ttfb": False})
    rows = [{**row, "first_byte_ns": None, "sent_ns": None} for row in _far()]
    assert not faults_in(go, asked, rows, client=without)
    rows[0]["connected_ns"] = rows[0]["end_ns"]
    assert "the last byte came 0.000 s after the connection was ready; the link needs 0.900 s" in faults_in(
        go, asked, rows, client=without
    )


def test_ends_that_are_all_late(go: Subject) -> None:
    asked = assigned(go, "times over a link of 100 ms and 10 Mbit/s")
    rows = _far()
    for row in rows[1:]:
        row["end_ns"] += 20 * 10**9
    assert not faults_in(go, asked, rows)  # one that was quick shows that times are measured
    rows[0]["end_ns"] += 20 * 10**9
    assert "no request took less than 21.300 s; the link needs 0.900 s" in faults_in(go, asked, rows)


def _opened(gaps: list[int], **changes: Any) -> list[Sample]:
    starts = [10**10 + sum(gaps[:n]) for n in range(len(gaps) + 1)]
    return [sample("cold", 0, 0, 10**9)] + [
        sample(
            "warm",
            n % 4,
            0,
            start,
            **{"sent_ns": start, "first_byte_ns": start + 200 * MS, "end_ns": start + 201 * MS, **changes},
        )
        for n, start in enumerate(starts)
    ]


def test_an_open_loop_is_one(go: Subject) -> None:
    asked = assigned(go, "open loop, 50 requests a second")
    uneven = [2 * MS, 38 * MS, 5 * MS] * 13
    assert not faults_in(go, asked, _opened(uneven))
    assert "the gaps between requests are all alike" in faults_in(go, asked, _opened([20 * MS] * 39))
    waiting = [0, 0, 0, 200 * MS] * 9 + [0] * 3
    assert "40 requests started within 1.800 s; at 50 a second it is 0.780 s" in faults_in(go, asked, _opened(waiting))


def test_a_closed_loop_with_the_times_of_an_open_one(go: Subject) -> None:
    asked = assigned(go, "open loop, 50 requests a second")
    rows = _opened([2 * MS, 38 * MS, 5 * MS] * 13)
    for number, row in enumerate(rows[1:]):  # 4 at a time
        row["sent_ns"] = max(row["start_ns"], rows[1]["start_ns"] + 200 * (number // 4) * MS)
        row["first_byte_ns"] = row["end_ns"] = row["sent_ns"] + 200 * MS
    assert "requests ended more than 0.500 s after they were due: they waited" in faults_in(go, asked, rows)


def test_a_controller_is_told_from_what_the_server_got(go: Subject) -> None:
    asked = assigned(go, "congestion cubic", "h3")
    size = asked.parameters.size
    row = sample("warm", 0, 0, 10**9, bytes_up=size, bytes_down=8, protocol="h3", reused=0)
    facts = {**FACTS, "tls": []}

    def faults(arrivals: list[Arrival]) -> str:
        return faults_in(go, asked, [row], facts, seen=Witness(WINDOW, 1, arrivals))

    assert not faults(flights(falling(0.7, 0.53)))
    assert "behaves like reno, not cubic: " in faults(flights(falling(0.5, 1)))
    assert "nothing shows its congestion controller" in faults([])


def _failed(**changes: Any) -> list[Sample]:
    usual = {"status": 0, "bytes_down": 0, "first_byte_ns": None, "sent_ns": None, **changes}
    return [sample("warm", user, 0, 10**9 * (1 + number), **usual) for user in range(2) for number in range(2)]


def test_failures_are_told_as_they_are(go: Subject) -> None:
    absent, there = assigned(go, "a path that is not there"), _failed(status=404, error="other: status 404")
    assert not faults_in(go, absent, there)
    assert "instead of status 404" in faults_in(go, absent, _failed(status=200))
    nobody = assigned(go, "a server that is not there")
    assert not faults_in(go, nobody, _failed(error="refused"))
    assert "instead of error 'refused'" in faults_in(go, nobody, _failed(error="timeout"))
    zeros = assigned(go, SPOILED["zeros"])
    whole = {"status": 200, "bytes_down": 1_000_000}
    assert not faults_in(go, zeros, _failed(**whole, error="wrong-bytes")[:2])
    assert "instead of status 200, error 'wrong-bytes'" in faults_in(go, zeros, _failed(**whole, error="")[:2])
    assert "999 bytes down instead of" in faults_in(
        go, zeros, _failed(status=200, bytes_down=999, error="wrong-bytes")[:2]
    )
    over_udp = assigned(go, "a server that is not there", "h3")
    assert not faults_in(go, over_udp, _failed(error="timeout"))
    dead = assigned(go, "a link that is dead")
    assert not faults_in(go, dead, _failed(error="timeout")[:1])
    late = _failed(error="timeout", end_ns=5 * 10**9)[:1]
    assert "a timeout of 1.000 s ended after 4.000 s" in faults_in(go, dead, late)


def _refusals(go: Subject, **declared: Any) -> set[tuple[str, str]]:
    """What a client of these declarations is asked to be refused, by protocol."""
    assert go.client
    client = go.client.model_copy(update={"open_loop": False, "cold": False, **declared})
    found = assignments(go.model_copy(update={"client": client}))
    for asked in found:
        if asked.expected != "unsupported":
            p = asked.parameters
            assert p.protocol in client.protocols
            assert p.method in client.methods
            assert (p.rate, p.cold) == (None, False)
            assert p.connections in client.connections
    return {(a.parameters.protocol, a.name.removeprefix("refuses ")) for a in found if a.expected == "unsupported"}


def test_what_is_not_declared_is_asked_only_to_be_refused(go: Subject) -> None:
    rest = {"an open loop", "cold requests", "repeat visits", "sessions that are resumed, with TCP Fast Open"}
    assert _refusals(go, protocols=["h2"], methods=["GET"], connections=["shared"]) == {
        ("h1", "h1"),
        ("h3", "h3"),
        *(("h2", name) for name in {"POST", "connections per-user", "connections number", *rest}),
    }
    # Over HTTP/1.1 users have connections of their own even if they share.
    assert _refusals(go, protocols=["h2", "h1"], connections=["shared"]) == {
        ("h3", "h3"),
        *(("h2", name) for name in {"connections per-user", "connections number", *rest}),
        *(("h1", name) for name in {"connections number", *rest}),
    }


def test_the_server_is_the_one_that_the_client_names(go: Subject) -> None:
    assert go.client
    client = go.client.model_copy(update={"verified_with": "caddy"})
    assert {asked.parameters.server for asked in assignments(go)} == {"go"}
    elsewhere = assignments(go.model_copy(update={"client": client}))
    assert {asked.parameters.server for asked in elsewhere} == {"caddy"}
    assert not any(asked.parameters.qlog for asked in elsewhere)  # of which nobody knows what it writes


def test_each_controller_of_a_client_that_sends(go: Subject) -> None:
    congestion = {"h2": "kernel", "h3": ["bbr", "reno"]}
    several = go.model_copy(update={"features": go.features.model_copy(update={"congestion": congestion})})
    asked = [one for one in assignments(several) if one.name.startswith("congestion")]
    assert [(a.parameters.method, a.parameters.congestion, a.controller) for a in asked] == [
        ("POST", "default", "bbr"),
        ("POST", "reno", "reno"),
    ]
    assert go.client
    receives = several.model_copy(update={"client": go.client.model_copy(update={"methods": ["GET"]})})
    assert not [one for one in assignments(receives) if one.name.startswith("congestion")]


def test_a_client_that_is_held_back_by_something_else_has_no_controller_to_choose(go: Subject) -> None:
    features = go.features.model_copy(update={"congestion": {"h3": ["fixed"]}})
    asked = next(a for a in assignments(go.model_copy(update={"features": features})) if a.controller)
    assert (asked.name, asked.parameters.congestion, asked.controller) == ("congestion fixed", "default", "fixed")


def test_an_open_loop_over_h1_has_a_connection_for_each_request_under_way(go: Subject) -> None:
    assert go.client
    client = go.client.model_copy(update={"connections": ["number"]})
    asked = assigned(go.model_copy(update={"client": client}), "open loop, 50 requests a second", "h1")
    assert asked.parameters.connections == asked.parameters.users == 20
