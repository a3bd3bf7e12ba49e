"""Head-of-line blocking, of tables of packets in which a segment is lost at a known time."""

import pytest

from h123.causes.connections.connection import connections
from h123.causes.head_of_line import Body, head_of_line_ns, holes
from h123.causes.senders.sender import Sender
from h123.packets.capture import TCP, UDP
from h123.study.networks.network import Direction
from verification.packet_tables import MS, SIZE, TRIP, Table

LINK = Direction(delay_ns=TRIP // 2)


def _server(protocol: int = TCP, behind: bool = True) -> Sender:
    """A segment is sent each round trip. The second is lost and sent again two later; `behind` it another arrives in
    between, one round trip before that."""
    table = Table(protocol=protocol)
    for trip, lost in ((0, False), (1, True), (2, not behind), (3, False), (4, False)):
        table.data(trip * TRIP, lost=lost)
    packets = table.packets()
    sent = packets["way"] == 1
    packets["seq"][sent] = [0, SIZE, 2 * SIZE, SIZE, 2 * SIZE if not behind else 3 * SIZE]
    one = connections(packets, LINK, LINK)[0]
    return Sender(one.down, one.up, one.round_trip_ns)


def _held(sender: Sender, *bodies: Body) -> list[float]:
    return [held / MS for held in head_of_line_ns(sender, bodies)]


def test_each_is_held_back_behind_the_share_of_the_others() -> None:
    small, large = Body(0, 5 * TRIP, 1000), Body(0, 5 * TRIP, 3000)
    assert _held(_server(), small, large) == pytest.approx([75, 25])


def test_only_while_others_are_under_way() -> None:
    first, second = Body(0, round(2.5 * TRIP), 1000), Body(0, 5 * TRIP, 1000)
    assert _held(_server(), first, second) == pytest.approx([25, 25])


def test_what_waits_for_its_own_bytes_is_not_held_back_by_others() -> None:
    assert _held(_server(), Body(0, 5 * TRIP, 1000)) == [0]
    one_after_another = Body(0, 2 * TRIP, 1000), Body(2 * TRIP, 5 * TRIP, 1000)
    assert _held(_server(), *one_after_another) == [0, 0]


def test_where_nothing_has_arrived_behind_the_hole_nothing_is_held_back() -> None:
    both = Body(0, 5 * TRIP, 1000), Body(0, 5 * TRIP, 1000)
    assert _held(_server(behind=False), *both) == [0, 0]


def test_sequence_numbers_begin_again() -> None:
    sender = _server()
    sender.sending.packets["seq"] -= SIZE + 1
    both = Body(0, 5 * TRIP, 1000), Body(0, 5 * TRIP, 1000)
    assert _held(sender, *both) == [50, 50]


def test_what_is_lost_again_holds_back_at_once() -> None:
    table = Table(protocol=TCP)
    for trip, lost in ((0, True), (1, False), (2, True), (3, False)):
        table.data(trip * TRIP, lost=lost)
    packets = table.packets()
    sent = packets["way"] == 1
    packets["seq"][sent] = [0, SIZE, 0, 0]
    one = connections(packets, LINK, LINK)[0]
    found = holes(one.down, one.up, one.round_trip_ns)
    assert (found.begins.tolist(), found.ends.tolist()) == ([TRIP], [3 * TRIP])


def test_streams_of_quic_do_not_wait_for_one_another() -> None:
    both = Body(0, 5 * TRIP, 1000), Body(0, 5 * TRIP, 1000)
    assert _held(_server(UDP), *both) == [0, 0]
