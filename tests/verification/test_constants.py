"""Constants of senders whose windows, sizes and timers are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.packets.capture import UDP
from h123.verification.constants import growth, recovery, words
from h123.verification.constants.findings import (
    Datagrams,
    Flight,
    HandshakeSize,
    LossResponse,
    NotMeasurable,
    Silence,
    SlowStart,
    Tail,
)
from h123.verification.constants.transfer import Transfer, download, upload
from verification.packet_tables import MS, SIZE, TRIP, Table, doubling, of_flights, opened


def down(table: Table) -> Transfer:
    return download(table.packets(), TRIP)


def test_the_handshake_ends_where_the_request_begins() -> None:
    seen = growth.handshake(download(of_flights([10, 20]), TRIP))
    assert seen == HandshakeSize(round_trips=2.0, bytes_up=2 * 52 + 352, bytes_down=52 + 952)


@given(
    st.integers(5, 40),
    st.lists(st.floats(1.3, 2.5), min_size=2, max_size=5),
    st.floats(0, 0.9),
    st.sampled_from([0, 1]),
)
def test_windows_are_what_is_sent_in_each_round_trip(first: int, growths: list[float], spread: float, way: int) -> None:
    windows = [first]
    for factor in growths:
        windows.append(int(windows[-1] * factor) + 1)
    begin = 2.5 if way else 2.0
    table = opened(way)
    table.flights(windows, begin, spread)
    seen = (download if way else upload)(table.packets(), TRIP)
    flight = growth.first_flight(seen)
    # A client's last words of the handshake and its request go with the body.
    words, size = (0, 0) if way else (2, 200)
    assert (flight.packets, flight.bytes) == (first + words, first * SIZE + size)
    assert flight.spread == pytest.approx(spread * (first - 1) / first, abs=0.002)
    assert seen.windows == [first * SIZE + size, *[window * SIZE for window in windows[1:-1]]]


def test_small_packets_count_in_the_first_flight() -> None:
    table = opened()
    for payload in (200, 50, *[SIZE] * 8):
        table.data(2.5 * TRIP, payload)
    table.flights([20], 3.5)
    assert growth.first_flight(down(table)) == Flight(packets=10, full=8, bytes=8 * SIZE + 250, spread=0.0)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ([160] * 6, "a fixed limit"),
        ([168, 176, 186, 195, 205, 215], "slower growth"),
        ([120, 130, 125, 140, 120, 130], "not known, because less is sent"),
        ([160], "not known"),
    ],
)
def test_what_slow_start_ends_by(after: list[int], why: str) -> None:
    seen = growth.slow_start(download(of_flights([*doubling(10, 5), *after, 5]), TRIP))
    assert seen.growth == 2.0
    assert seen.ends == 160 * SIZE
    assert seen.why.startswith(why)


def test_a_receive_window_of_tcp_is_named() -> None:
    limit = 160 * SIZE
    packets = of_flights([*doubling(10, 5), *[160] * 4, 5])
    sent, heard = packets["way"] == 1, np.flatnonzero(packets["way"] == 0)
    packets["seq"][sent] = 2**32 - 5000 + np.cumsum(packets["payload"][sent]) - packets["payload"][sent]
    for number in heard:
        got = sent & (packets["left_ns"] <= packets["at_ns"][number]) & (packets["payload"] > 0)
        packets["ack"][number] = (2**32 - 5000 + packets["payload"][got].sum()) % 2**32
    packets["flags"][heard[1:]] = 16
    packets["window"][heard] = [64_240, 502, *[limit >> 7] * (len(heard) - 2)]
    assert growth.slow_start(download(packets, TRIP)).why == "TCP's receive window"
    packets["window"][heard[2:]] *= 4
    assert growth.slow_start(download(packets, TRIP)).why.startswith("a fixed limit")


def test_a_slow_start_may_last_to_the_end() -> None:
    seen = growth.slow_start(download(of_flights([*doubling(10, 5), 7]), TRIP))
    assert (seen.ends, seen.why) == (None, "the body's end")
    assert SlowStart.model_validate({**seen.model_dump(), "rounds": [1, 2]}) == seen, "of an earlier version"


def test_sizes_that_grow() -> None:
    table = opened(protocol=UDP)
    table.flights([10, 20], size=1200)
    table.flights([40, 80], begin=4.5, size=1400)
    table.data(4.5 * TRIP, 1452)
    assert growth.datagrams(down(table)) == Datagrams(first=1200, common=1400, largest=1452, grew=2.0)
    assert growth.datagrams(download(of_flights([10, 20]), TRIP)).grew is None


def test_limits_early_and_late() -> None:
    windows = [*doubling(100, 5), *[1600] * 4, *[3200] * 5, 20]
    seen = growth.in_flight(download(of_flights(windows), TRIP))
    assert (seen.early, seen.late, seen.held) == (1600 * SIZE, 3200 * SIZE, True)
    with pytest.raises(NotMeasurable, match="10 MB"):
        growth.in_flight(download(of_flights(windows[:6]), TRIP))


def test_every_packet_may_be_acknowledged_or_every_other_one() -> None:
    assert growth.acknowledgements(download(of_flights([100] * 10), TRIP)) == 1.0
    packets = of_flights([100] * 10)
    of_client = packets["way"] == 0
    of_client[1::2] = False
    assert growth.acknowledgements(download(packets[~of_client], TRIP)) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("keeps", [0.5, 0.7, 1.0])
def test_what_a_loss_leaves_of_the_window(keeps: float) -> None:
    table = opened()
    begin = 2.5
    table.flights([100] * 10, begin)
    for lost_at in (begin + 10, begin + 40):
        # A window of which one packet is lost, the one in whose midst its news come, and what is left.
        table.data(lost_at * TRIP, lost=True)
        table.flights([99, 100, *[round(100 * keeps)] * 13, *[80] * 15], lost_at + 0.0001)
    table.flights([80] * 100, begin + 70)
    seen = recovery.decrease(down(table))
    assert seen.keeps == pytest.approx(keeps / 0.8, abs=0.02)
    assert seen.regrown[2] == seen.regrown[10] == 1.0
    assert seen.regrown[1] == pytest.approx(keeps / 0.8, abs=0.02)


def test_several_losses_are_told_by_their_median() -> None:
    def seen(keeps: float, after: float) -> LossResponse:
        return LossResponse(keeps=keeps, each=[keeps], regrown={1: after})

    of_three = recovery.typical([seen(0.71, 0.8), seen(0.31, 0.4), seen(0.7, 0.9)])
    assert of_three == LossResponse(keeps=0.7, each=[0.31, 0.7, 0.71], regrown={1: 0.8})
    assert words.decrease(of_three) == "keeps 0.7 (0.31, 0.7, 0.71); of the window before, 0.8 after 1 s"
    without = NotMeasurable("the body ended too soon after the loss")
    assert recovery.typical([without, seen(0.7, 0.9), seen(0.72, 0.9)]).each == [0.7, 0.72]
    with pytest.raises(NotMeasurable, match="too soon"):
        recovery.typical([without, seen(0.7, 0.9), without])


def test_a_window_that_was_not_steady_is_not_judged() -> None:
    table = opened()
    table.flights([10, 20, 40])
    table.data(5.6 * TRIP, lost=True)
    table.flights([80, 120], 5.61)
    table.data(7.9 * TRIP, lost=True)
    table.flights([80] * 9, 8)
    with pytest.raises(NotMeasurable, match="not steady"):
        recovery.decrease(down(table))
    with pytest.raises(NotMeasurable, match="0 packets"):
        recovery.decrease(download(of_flights([10, 20]), TRIP))


def test_retransmissions_of_a_tail() -> None:
    table = opened(protocol=UDP)
    table.flights([8])
    tail = 2.5 * TRIP + 1
    table.packet(tail, 700, lost=True)
    whole = table.packets()
    last = recovery.tail_packet(download(whole, TRIP, 7))
    assert last.at_ns == round(tail) - 7
    table.packet(tail + 5 * MS, 90, way=0)
    table.packet(tail + 80 * MS, 35, lost=True)  # its acknowledgement
    for at, payload in [(225, 700), (225.01, 700), (255, 1450), (625, 700), (625.01, 700), (1425, 700)]:
        table.packet(tail + at * MS, payload, lost=True)  # the large one probes the path
    packets = table.packets()
    assert packets[packets["way"] == 1][last.index]["payload"] == 700
    assert recovery.tail(download(packets, TRIP)) == Tail(round_trip_ms=100, first_ms=225, second_ms=370)
    with pytest.raises(NotMeasurable, match="not lost"):
        recovery.tail(download(of_flights([8]), TRIP))
    with pytest.raises(NotMeasurable, match="nothing that is sure"):
        recovery.tail(download(whole, TRIP))


def test_probes_that_carry_nothing_are_told_from_acknowledgements() -> None:
    table = opened(protocol=UDP)
    table.flights([8])
    tail = 2.5 * TRIP + 1
    table.packet(tail, 700, lost=True)
    heard = tail + 150 * MS
    table.packet(heard - TRIP // 2, 35, way=0)
    table.packet(tail + 220 * MS - TRIP // 2, 35, way=0)
    for at, payload in [(heard + 25 * MS, 30), (heard + 75 * MS, 22), (heard + 75.01 * MS, 22), (heard + 475 * MS, 24)]:
        table.packet(at, payload, lost=True)
    assert recovery.tail(down(table)) == Tail(round_trip_ms=100, first_ms=225, second_ms=400)


def test_retransmissions_of_tcp_are_told_by_their_numbers() -> None:
    table = opened()
    table.flights([8])
    tail = 2.5 * TRIP + 1
    table.packet(tail, 700, lost=True)
    table.packet(tail + TRIP, 35, lost=True)  # something new
    packets = table.packets()
    sent = packets["way"] == 1
    packets["seq"][sent] = 2**32 - 3000 + np.cumsum(packets["payload"][sent]) - packets["payload"][sent]
    again = packets[sent][-2:].copy()
    again["at_ns"], again["seq"] = again["at_ns"] + 300 * MS, packets[sent]["seq"][-2]
    again["at_ns"][1] += 200 * MS
    assert recovery.tail(download(np.concatenate([packets, again]), TRIP)) == Tail(
        round_trip_ms=100, first_ms=200, second_ms=300
    )


def test_pauses_and_what_follows_them() -> None:
    table = opened()
    table.flights([10, 20, 40, 3])
    table.flights([40, 30], 25)
    table.packet(200 * TRIP, 30)  # keeps the connection alive
    table.flights([10, 20, 12], 600)
    assert recovery.silences(down(table), 1) == [
        Silence(seconds=2.0, packets=40, bytes=40 * SIZE, before=40 * SIZE),
        Silence(seconds=57.4, packets=10, bytes=10 * SIZE, before=40 * SIZE),
    ]
    with pytest.raises(NotMeasurable, match="never paused"):
        recovery.silences(download(of_flights([10, 20]), TRIP), 1)


def test_a_transfer_without_flights_tells_nothing() -> None:
    for read in (growth.handshake, growth.first_flight, growth.datagrams, recovery.tail_packet):
        with pytest.raises(NotMeasurable):
            read(down(opened()))
