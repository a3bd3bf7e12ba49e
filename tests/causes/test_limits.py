"""What holds a sender up where somebody tells: TCP's windows in packets, a QUIC stack's own log."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flow.packets import MS, down, made, up
from h123.causes.cause import CONNECTION_LIMIT, STREAM_LIMIT
from h123.causes.connections.connection import Connection, connections
from h123.causes.connections.log_matching import match_logs
from h123.causes.senders.limits import limits
from h123.causes.senders.receive_window import full_window
from h123.causes.spans import Spans
from h123.packets.capture import DOWN, LOST, RETRY, UDP, UP, Packets
from h123.packets.stack_log import FlowControlStall, StackLog
from h123.study.networks.network import Direction

SYN, ACK = 0x02, 0x10
LINK = Direction(delay_ns=10 * MS)
FIRST = 2**32 - 2000
"""The sender's first number: it goes round while the test's bytes are sent."""


def _upload(acks: list[dict[str, Any]], sent: list[dict[str, Any]], first: int = FIRST) -> Connection:
    """A client that sends segments of 1000 bytes, and what the server acknowledges of them."""
    begin = (first + 1) % 2**32
    opening = [
        up(0, seq=first, flags=SYN, scale=3, window=1000),
        down(10, seq=70, ack=begin, flags=SYN | ACK, scale=3, window=3000),
        up(20, seq=begin, flags=ACK, window=1000),
    ]
    rows = [row | {"seq": (begin + row["seq"]) % 2**32, "flags": ACK, "payload": 1000} for row in sent]
    told = [row | {"ack": (begin + row["ack"]) % 2**32, "flags": ACK} for row in acks]
    return connections(made([*opening, *rows, *told]), LINK, LINK)[0]


def _ms(spans: Spans) -> list[tuple[float, float]]:
    return [(begin / MS, end / MS) for begin, end in zip(spans.begins.tolist(), spans.ends.tolist(), strict=True)]


SENT = [up(20, seq=0), up(20, seq=1000), up(20, seq=2000), up(52, seq=3000), up(52, seq=4000)]


@pytest.mark.parametrize("first", [5, FIRST, 2**32 - 1])
def test_a_window_is_full_from_the_packet_that_filled_it_until_there_is_room_again(first: int) -> None:
    """3000 bytes unscaled with the SYN; later 375 << 3 bytes beyond what is acknowledged."""
    one = _upload([down(40, ack=3000, window=375), down(72, ack=5000, window=1000)], SENT, first)
    assert _ms(full_window(one.up, one.down)) == [(20, 50)]


def test_a_window_that_has_room_for_a_packet_is_not_full() -> None:
    one = _upload([down(40, ack=3000, window=375), down(72, ack=5000, window=1000)], SENT[:2])
    assert _ms(full_window(one.up, one.down)) == []


def test_a_sender_waits_for_half_the_window_but_not_for_what_it_does_not_want() -> None:
    """The answer at 35 ms makes room for one packet alone, that at 45 ms for all; nothing is sent until 80 ms."""
    acks = [down(35, ack=1000, window=375), down(45, ack=3000, window=375)]
    one = _upload(acks, [*SENT[:3], up(80, seq=3000)])
    assert _ms(full_window(one.up, one.down)) == [(20, 55)]


def test_without_the_handshake_windows_have_no_scale() -> None:
    one = _upload([down(40, ack=3000, window=375)], SENT)
    assert not len(full_window(one.up.first(0), one.down).begins)
    late = made([up(20, seq=0, payload=1000, flags=ACK), down(40, ack=1000, window=0, flags=ACK)])
    cut = connections(late, LINK, LINK)[0]
    assert not len(full_window(cut.up, cut.down).begins)


def _quic(at: float, packets: int, *, gap: float = 7.0, retry: bool = False) -> list[dict[str, Any]]:
    rows = [up(at, payload=1200)] + ([down(at + 5, payload=100, flags=RETRY)] if retry else [])
    rows += [down(at + 20 + gap * n * n, payload=1200, fate=LOST if n == 2 else 0) for n in range(packets)]
    return [row | {"protocol": UDP} for row in rows]


def _log(times: list[float], **fields: Any) -> StackLog:
    """Of packets sent at these times, ms."""
    nothing, none = np.empty(0, np.int64), np.empty(0)
    log = StackLog((np.array(times) * MS).astype(np.int64), nothing, none, none, none, nothing, ())
    return replace(log, **fields)


def _two_connections() -> Packets:
    other = [row | {"source": row["source"] + row["way"] - 1} for row in _quic(3, 9, gap=4)]
    for row in other:
        row["source" if row["way"] == UP else "destination"] = 40_000
    return made([*_quic(0, 9, retry=True), *other])


def test_a_log_is_of_the_connection_whose_packets_were_sent_when_it_says() -> None:
    first, second = connections(_two_connections(), LINK, LINK)
    # A clock of its own; the handshake's first datagram had two packets; the last one came after the record's end.
    logs = [_log([1000, *(1000 + 4 * n * n for n in range(9)), 9000]), _log([50 + 7 * n * n for n in range(9)])]
    told = match_logs(logs, [first, second])
    assert [log.sendings[0] / MS for log in told if log] == [20, 23]
    assert [len(log.sendings) for log in told if log] == [9, 11]


def test_a_log_that_fits_no_connection_is_of_none() -> None:
    found = connections(_two_connections(), LINK, LINK)
    assert match_logs([_log([0, 1, 2, 3])], found) == [None, None]
    assert match_logs([], found) == [None, None]


@pytest.mark.parametrize(("way", "own", "begin", "end"), [(DOWN, True, 30, 70), (UP, False, 20, 80)])
def test_what_flow_control_holds_is_told_by_the_log(way: int, own: bool, begin: float, end: float) -> None:
    """What the server hears of the client left there half a round trip before."""
    one = connections(made(_quic(0, 5)), LINK, LINK)[0]
    held = (FlowControlStall(30 * MS, 70 * MS, True, own), FlowControlStall(30 * MS, 70 * MS, False, not own))
    found = dict(limits(one, way, _log([0, 1], stalls=held)))
    assert _ms(found[STREAM_LIMIT]) == [(begin, end)]
    assert _ms(found[CONNECTION_LIMIT]) == []
    assert limits(one, way, None) == []


def test_a_stream_is_not_what_a_full_congestion_window_waits_for() -> None:
    one = connections(made(_quic(0, 5)), LINK, LINK)[0]
    looks = {
        "at": np.array([25, 40, 60]) * MS,
        "window": np.array([20_000.0, 20_000.0, np.nan]),
        "in_flight": np.array([10_000.0, 19_500.0, 0.0]),
    }
    log = _log([0, 1], stalls=(FlowControlStall(30 * MS, 70 * MS, True, True),), **looks)
    assert _ms(dict(limits(one, DOWN, log))[STREAM_LIMIT]) == [(30, 40), (60, 70)]
