"""Workloads of every kind: what a study may say of one, and what it answers."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.study import load_study
from h123.study.workload import KINDS, AnyWorkloadFile, Target, VisitShape, WorkloadKind, workload_of
from h123.study.workload.mix import LEAST_ORDER, order
from study.samples import STUDY, write
from study.workload_faults import FAULTS

TARGET = Target("h123.test", "10.1.0.2", 4443, "/ca.pem", 7)
GET, POST = {"size": 2000, "weight": 9}, {"method": "POST", "body": 20_000}
CELL = {"protocol": "h2", "network": "lan", "load": "light"}
COOKIE = {"name": "cookie", "bytes": 1000}


def test_tls_is_told_only_where_it_is_an_older_one() -> None:
    work = workload_of({"protocol": "h2", "size": 1000})
    assert not {"tls", "key_share"} & work.file(TARGET).model_dump(exclude_unset=True).keys()
    unusual = {"tls": "1.2", "key_share": "X25519MLKEM768"}
    assert unusual.items() <= work.file(replace(TARGET, **unusual)).model_dump(exclude_unset=True).items()


def test_sessions_are_told_only_where_they_are_not_full() -> None:
    full, early = ({"protocol": "h3", "size": 1000, "sessions": sessions} for sessions in ("full", "early"))
    assert "sessions" not in workload_of(full).file(TARGET).model_dump(exclude_unset=True)
    assert workload_of(early).file(TARGET).model_dump(exclude_unset=True)["sessions"] == "early"
    assert (workload_of(full).label(), workload_of(early).label()) == ("GET 1 kB", "GET 1 kB (early sessions)")
    assert [workload_of(one).connections_uncounted() for one in (full, early)] == [0, 1]
    assert [workload_of(one).rows() for one in (full, early)] == [
        {"warm": 10, "leaving": 0, "warmup": 0, "cold": 1}
    ] * 2


def test_fast_open_is_tcps() -> None:
    fast = {"protocol": "h2", "size": 1000, "sessions": "fast-open"}
    assert workload_of(fast).fault() is None
    assert workload_of(fast).opening.tcp
    assert "which HTTP/3 does not use" in (workload_of({**fast, "protocol": "h3"}).fault() or "")


def test_a_client_may_take_another_protocol_only_where_it_is_told_so() -> None:
    alone, either = ({"protocol": "h3", "size": 1000, "fallback": fallback} for fallback in (False, True))
    assert workload_of(alone).file(TARGET).protocol == "h3"
    assert workload_of(either).file(TARGET).protocol == "h3-or-h2"
    assert [workload_of(one).protocols() for one in (alone, either)] == [["h3"], ["h3", "h2"]]
    assert workload_of(either).label() == "GET 1 kB (or over HTTP/2)"
    assert workload_of(either).fault() is None
    for wrong, said in (({"protocol": "h2"}, "leave it out for h2"), ({"sessions": "resumed"}, "leave out `sessions`")):
        assert said in (workload_of({**either, **wrong}).fault() or "")


def mix(*entries: dict[str, Any], **values: Any) -> WorkloadKind:
    return workload_of({"protocol": "h2", "kind": "mix", "mix": entries, **values})


def study(folder: Path, settings: str) -> Path:
    return write(folder, STUDY.replace("  size: 10kB\n", settings))


def test_one_request_again_and_again() -> None:
    work = workload_of({"protocol": "h1", "method": "POST", "size": 100, "users": 4, "requests": 5, "warmup": 1})
    (exchange,) = work.exchanges()
    assert (exchange.method, exchange.up, exchange.down, exchange.status) == ("POST", 100, None, 200)
    assert (work.methods(), work.senders(), work.label()) == (["POST"], ["client"], "POST 100 B")
    assert work.rows() == {"warm": 20, "leaving": 0, "warmup": 4, "cold": 4}
    assert (work.served(), work.body_bytes(), work.statuses()) == ([], 100, [200])


@pytest.mark.parametrize(
    ("protocol", "connections", "most"),
    [("h2", "shared", 7), ("h2", "per-user", 1), ("h3", 2, 4), ("h3", 9, 1), ("h1", "shared", 1), ("h1", 2, 1)],
)
def test_requests_under_way_on_one_connection(protocol: str, connections: str | int, most: int) -> None:
    told = {"protocol": protocol, "users": 7, "connections": connections}
    assert workload_of(told).most_on_connection() == most
    assert workload_of({**told, "rate": 5.0}).most_on_connection() is None


def test_how_long_a_connection_is_without_a_request() -> None:
    """At a rate, the longest gap that one trial in a hundred has: of 1000 gaps with a mean of a second on each of two
    connections, one of more than 11.5 s."""
    told = {"protocol": "h2", "users": 10, "requests": 100, "connections": 2}
    assert workload_of(told).longest_silence_ns() == 0
    assert workload_of({**told, "rate": 2.0}).longest_silence_ns() == pytest.approx(11.51e9, rel=1e-3)
    assert workload_of({**told, "rate": 20.0}).longest_silence_ns() == pytest.approx(1.151e9, rel=1e-3)
    assert mix(GET, {**GET, "think": 50_000_000}).longest_silence_ns() == 50_000_000


def test_what_imported_samples_do_not_tell_is_unknown() -> None:
    unknown = dict.fromkeys(["kind", "method", "size", "users", "requests", "headers", "mix", "protocol"])
    work = workload_of(unknown)
    (exchange,) = work.exchanges()
    assert (exchange.method, exchange.up, exchange.down) == (None, None, None)
    assert (work.rows(), work.body_bytes(), work.methods(), work.senders()) == (None, None, [], [])
    assert work.label(unknown) == "requests"


def test_a_mix_answers_as_its_entries_say() -> None:
    work = mix(GET, {**POST, "status": 201, "think": 50_000_000, "path": "/orders"}, users=2, requests=10)
    assert [(one.method, one.up, one.down, one.status, one.share) for one in work.exchanges()] == [
        ("GET", None, 2000, 200, 0.9),
        ("POST", 20_000, None, 201, 0.1),
    ]
    assert work.label() == "90 % GET 2 kB, 10 % POST /orders 20 kB"
    assert (work.methods(), work.senders(), work.served()) == (["GET", "POST"], ["client", "server"], [2000])
    assert (work.moved("down"), work.moved("up"), work.pause_s()) == (1800, 2000, pytest.approx(0.005))
    assert (work.rows(), work.body_bytes()) == ({"warm": 20, "leaving": 0, "warmup": 0, "cold": 1}, None)


def test_what_a_client_is_told_of_a_mix() -> None:
    own = {**COOKIE, "name": "etag", "bytes": 20, "changes": "request"}
    told = mix(GET, {**POST, "headers": [own, {"name": "Cookie", "value": "a=b"}]}, headers=[COOKIE]).file(TARGET)
    read = AnyWorkloadFile.model_validate_json(told.model_dump_json()).model_dump(mode="json")
    assert (read["h123"], read["kind"], read["headers"]) == ("workload/2", "mix", [])
    get, post = read["mix"]
    assert (get["method"], get["path"], get["body_bytes"], get["body_file"]) == ("GET", "/bytes/2000", 0, None)
    assert [(len(h["value"]), h["changes"]) for h in get["headers"]] == [(1000, False)]
    assert (post["path"], post["body_bytes"], post["status"], post["think_ns"]) == ("/upload", 20_000, 0, 0)
    assert [(h["name"], len(h["value"]), h["changes"]) for h in post["headers"]] == [
        ("cookie", 3, False),
        ("etag", 20, True),
    ]
    assert Counter(read["order"]) == {0: 900, 1: 100}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 2**53))
def test_every_turn_has_each_as_often_as_its_part_says(parts: list[int], seed: int) -> None:
    turns, length = order(parts, seed), sum(parts)
    assert LEAST_ORDER <= len(turns) < LEAST_ORDER + length
    wanted = dict(enumerate(parts))
    assert all(Counter(turns[at : at + length]) == wanted for at in range(0, len(turns), length))
    assert turns == order(parts, seed)


def test_the_order_never_changes_between_versions() -> None:
    assert order([9, 1], 7)[:30] == [*GOLDEN]


GOLDEN = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_an_example_that_is_one(kind: str) -> None:
    work = workload_of({"protocol": "h3", "kind": kind, **KINDS[kind].example(["GET", "POST"], False)})
    assert work.fault() is None
    assert work.label()
    assert AnyWorkloadFile.model_validate_json(work.file(TARGET).model_dump_json()).root.kind == kind


@pytest.mark.parametrize(("settings", "line", "said"), FAULTS)
def test_a_bad_workload_is_refused_with_its_line(tmp_path: Path, settings: str, line: int, said: str) -> None:
    with pytest.raises(UserError) as refused:
        load_study(study(tmp_path, settings))
    assert said in refused.value.message
    assert refused.value.message.startswith(f"{tmp_path / 'sample.yaml'}:{line}:")


def test_a_file_is_found_beside_the_study_and_its_size_is_kept(tmp_path: Path) -> None:
    for folder, size in ((tmp_path, 77), (tmp_path / "ü b", 78)):
        folder.mkdir(exist_ok=True)
        (folder / "order.json").write_bytes(b"x" * size)
    files = ("order.json", "ü b/order.json", "order.json")
    entries = "".join(f"    - {{method: POST, file: {file}}}\n" for file in files)
    work = load_study(study(tmp_path, f"  kind: mix\n  mix:\n{entries}")).parameters(CELL).workload
    assert [one.up for one in work.exchanges()] == [77, 78, 77]
    assert [(upload.file, upload.size) for upload in work.uploads()] == [("order.json", 77), ("ü b/order.json", 78)]
    told = work.file(TARGET).model_dump()["mix"]
    first, second = "/tmp/h123-roots/uploads/order.json", "/tmp/h123-roots/uploads/%C3%BC%20b%2Forder.json"
    assert [(entry["body_file"], entry["body_bytes"]) for entry in told] == [(first, 77), (second, 78), (first, 77)]


def test_kinds_can_be_compared_in_one_study(tmp_path: Path) -> None:
    text = STUDY.replace("    light: {users: 1, requests: 2}\n", "    light: {kind: mix, mix: [{size: 1kB}]}\n")
    read = load_study(write(tmp_path, text))
    labels = {read.parameters({**CELL, "load": load}).workload.label() for load in ("light", "heavy")}
    assert labels == {"GET 1 kB", "GET 10 kB"}


def page(**values: Any) -> WorkloadKind:
    return workload_of({"kind": "page", "protocol": "h2", **KINDS["page"].example(["GET"], False), **values})


def test_a_page_answers_as_its_site_says() -> None:
    work = page(users=2, requests=3, warmup=1)
    assert work.label() == "page example, 10 requests, 172 kB"
    assert [one.down for one in work.exchanges()] == [2000, 10_000, *[20_000] * 8]
    assert (work.served(), work.methods(), work.senders()) == ([2000, 10_000, 20_000], ["GET"], ["server"])
    assert (work.rows(), work.each()) == ({"warm": 60, "leaving": 0, "warmup": 20, "cold": 0}, 40)
    assert [work.resource(number, 7) for number in (0, 9, 10, 25)] == [0, 9, 0, 5]
    assert work.visit() == VisitShape(10, 2)


def test_a_visit_has_connections_as_in_a_browser() -> None:
    """Over h1 six, where so many are wanted at once; each visit its own, unless nothing is to be cold."""
    count = {"users": 2, "requests": 3, "warmup": 1}
    assert (page(**count).connection_count(), page(**count).connections_opened()) == (2, 8)
    old = page(**count, protocol="h1")
    assert (old.connection_count(), old.connections_opened(), old.most_on_connection()) == (12, 48, 1)
    assert page(**count, protocol="h1", cold=False).connections_opened() == 12
    assert page().most_on_connection() == 10


def test_a_page_takes_round_trips_by_its_depth_not_by_its_requests() -> None:
    """h3: 1 for the handshake, 3 deep, and slow start to 172 kB; h1 has 8 images on 6 connections: a trip more."""
    assert page(protocol="h3", requests=1).round_trips() == pytest.approx(1 + 3 + 3.69, abs=0.01)
    assert page(protocol="h1", requests=1).round_trips() == pytest.approx(2 + 4 + 1.57, abs=0.01)


def test_what_a_client_is_told_of_a_page() -> None:
    told = AnyWorkloadFile.model_validate_json(page(headers=[COOKIE]).file(TARGET).model_dump_json())
    read = told.model_dump(mode="json")
    assert (read["kind"], read["headers"], read["connections"], read["at_once"]) == ("page", [], 1, 100)
    document, style, image, *_ = read["page"]
    assert (document["path"], document["initiator"], document["run_ns"]) == ("/bytes/2000", None, 1_000_000)
    assert (style["initiator"], image["initiator"], image["urgency"]) == (0, 1, 3)
    assert [(h["name"], len(h["value"])) for h in image["headers"]] == [("priority", 3), ("cookie", 1000)]
    old = page(protocol="h1").file(TARGET).model_dump(mode="json")
    assert (old["connections"], old["at_once"], old["page"][0]["headers"]) == (6, 1, [])


def test_a_visit_may_find_http_3_by_itself_and_be_a_repeat_one() -> None:
    found = page(protocol="h3", fallback=True)
    assert (found.announcement, found.protocols(), found.file(TARGET).protocol) == ("alt-svc", ["h3", "h2"], "h3-or-h2")
    assert not {"visit", "lookup"} & found.file(TARGET).model_dump(exclude_unset=True).keys()
    informed = page(protocol="h3", fallback=True, announced="https-record")
    assert (informed.announcement, informed.file(TARGET).model_dump()["lookup"]) == ("https-record", "dns")
    assert informed.label() == "page example, 10 requests, 172 kB (HTTP/3 in the DNS)"
    saved = found.round_trips() - informed.round_trips()
    assert saved == found.load.requests, "QUIC's handshake instead of TCP's and TLS's, in each visit"
    repeat = page(protocol="h3", fallback=True, visit="repeat")
    assert repeat.file(TARGET).model_dump(exclude_unset=True)["visit"] == "repeat"
    assert repeat.label() == "page example, 10 requests, 172 kB (HTTP/3 to be found) (repeat visits)"
    assert repeat.label(["visit"]) == found.label()
    assert (repeat.fault(), repeat.rows()) == (None, found.rows())  # the visit before has no rows
    assert not page(protocol="h3").announcement


APART = [
    {"name": "document", "type": "document", "size": 2000, "cacheable": True},
    {"name": "scripts", "type": "script", "size": 1000, "by": "document", "count": 8, "host": "b", "cacheable": True},
    {"name": "style", "type": "style", "size": 3000, "by": "document"},
    {"name": "images", "type": "image", "size": 5000, "by": "style", "count": 2, "host": "c"},
]


def apart(**values: Any) -> WorkloadKind:
    return page(site={"name": "apart", "resources": APART}, **values)


def test_each_host_has_connections_of_its_own() -> None:
    """Over h1 one to the page's own, six to b for its 8 scripts, two to c."""
    count = {"users": 2, "requests": 3, "warmup": 1}
    new, old = apart(**count), apart(**count, protocol="h1")
    assert (new.hosts(), [new.host(index) for index in (0, 1, 9, 10)]) == (["b", "c"], [None, "b", None, "c"])
    assert (new.connection_count(), new.connections_opened(), new.most_on_connection()) == (6, 24, 8)
    assert (old.connection_count(), old.connections_opened(), old.most_on_connection()) == (36, 72, 1)
    assert (page().hosts(), page().host(3)) == ([], None)


