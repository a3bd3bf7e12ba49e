"""When packets show what a source says of a constant: the rules, at their edges."""

import pytest

from h123.catalogue import DeclaredConstants
from h123.verification.constants import Constants, DeclaredComparison, compared
from h123.verification.constants.findings import Datagrams, Flight, LossResponse, Tail

QUIC = DeclaredConstants.model_validate(
    {
        "subject": "small",
        "protocol": "h3",
        "congestion": "cubic",
        "source": "tinyquic",
        "version": "1",
        "read_from": "crates.io",
        "initial_window": {"packets": 10, "where": ["a.rs:1"]},
        "decrease": {"keeps": 0.7, "where": ["a.rs:2"]},
        "retransmission": {"says": "as RFC 9002", "least_ms": 28, "most_ms": 31, "where": ["a.rs:3"]},
    }
)
SEEN = Constants(
    role="server",
    protocol="h3",
    congestion="cubic",
    first_flight=Flight(packets=12, full=10, bytes=12_300, spread=0),
    datagrams=Datagrams(first=1200, common=1452, largest=1452, grew=3),
    decrease=LossResponse(keeps=0.74, each=[0.74], regrown={}),
    tail_near=Tail(round_trip_ms=2, first_ms=30.1, second_ms=59),
)
WINDOW, LOSS, TAIL = range(3)


def _one(which: int, said: DeclaredConstants = QUIC, **seen: object) -> DeclaredComparison:
    return compared(said, SEEN.model_copy(update=seen))[which]


def _flight(packets: int, full: int, size: int) -> Flight:
    return Flight(packets=packets, full=full, bytes=size, spread=0)


def test_what_is_the_same() -> None:
    window, loss, tail = compared(QUIC, SEEN)
    assert window.agrees
    assert loss.agrees
    assert tail.agrees
    assert (window.says, loss.says, tail.says) == ("10 packets: 12 kB", "0.7", "as RFC 9002: 28 to 31 ms")
    assert (loss.shows, tail.shows, tail.where) == ("0.74", "30.1 ms", ("a.rs:3",))


@pytest.mark.parametrize(
    ("flight", "agrees"),
    [
        (_flight(9, 9, 10_800), True),
        (_flight(9, 8, 10_799), False),
        (_flight(11, 11, 13_200), True),
        (_flight(12, 12, 14_400), False),
        (_flight(32, 32, 38_400), False),
    ],
)
def test_quic_fills_its_window_with_full_packets_to_within_one(flight: Flight, agrees: bool) -> None:
    assert _one(WINDOW, first_flight=flight).agrees is agrees


def test_a_source_may_count_packets_of_another_size() -> None:
    window = QUIC.initial_window.model_copy(update={"packets": 32, "of_bytes": 1460})
    said = QUIC.model_copy(update={"initial_window": window})
    assert _one(WINDOW, said, first_flight=_flight(40, 38, 46_800)).agrees
    assert not _one(WINDOW, said, first_flight=_flight(32, 32, 38_400)).agrees


@pytest.mark.parametrize(("packets", "agrees"), [(9, False), (10, True), (11, False)])
def test_tcp_counts_packets_of_any_size(packets: int, agrees: bool) -> None:
    said = QUIC.model_copy(update={"protocol": "h2"})
    assert _one(WINDOW, said, first_flight=_flight(packets, 5, 7_600)).agrees is agrees


@pytest.mark.parametrize(("keeps", "agrees"), [(0.66, False), (0.67, True), (0.78, True), (0.79, False), (1.0, False)])
def test_a_factor_is_seen_when_the_window_has_grown_again(keeps: float, agrees: bool) -> None:
    assert _one(LOSS, decrease=LossResponse(keeps=keeps, each=[keeps], regrown={})).agrees is agrees


@pytest.mark.parametrize(("first", "agrees"), [(27.9, False), (28, True), (32.5, True), (32.6, False), (200, False)])
def test_a_tail_may_wait_for_a_timer(first: float, agrees: bool) -> None:
    assert _one(TAIL, tail_near=Tail(round_trip_ms=2, first_ms=first, second_ms=None)).agrees is agrees


def test_of_tcp_the_second_time_counts() -> None:
    wait = QUIC.retransmission.model_copy(update={"attempt": 2, "least_ms": 202, "most_ms": 222})
    said = QUIC.model_copy(update={"retransmission": wait})
    assert _one(TAIL, said, tail_near=Tail(round_trip_ms=2, first_ms=22, second_ms=220)).agrees
    assert not _one(TAIL, said, tail_near=Tail(round_trip_ms=2, first_ms=220, second_ms=None)).agrees


def test_what_is_not_told_is_not_the_same() -> None:
    missing = [_one(which, first_flight=None, decrease=None, tail_near=None) for which in (WINDOW, LOSS, TAIL)]
    assert [(one.agrees, one.shows) for one in missing] == [(False, "")] * 3


def test_bbr_has_no_factor() -> None:
    assert len(compared(QUIC.model_copy(update={"decrease": None}), SEEN)) == 2
