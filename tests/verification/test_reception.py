"""How many requests a client has open at once, and its windows, by logs of which both are known."""

from typing import Any

import pytest

from h123.catalogue import Reach, catalogue
from h123.verification.client_cases import STREAMS, WINDOWS, ClientCase, assignments
from h123.verification.clients.receive_limits import (
    Reception,
    Window,
    count_cancelled,
    count_requests,
    reception,
    reception_faults,
    reception_words,
)

FIRST, MOST = 1000, 5000


def _packet(time: float, way: str, number: int, *frames: dict[str, Any], kind: str = "1RTT") -> dict[str, Any]:
    header = {"packet_type": kind, "packet_number": number}
    return {"time": time, "name": f"transport:packet_{way}", "data": {"header": header, "frames": list(frames)}}


def _stream(number: int, length: int = 10, **more: bool) -> dict[str, Any]:
    return {"frame_type": "stream", "stream_id": number, "offset": 0, "length": length, **more}


def _parameters() -> dict[str, Any]:
    told = {"initiator": "remote", "initial_max_data": 3 * FIRST, "initial_max_stream_data_bidi_local": FIRST}
    return {"time": 0, "name": "transport:parameters_set", "data": told}


def _asked(requests: int, at_once: int) -> list[dict[str, Any]]:
    """By a client that has so many open at once: the next ones come when answers have."""
    log = [_parameters()]
    for n in range(requests):
        if n >= at_once:
            log += [_packet(n, "sent", n, _stream(4 * (n - at_once)), _stream(4 * (n - at_once), fin=True))]
        log += [_packet(n, "received", n, _stream(4 * n)), _packet(n, "received", n, _stream(4 * n, fin=True))]
    return log


@pytest.mark.parametrize(("at_once", "requests"), [(100, 300), (300, 300), (1, 5), (7, 300)])
def test_requests_are_open_until_they_are_answered(at_once: int, requests: int) -> None:
    found = reception(_asked(requests, at_once))
    assert found is not None
    assert found.streams == at_once


def test_what_a_client_gives_up_is_not_open_any_more() -> None:
    given_up = _packet(9, "received", 9, {"frame_type": "stop_sending", "stream_id": 4})
    found = reception([*_asked(3, 3), given_up, *(_packet(10, "received", n, _stream(4 * n)) for n in (10, 11))])
    assert found is not None
    assert found.streams == 4


def test_each_request_that_is_given_up_counts_once() -> None:
    ends = [{"frame_type": kind, "stream_id": stream} for stream in (4, 8) for kind in ("stop_sending", "reset_stream")]
    log = [*_asked(3, 3), _packet(100, "received", 90, *ends), _packet(101, "received", 91, *ends[:2])]
    assert count_cancelled(log) == 2
    assert count_cancelled(_asked(3, 3)) == 0


def test_each_request_that_was_made_counts_once() -> None:
    """Be it that it was given up before anything of it came."""
    ends = [{"frame_type": "reset_stream", "stream_id": stream} for stream in (8, 12)]
    log = [*_asked(3, 3), _packet(100, "received", 90, *ends), _packet(900, "received", 91, _stream(2))]
    assert count_requests(log) == 4


def test_control_streams_are_no_requests() -> None:
    log = [*_asked(3, 3), _packet(900, "received", 90, _stream(2)), _packet(900, "received", 91, _stream(3))]
    found = reception(log)
    assert found is not None
    assert found.streams == 3


def _downloaded() -> list[dict[str, Any]]:
    """Packets of a handshake have numbers of their own; one of five of the answer is lost and sent again."""
    ranges = {"frame_type": "ack", "acked_ranges": [[1], [3, 5]]}
    widened = {"frame_type": "max_stream_data", "stream_id": 0, "maximum": 400 + MOST}
    return [
        _parameters(),
        _packet(1, "sent", 1, {"frame_type": "crypto"}, kind="handshake"),
        *(_packet(2, "sent", number, _stream(0, 100)) for number in range(1, 6)),
        _packet(3, "received", 1, {"frame_type": "ack", "acked_ranges": [[1, 5]]}, kind="handshake"),
        _packet(4, "received", 2, ranges, widened),
        _packet(5, "sent", 6, _stream(0, 100)),
        _packet(6, "received", 3, {"frame_type": "ack", "acked_ranges": [[1], [3, 6]]}),
        _packet(7, "received", 4, {"frame_type": "max_data", "maximum": 500 + 2 * MOST}),
    ]


def test_a_window_is_what_lies_beyond_the_bytes_that_have_arrived() -> None:
    found = reception(_downloaded())
    assert found == Reception(0, Window(FIRST, MOST), Window(3 * FIRST, 2 * MOST))


def test_a_log_without_parameters_tells_nothing() -> None:
    assert reception(_downloaded()[1:]) is None


def _assignment(name: str) -> ClientCase:
    return next(one for one in assignments(catalogue()["go"]) if one.name == name)


def test_what_is_declared_must_be_seen() -> None:
    found = Reception(100, Window(131_072, 1_310_720), Window(262_144, 2_621_440))
    streams, windows = _assignment(STREAMS), _assignment(WINDOWS)
    right = Reach.model_validate({"streams": {"h3": 100}, "windows": {"h3": "1.25MiB"}})
    wrong = Reach.model_validate({"streams": {"h3": 128}, "windows": {"h3": "6MiB"}})
    assert [*reception_faults(streams, right, found), *reception_faults(windows, right, found)] == []
    assert list(reception_faults(streams, Reach(), found)) == []
    [fault] = reception_faults(streams, wrong, found)
    assert "100 requests were open at once, but 128 are declared" in fault
    [fault] = reception_faults(windows, wrong, found)
    assert "1.31 MB at most, but 6.29 MB is declared" in fault
    [fault] = reception_faults(windows, right, None)
    assert "log does not contain" in fault
    assert reception_words(streams, found) == "100 of 300 requests"
    assert reception_words(windows, found) == (
        "131 kB at first, 1.31 MB at most per stream; 262 kB at first, 2.62 MB at most per connection"
    )