def test_other_hosts_are_reached_by_handshakes_of_their_own() -> None:
    """h2: three depths, each with a host that is new; slow start to the 10 kB of c. h1: two turns for b's 8."""
    assert apart(requests=1).round_trips() == pytest.approx(3 + 3 * 2 + 0.75, abs=0.01)
    assert apart(requests=1, protocol="h1").round_trips() == pytest.approx(4 + 3 * 2 + 0.16, abs=0.01)


def test_what_a_client_is_told_of_hosts_and_pauses() -> None:
    told = apart(pause="1500ms").file(TARGET).model_dump(mode="json", exclude_unset=True)
    assert told["pause_ns"] == 1_500_000_000
    assert [one.get("host") for one in told["page"]] == [None, *["b.h123.test"] * 8, None, *["c.h123.test"] * 2]
    assert (told["host"], told["connections"]) == ("h123.test", 1)
    plain = page().file(TARGET).model_dump(mode="json", exclude_unset=True)
    assert "pause_ns" not in plain
    assert not any("host" in one for one in plain["page"])


@given(st.integers(1, 20), st.integers(0, 5), st.integers(0, 10**10), st.booleans())
def test_a_user_rests_once_less_than_it_visits(requests: int, warmup: int, pause: int, repeats: bool) -> None:
    kept = {"requests": requests, "warmup": warmup, "visit": "repeat" if repeats else "first"}
    usual, rested = page(**kept), page(**kept, pause=pause)
    more = (rested.pause_s() - usual.pause_s()) * usual.each() * (2 if repeats else 1)
    assert more == pytest.approx((requests + warmup - 1) * pause / 1e9, abs=1e-6)
    assert rested.longest_pause_ns() == max(usual.longest_pause_ns(), pause)
    assert rested.longest_silence_ns() == usual.longest_silence_ns(), "each visit has new connections"
    assert page(pause=pause, cold=False).longest_silence_ns() == rested.longest_pause_ns()


