"""Series of made packets, whose truth is known."""

from typing import Any

import numpy as np
import pytest

from flow.packets import MS, down, made, up
from h123.causes import connections
from h123.flow import (
    Bins,
    bytes_in_flight,
    capacity,
    fate_times,
    full_queue_ns,
    logged_round_trip,
    logged_window,
    round_trips,
    sender_window,
    sequences,
    smoothed_round_trip,
    throughput,
    waiting,
)
from h123.packets.capture import DOWN, LOST, QUEUE_FULL, UDP
from h123.packets.stack_log import StackLog
from h123.study.networks.network import Bottleneck, Change, Direction, Queue

WAY = Direction(delay_ns=10 * MS, rate=Bottleneck(bps=8_000_000), queue=Queue(bytes=5000))
BINS = Bins(0, 10 * MS, 10)


def test_throughput_is_what_left_the_link_when_it_did() -> None:
    packets = made([down(1, bytes=1000), down(2, bytes=500), down(15, bytes=250), down(16, bytes=99, fate=LOST)])
    assert throughput(packets, BINS).tolist() == [0, 1500 * 8 * 100, 250 * 8 * 100, *[0] * 7]


def test_packets_that_come_at_once_wait_for_one_another() -> None:
    three = [down(5, bytes=1000), down(5, bytes=1000), down(5.5, bytes=1000), down(50, bytes=1000)]
    waited = waiting(made(three), WAY)
    assert (waited.values / MS).tolist() == [0, 1, 1.5, 0]  # 1000 bytes take a millisecond
    assert (waited.times / MS).tolist() == [5, 5, 5.5, 50]


def test_what_found_the_queue_full_did_not_wait_and_without_a_rate_nothing_does() -> None:
    packets = made([down(5, bytes=1000), down(5, bytes=1000, fate=QUEUE_FULL), down(5.5, bytes=1000)])
    assert (waiting(packets, WAY).values / MS).tolist() == [0, 0.5]
    assert len(waiting(packets, Direction(delay_ns=MS)).values) == 0
    assert (fate_times(packets, QUEUE_FULL) / MS).tolist() == [5]


def test_packets_wait_for_those_of_cross_traffic_too() -> None:
    alone, behind = (
        down(5, left_ms=16, bytes=1000),
        down(30, left_ms=45, bytes=1000),
    )  # the second behind four others' milliseconds
    packets = made([alone, behind, down(30, bytes=1000, fate=QUEUE_FULL), down(60, bytes=1000, fate=LOST)])
    # What the shortest took beyond its own millisecond is the delay.
    waited = waiting(packets, WAY, shared=True)
    assert (waited.values / MS).tolist() == [0, 4, 0]
    assert (waited.times / MS).tolist() == [5, 30, 60]
    assert (waiting(packets, WAY).values / MS).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("queue", "full_ms"), [(Queue(bytes=5000), 5), (Queue(ns=7 * MS), 7), (Queue(packets=9), None), (None, None)]
)
def test_a_full_queue(queue: Queue | None, full_ms: float | None) -> None:
    found = full_queue_ns(WAY.model_copy(update={"queue": queue}))
    assert found == (None if full_ms is None else full_ms * MS)


def test_the_rate_changes_when_the_network_says() -> None:
    change = Change(at_ns=40 * MS, rate=Bottleneck(bps=1_000_000))
    later = Change(at_ns=400 * MS, rate=Bottleneck(bps=3_000_000))
    steps = capacity(WAY.model_copy(update={"changes": [change, later]}), 7, 100 * MS)
    assert steps.times.tolist() == [7, 7 + 40 * MS, 100 * MS]
    assert steps.values.tolist() == [8e6, 1e6, 1e6]
    assert not len(capacity(Direction(), 0, 100).times)


def _exchange(**fields: Any) -> Any:
    """Two segments down at 10 and 11 ms, and one that is lost at 12 ms and sent again at 60 ms. The client answers to
    the first after it arrived, at 25 ms, and to what was sent again."""
    rows = [
        up(0, payload=200),
        down(10, payload=1000, seq=4_294_967_000),
        down(11, payload=1000, seq=704),
        down(12, payload=1000, seq=1704, fate=LOST),
        up(25),
        down(60, payload=1000, seq=1704),
        up(71),
    ]
    packets = made([row | fields for row in rows])
    return connections(packets, WAY.model_copy(update={"rate": None}), WAY.model_copy(update={"rate": None}))


