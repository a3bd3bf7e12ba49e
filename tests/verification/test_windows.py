"""Receive windows, as the probe tells them."""

from h123.verification import Result, receive_windows
from h123.verification.result import Verdict


def limits(protocol: str, detail: str, verdict: Verdict = "passed") -> Result:
    return Result(role="server", protocol=protocol, check="limits", verdict=verdict, detail=detail)


def test_windows_of_each_protocol_that_has_some() -> None:
    told = receive_windows(
        [
            Result(role="server", protocol="h1", check="GET 1", verdict="passed"),
            limits("h2", "receive windows of 65535 bytes a stream and 1048576 a connection, 250 requests at a time"),
            limits("h3", "receive windows of 6291456 bytes a stream and 15728640 a connection, idle for 30s"),
        ]
    )
    assert told == {
        "h2": "65.5 kB per stream, 1.05 MB per connection",
        "h3": "6.29 MB per stream, 15.7 MB per connection",
    }


def test_what_failed_tells_none() -> None:
    assert receive_windows([limits("h3", "no answer: EOF", "failed")]) == {}