def test_a_pause_and_returning_visitors_are_told_in_words() -> None:
    assert page(pause="2s").label() == "page example, 10 requests, 172 kB (2 s between visits)"
    work = apart(cache="kept")
    assert work.label() == "page apart, 4 requests, 15 kB (returning visitors)"
    assert (work.fault(), work.hosts(), work.each()) == (None, ["c"], 40)
    assert [one.down for one in work.exchanges()] == [2000, 3000, 5000, 5000]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"protocol": "h2", "fallback": True}, "leave it out for h2"),
        ({"cache": "kept"}, "nothing but the document of the site example is `cacheable`"),
        ({"cache": "kept", "documents": True}, "start each visit with an empty cache"),
        ({"site": {"name": "apart", "resources": APART}, "documents": True}, "a browser would share its connections"),
        ({"protocol": "h3", "announced": "https-record"}, "write `fallback: true` too"),
        ({"protocol": "h3", "fallback": True, "cold": False}, "`fallback` needs visits with new connections"),
        ({"visit": "repeat", "cold": False}, "`visit: repeat` needs visits with new connections"),
        ({"visit": "repeat", "users": 2}, "closes the connections of all users at once"),
    ],
)
def test_what_no_visit_can_be(values: dict[str, Any], said: str) -> None:
    assert said in (page(**values).fault() or "")


