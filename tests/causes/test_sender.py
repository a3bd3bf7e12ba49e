"""What a sender waited for, of tables of packets whose windows are known."""

from typing import Any

import numpy as np
import pytest

from h123.causes.cause import CAUSES, NUMBER
from h123.causes.connections.connection import connections
from h123.causes.connections.losses import mending
from h123.causes.senders.sender import Sender
from h123.packets.capture import BLOCKED, LOST, MARKED, POLICED, QUEUE_FULL, TCP, TOO_LARGE, UDP, Packets
from h123.study.networks.network import Direction, Limit
from verification.packet_tables import SIZE, TRIP, Table, opened

LINK = Direction(delay_ns=TRIP // 2)


def _parts(packets: Packets, **known: Any) -> dict[str, float]:
    """Round trips of each cause, of what the server sent; `known`: what else is known of it."""
    packets["seq"] = packets["at_ns"] // 1000 % 2**32  # each its own
    return _parts_of_segments(packets, **known)


def _parts_of_segments(packets: Packets, **known: Any) -> dict[str, float]:
    one = connections(packets, LINK, LINK)[0]
    course = Sender(one.down, one.up, one.round_trip_ns, **known).course
    begin = int(2.5 * TRIP)
    parts = course.between(begin, int(one.down.at[-1]))
    return {c.name: round(float(parts[NUMBER[c]]) / TRIP, 2) for c in CAUSES if parts[NUMBER[c]] > TRIP / 100}


def _table(windows: list[int], **flights: Any) -> Packets:
    table = opened()
    table.flights(windows, **flights)
    return table.packets()


def _lost_in_the_second_flight() -> Packets:
    table = opened(protocol=UDP)
    table.flights([10], begin=2.5)
    table.data(3.5 * TRIP, lost=True)
    table.flights([19], begin=3.5001)
    table.flights([10, 10, 10], begin=4.6)
    return table.packets()


def test_a_window_that_doubles_is_slow_start() -> None:
    assert _parts(_table([10, 20, 40, 80])) == {"slow-start": 3.0}


def test_a_window_that_stays_is_a_limit() -> None:
    assert _parts(_table([40, 40, 40, 40, 40]))["limit"] >= 3.0


def test_one_that_grows_slowly_is_a_congestion_window() -> None:
    parts = _parts(_table([40, 44, 48, 53, 58, 64]))
    assert max(parts, key=lambda name: parts[name]) == "window"


def test_packets_that_are_not_full_are_all_that_there_is_to_send() -> None:
    """It goes on a while after it has heard, so that is not why."""
    table = opened()
    for trip in range(5):
        table.flights([3], begin=2.5 + 1.1 * trip, size=500)
    assert _parts(table.packets())["idle"] >= 3.0


def test_one_with_room_that_goes_on_as_soon_as_it_hears_was_held_up() -> None:
    assert _parts(_table([3, 3, 3, 3, 3], size=500))["limit"] >= 3.0


@pytest.mark.parametrize("windows", [[3] * 5, [1] * 5, [8] * 5])
def test_one_that_fills_its_packets_and_goes_on_as_soon_as_it_hears_had_no_more_to_send(windows: list[int]) -> None:
    """As one whose program writes a piece every round trip, or every half of one."""
    table = opened(protocol=UDP)
    table.flights(windows, size=500)
    assert _parts(table.packets(), fills=True)["idle"] >= 3.0


def test_one_that_fills_its_packets_may_be_held_up_by_a_limit() -> None:
    assert _parts(_table([40, 40, 40, 40, 40]), fills=True)["limit"] >= 3.0


def test_what_comes_after_a_loss_is_put_down_to_it() -> None:
    parts = _parts(_lost_in_the_second_flight())
    assert parts["slow-start"] == pytest.approx(1.0, abs=0.1)
    assert parts["mending"] + parts.get("cut", 0) == pytest.approx(3.1, abs=0.15)
    assert "limit" not in parts


@pytest.mark.parametrize(
    ("fate", "repair", "after"),
    [
        (LOST, "mending", "cut"),
        (BLOCKED, "mending", "cut"),
        (QUEUE_FULL, "queue-loss", "queue-loss"),
        (POLICED, "policed", "policed"),
        (TOO_LARGE, "too-large", "slow-start"),
    ],
)
def test_losses_are_told_apart_by_what_dropped_the_packet(fate: int, repair: str, after: str) -> None:
    packets = _lost_in_the_second_flight()
    packets["fate"][packets["fate"] == LOST] = fate
    parts = _parts(packets)
    assert parts[repair] >= 1.0
    assert max(parts.get(name, 0) for name in ("mending", "queue-loss", "policed", "too-large") if name != repair) == 0
    assert parts[after] >= 1.0


def test_a_probe_for_larger_packets_costs_nothing() -> None:
    table = opened(protocol=UDP)
    table.flights([10], begin=2.5)
    table.packet(3.5 * TRIP, SIZE + 50, lost=True)
    table.flights([20, 40], begin=3.5)
    packets = table.packets()
    packets["fate"][packets["fate"] == LOST] = TOO_LARGE
    assert _parts(packets) == {"slow-start": 2.0}


def test_what_a_limit_on_udp_drops_is_policed() -> None:
    packets = _table([10, 10])
    packets["protocol"], packets["fate"][np.flatnonzero(packets["way"] == 1)[-9:]] = UDP, BLOCKED
    for udp, fate in ((Limit(limit=1_000_000), POLICED), ("drop", BLOCKED)):
        one = connections(packets, LINK, LINK.model_copy(update={"udp": udp}))[0]
        assert set(one.down.packets["fate"].tolist()) == {0, fate}
    assert set(packets["fate"].tolist()) == {0, BLOCKED}


def _marked(windows: list[int]) -> Packets:
    """The last packet of the second flight is marked."""
    packets = _table(windows)
    sent = np.flatnonzero(packets["way"] == 1)
    packets["ecn"][sent] = 2 + 8 * 2
    packets["ecn"][sent[-sum(windows[2:]) - 1]] = 2 + MARKED + 8 * 3
    return packets


def test_a_window_that_a_mark_cut_is_put_down_to_it() -> None:
    parts = _parts(_marked([10, 20, 14, 15, 16]))
    assert parts["marked"] == pytest.approx(2.0, abs=0.05)
    assert set(parts) <= {"marked", "slow-start"}


def test_a_mark_that_the_sender_ignores_cuts_no_window() -> None:
    assert _parts(_marked([10, 20, 40, 80, 160])) == {"slow-start": 4.0}


def test_tcp_probes_with_new_data_when_the_last_packets_are_lost() -> None:
    table = opened()
    table.flights([10], begin=2.5)
    table.data(3.5 * TRIP, lost=True)
    table.data(5.7 * TRIP)
    table.data(6.7 * TRIP)
    packets = table.packets()
    places = np.flatnonzero((packets["way"] == 1) & (packets["payload"] == SIZE))
    packets["seq"][places] = SIZE * np.array([*range(12), 10])  # the lost one, new data, the lost one again
    assert _parts_of_segments(packets) == {"slow-start": 1.0, "mending": 3.2}


def test_a_segment_is_mended_when_its_bytes_are_sent_again() -> None:
    table = Table(protocol=TCP)
    for trip, lost in ((0, False), (1, True), (2, False), (3, False), (4, False)):
        table.data(trip * TRIP, lost=lost)
    packets = table.packets()
    sent = packets["way"] == 1
    packets["seq"][sent] = [0, SIZE, 2 * SIZE, SIZE, 3 * SIZE]
    one = connections(packets, LINK, LINK)[0]
    found = mending(one.down, one.up, one.round_trip_ns)
    assert (found.begins.tolist(), found.ends.tolist()) == ([TRIP], [3 * TRIP])


def test_the_end_of_a_body_that_waits_for_its_head_to_be_acknowledged_is_held_by_nagle() -> None:
    """Linux holds a small segment until an earlier small one is acknowledged, whatever full ones went out since."""
    table = opened()
    for trip in range(3, 12, 2):
        table.data(trip * TRIP, 137)
        for number in range(1, 14):
            table.data(trip * TRIP + number * 1000)
        table.data((trip + 1) * TRIP + 20_000, 1220)
    parts = _parts(table.packets())
    assert parts["nagle"] >= 3.0  # the first ends look like slow start
    assert "limit" not in parts
