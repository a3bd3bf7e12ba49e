"""How long a server leaves an idle connection open: a limit that is declared is what is found."""

import pytest

from h123.catalogue import Server
from h123.verification.result import Result, Verdict
from h123.verification.server_checks import idleness

WINDOWS = "receive windows of 6291456 bytes a stream and 15728640 a connection, 100 requests at a time"
SHORT = "a connection may be idle for 20s, which is less than 30s: connections would end in a study's pauses"


def server(**idle: str) -> Server:
    listens = {"h1": ["tcp"], "h2": ["tcp"], "h3": ["udp"]}
    told = {"command": ["x"], "protocols": list(listens), "listens": listens, "limits": {"idle": idle}}
    return Server.model_validate(told)


def limits(detail: str, verdict: Verdict = "passed", protocol: str = "h3") -> Result:
    return Result(role="server", protocol=protocol, check="limits", verdict=verdict, detail=detail)


def announced(span: str) -> Result:
    return limits(f"{WINDOWS}, {span}, datagrams of 1452 bytes")


@pytest.mark.parametrize(
    ("declared", "result"),
    [
        ({}, announced("idle for 5m0s")),
        ({}, announced("idle for 1m0s")),
        ({}, announced("no limit to idleness")),
        ({"h3": "30s"}, announced("idle for 30s")),
        ({"h3": "1500ms"}, announced("idle for 1.5s")),
        ({"h2": "30s"}, limits(WINDOWS, protocol="h2")),
        ({}, limits("no answer: EOF", "failed")),
    ],
)
def test_a_minute_or_what_is_declared_is_left_as_it_was_found(declared: dict[str, str], result: Result) -> None:
    assert list(idleness.judge_idleness(server(**declared), [result])) == [result]


def test_less_than_any_server_may_announce_unasked_passes_where_it_is_declared() -> None:
    (told,) = idleness.judge_idleness(server(h3="20s"), [limits(SHORT, "failed")])
    assert told.verdict == "passed"


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (announced("idle for 30s"), 'limits = {idle = {h3 = "30s"}}'),
        (announced("idle for 59.5s"), 'limits = {idle = {h3 = "59.5s"}}'),
        (limits(SHORT, "failed"), 'limits = {idle = {h3 = "20s"}}'),
    ],
)
def test_less_than_a_minute_fails_with_the_line_to_declare(result: Result, line: str) -> None:
    (told,) = idleness.judge_idleness(server(), [result])
    assert told.verdict == "failed"
    assert f"declare it in [server] of subject.toml: `{line}`" in told.detail


@pytest.mark.parametrize("span", ["idle for 5m0s", "idle for 29s"])
def test_another_time_than_the_declared_one_fails(span: str) -> None:
    (told,) = idleness.judge_idleness(server(h3="30s"), [announced(span)])
    assert told.verdict == "failed"
    assert "not for 30 s as declared" in told.detail


def test_over_tcp_so_much_is_asked_for_and_twice_as_much() -> None:
    impatient = server(h2="20s", h3="30s")
    assert [idleness.idle_time_ns(impatient, p) / 1e9 for p in ("h1", "h2", "h3")] == [58, 18, 58]
    assert [idleness.beyond(impatient, p) for p in ("h1", "h2", "h3")] == [None, {"idle_ns": 40_000_000_000}, None]


def test_a_limit_is_found_or_said_to_be_none() -> None:
    def seen(verdict: Verdict, check: str = "a connection idle for 40s") -> list[Result]:
        return [Result(role="server", protocol="h2", check=check, verdict=verdict, detail="EOF")]

    assert idleness.limit_fault(seen("failed"), 40 * 10**9) == ""
    assert "was still open after 40 s, so half of that is not a limit" in idleness.limit_fault(
        seen("passed"), 40 * 10**9
    )
    assert idleness.limit_fault(seen("failed", "connection"), 40 * 10**9) == "connection: EOF"
    assert idleness.limit_fault([], 40 * 10**9)