PAGE = "  kind: page\n  site: small\n"


@pytest.mark.parametrize(
    ("settings", "line", "fault"),
    [
        ("  kind: page\n", 15, "needs `site`"),
        ("  site: small\n", 15, "'site' belongs to workloads of the kind page"),
        ("  kind: page\n  site: smal\n", 16, "there is no site 'smal'"),
        (PAGE + "  rate: 5.0\n", 15, "leave out `rate`"),
        (PAGE + "  connections: 4\n", 15, "leave out `connections`"),
        (PAGE + "  pause: soon\n", 17, "pause"),
        (PAGE + "  pause: -1s\n", 17, "negative"),
        (PAGE + "  cache: full\n", 17, "cache: 'full' is not allowed"),
        (PAGE + "  cache: kept\n", 15, "nothing but the document of the site small"),
        ("  pause: 1s\n", 15, "'pause' belongs to workloads of the kind page"),
    ],
)
def test_a_study_of_what_is_no_page_is_refused(tmp_path: Path, settings: str, line: int, fault: str) -> None:
    path = study(tmp_path, settings)
    with pytest.raises(UserError) as refused:
        load_study(path)
    assert refused.value.message.startswith(f"{path}:{line}: ")
    assert fault in refused.value.message


def test_a_study_of_a_page_names_its_site(tmp_path: Path) -> None:
    parameters = load_study(study(tmp_path, PAGE)).parameters(CELL)
    assert parameters.workload.label() == "page small, 22 requests, 1.57 MB"


def test_a_study_may_visit_pages_in_some_of_its_trials(tmp_path: Path) -> None:
    written = STUDY.replace("    light:", "    page: {kind: page, site: small}\n    light:").replace(
        "[latency]", "[page_complete]"
    )
    assert load_study(write(tmp_path, written)).compare.families[0].metrics == ["page_complete"]


def test_only_pages_have_visits(tmp_path: Path) -> None:
    path = write(tmp_path, STUDY.replace("metrics: [latency, ttfb]", "metrics: [latency, page_complete]"))
    with pytest.raises(UserError, match="page_complete measures page visits"):
        load_study(path)
