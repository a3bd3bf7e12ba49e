"""What one request waited for, of tables of packets whose course is known."""

import pytest

from h123.causes.cause import CAUSES
from h123.causes.connections.connection import connections
from h123.causes.explainer import Explainer
from h123.causes.processors import Work
from h123.causes.request import Request
from h123.packets.capture import TCP, UDP, Packets
from h123.study.networks.network import Direction
from verification.packet_tables import MS, TRIP, Table

LINK = Direction(delay_ns=TRIP // 2)


def test_an_answer_may_be_no_larger_than_an_acknowledgement() -> None:
    table = Table(way=0, protocol=UDP)
    table.handshake()
    table.flights([10, 20], begin=2.5)
    sent = round(3.5 * TRIP)
    answered = sent + TRIP // 2 + 10 * MS
    table.packet(answered, 40, way=1)
    packets = table.packets()
    packets["source"][packets["way"] == 0] = packets["destination"][packets["way"] == 1] = 5000
    end = answered + TRIP // 2
    request = Request(round(2.5 * TRIP), round(2.5 * TRIP), sent, end, end, up=30 * 1400, down=0)
    (time,) = Explainer(connections(packets, LINK, LINK)[0], [request], Work([], [])).explain()
    parts = {cause.name: part / MS for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS}
    assert parts == {"slow-start": pytest.approx(100), "server": pytest.approx(10), "trip": pytest.approx(100)}


def _answered_in_two_flights() -> tuple[Packets, int]:
    """A new connection over TCP, on which a request is answered after 10 ms, by two flights; and when it has ended."""
    table = Table(way=1, protocol=TCP)
    table.handshake()
    asked = round(2.5 * TRIP)
    table.packet(asked, 250, way=1)
    table.flights([10, 20], begin=2.5 + 10 * MS / TRIP)
    packets = table.packets()
    packets["source"][packets["way"] == 0] = packets["destination"][packets["way"] == 1] = 5000
    packets["seq"] = packets["at_ns"] // 1000 % 2**32
    end = asked + 10 * MS + round(1.5 * TRIP)
    return packets, end


def test_an_answer_has_begun_although_its_first_record_is_not_whole() -> None:
    """A record of TLS is read when it is whole, a round trip after its first packets; before them came a ticket."""
    packets, end = _answered_in_two_flights()
    request = Request(0, 2 * TRIP, 2 * TRIP, end, end, up=0, down=30 * 1400)
    explainer = Explainer(connections(packets, LINK, LINK)[0], [request], Work([], []))
    (time,) = explainer.explain()
    parts = {cause.name: part / MS for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS}
    first_flight = {"connecting": pytest.approx(200), "trip": pytest.approx(100), "server": pytest.approx(10)}
    assert parts == first_flight | {"slow-start": pytest.approx(100)}
    time = explainer.until(0, end - TRIP)
    assert {cause.name: part / MS for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS} == first_flight


def test_what_came_before_the_last_try_is_one_part() -> None:
    """As above, but the handshake was an earlier try's, and was given up with it as it ended."""
    packets, end = _answered_in_two_flights()
    request = Request(0, 0, 2 * TRIP, end, end, up=0, down=30 * 1400, last_try=2 * TRIP)
    (time,) = Explainer(connections(packets, LINK, LINK)[0], [request], Work([], [])).explain()
    parts = {cause.name: part / MS for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS}
    told = {"tries": 200, "trip": 100, "server": 10, "slow-start": 100}
    assert parts == {name: pytest.approx(part) for name, part in told.items()}


def test_a_request_waits_for_a_place_on_its_connection_until_the_one_before_has_ended() -> None:
    """Both are due before the handshake has ended, and a connection has room for one."""
    table = Table(way=0, protocol=TCP)
    table.handshake()
    asked = [round(2 * TRIP), round(3 * TRIP)]
    for time in asked:
        table.packet(time, 250, way=0)
        table.packet(time + TRIP // 2, 1000, way=1)
    packets = table.packets()
    packets["source"][packets["way"] == 0] = packets["destination"][packets["way"] == 1] = 5000
    requests = [Request(0, 0, time, time + TRIP, time + TRIP, up=0, down=1000) for time in asked]
    explainer = Explainer(connections(packets, LINK, LINK)[0], requests, Work([], []), at_once=1)
    parts = [
        {cause.name: round(part / MS) for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS}
        for time in explainer.explain()
    ]
    assert parts == [{"connecting": 200, "trip": 100}, {"place": 300, "trip": 100}]