def test_bytes_are_in_flight_until_the_sender_can_know() -> None:
    """The first two until 35 ms, the lost one until it is sent again, that until 81 ms."""
    found = bytes_in_flight(_exchange(), DOWN, BINS)
    assert found.tolist() == [0, 3000, 3000, 3000, 1000, 1000, 1000, 1000, 1000, 0]


def test_a_round_trip_ends_with_the_first_packet_that_answers_to_one() -> None:
    found = round_trips(_exchange(), DOWN)
    assert (found.times / MS).tolist() == [10, 11, 60]
    assert (found.values / MS).tolist() == [25, 24, 21]


def test_tcp_s_numbers_go_on_after_the_last_one() -> None:
    (one,) = sequences(_exchange(), DOWN)
    assert not one.quic
    assert one.ends.tolist() == [1000, 2000, 3000, 3000]
    assert one.losses.tolist() == [2]
    assert one.again.tolist() == [3]


def test_of_quic_the_datagrams_are_summed_up() -> None:
    (one,) = sequences(_exchange(protocol=UDP), DOWN)
    assert one.quic
    assert one.ends.tolist() == [1000, 2000, 3000, 4000]
    assert one.losses.tolist() == [2]
    assert one.again.tolist() == []


def test_who_sends_nothing_has_no_series() -> None:
    only_up = connections(made([up(0, payload=100)]), WAY, WAY)
    assert sequences(only_up, DOWN) == []
    assert bytes_in_flight(only_up, DOWN, BINS).tolist() == [0] * 10
    assert len(round_trips(only_up, DOWN).times) == 0
    assert bytes_in_flight([], DOWN, BINS).tolist() == [0] * 10


def test_tcp_s_account_is_summed_up_over_connections() -> None:
    rows = [
        {"at_ns": at, "host": host, "state": state, "cwnd": cwnd, "snd_mss": 1000, "rtt_ns": rtt}
        for at, host, state, cwnd, rtt in [
            (20, "server", 1, 30, 7),
            (10, "server", 1, 10, 5),
            (10, "server", 1, 20, 9),
            (10, "server", 10, 99, 0),
            (10, "client", 1, 99, 99),
        ]
    ]
    account = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    window, smoothed = sender_window(account, "server"), smoothed_round_trip(account, "server")
    assert (window.times.tolist(), window.values.tolist()) == ([10, 20], [30_000, 30_000])
    assert (smoothed.times.tolist(), smoothed.values.tolist()) == ([10, 20], [7, 7])
    assert len(sender_window(account, "nobody").times) == len(smoothed_round_trip(account, "nobody").times) == 0
    assert np.array_equal(window.times, np.sort(window.times))


def _log(at: list[float], window: list[float], trip: list[float], ended: float) -> StackLog:
    """Times in ms."""
    times = (np.array(at) * MS).astype(np.int64)
    unknown = np.full(len(at), np.nan)
    sent = np.array([at[0] * MS if at else 0, ended * MS], np.int64)
    return StackLog(sent, times, np.array(window, float), unknown, np.array(trip, float), sent[:0], ())


def test_logged_windows_add_up_while_their_connections_last() -> None:
    logs = [_log([15, 25, 26], [1000, np.nan, 3000], [0, 0, 0], 55), _log([35], [500], [0], 38)]
    found = logged_window(logs, BINS)
    assert (found.times / MS).tolist() == [10, 20, 30, 40, 50]
    assert found.values.tolist() == [1000, 3000, 3500, 3000, 3000]
    for nothing in ([], [_log([], [], [], 9)], [_log([5], [np.nan], [0], 9)]):
        assert not len(logged_window(nothing, BINS).times)


def test_logged_round_trips_are_the_medians_of_what_is_told() -> None:
    logs = [_log([11, 12, 13], [1, 1, 1], [10, np.nan, 30], 20), _log([14, 41], [1, 1], [50, 7], 50)]
    found = logged_round_trip(logs, BINS)
    assert (found.times / MS).tolist() == [10, 40]
    assert found.values.tolist() == [30, 7]
    assert not len(logged_round_trip([], BINS).times)
