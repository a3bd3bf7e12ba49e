"""How many requests a server has in flight at once: a limit that is declared is what is found."""

import pytest

from h123.catalogue import Server
from h123.verification.result import Result, Verdict
from h123.verification.server_checks import crowd


def server(**told: object) -> Server:
    listens = {"h1": ["tcp"], "h2": ["tcp"], "h3": ["udp"]}
    return Server.model_validate({"command": ["x"], "protocols": list(listens), "listens": listens, **told})


LIMITED = {"streams": {"h2": 8}}


def seen(check: str, detail: str = "", protocol: str = "h2") -> Result:
    verdict: Verdict = "failed" if detail else "passed"
    return Result(role="server", protocol=protocol, check=check, verdict=verdict, detail=detail)


def test_so_many_are_asked_for_as_are_declared() -> None:
    limited = server(limits=LIMITED)
    assert [crowd.at_once(limited, protocol) for protocol in ("h1", "h2", "h3")] == [100, 8, 100]
    assert [crowd.beyond(limited, protocol) for protocol in ("h1", "h3")] == [None, None]
    asked = crowd.beyond(limited, "h2")
    assert asked
    assert (asked["at_once"], asked["in_turn"], asked["methods"]) == (9, False, [])


def test_where_downloads_are_sent_in_turn_uploads_show_the_limit() -> None:
    asked = crowd.beyond(server(limits=LIMITED, in_turn=["h2"], methods=["GET", "POST"]), "h2")
    assert asked
    assert (asked["in_turn"], asked["methods"]) == (True, ["POST"])
    assert crowd.beyond(server(limits=LIMITED, in_turn=["h2"]), "h2") is None


SHORT = "only 8 of 100 had begun: context deadline exceeded (within 30s)"
ADVICE = "if the program itself allows no more, declare it in [server] of subject.toml: `limits = {streams = {h2 = 8}}`"


def test_fewer_than_the_least_come_with_the_line_to_declare() -> None:
    (told,) = crowd.advised([seen("100 downloads at once", SHORT)])
    assert told.detail == f"{SHORT}; {ADVICE}"


@pytest.mark.parametrize(
    "result",
    [
        seen("100 downloads at once"),
        seen("100 downloads at once", "only 0 of 100 had begun: status 500 instead of 200"),
        seen("100 downloads at once", "after 3 bytes: EOF"),
        seen("100 downloads at once", SHORT, protocol="h1"),  # each has a connection of its own
        seen("GET 1", SHORT),
    ],
)
def test_what_is_no_limit_has_no_such_line(result: Result) -> None:
    assert list(crowd.advised([result])) == [result]


def test_a_limit_is_found_or_said_to_be_none() -> None:
    others = [seen("TLS"), seen("limits")]
    nine = "9 downloads at once"
    assert crowd.limit_fault([*others, seen(nine, "only 8 of 9 had begun: late (within 10s)")], 8) == ""
    assert "9 were in flight at once, so 8 is not a limit" in crowd.limit_fault([*others, seen(nine)], 8)
    fewer = "only 5 of 9 had begun: late (within 10s)"
    assert crowd.limit_fault([*others, seen(nine, fewer)], 8) == f"{nine}: {fewer}"
    assert crowd.limit_fault([seen("connection", "refused")], 8) == "connection: refused"
