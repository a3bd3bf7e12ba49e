"""What one request waited for, of tables of packets whose course is known."""

from collections.abc import Iterable

import pytest

from h123.causes.cause import CAUSES
from h123.causes.connections.connection import connections
from h123.causes.explainer import Explainer
from h123.causes.processors import Work
from h123.causes.request import Request
from h123.packets.capture import TCP, UDP, Packets
from h123.study.networks.network import Direction
from verification.packet_tables import MS, TRIP, opened

LINK = Direction(delay_ns=TRIP // 2)


def _explainer(packets: Packets, *requests: Request, **options: int) -> Explainer:
    return Explainer(connections(packets, LINK, LINK)[0], list(requests), Work([], []), **options)


def _told(time: Iterable[float]) -> dict[str, float]:
    """Milliseconds of each cause."""
    return {cause.name: part / MS for cause, part in zip(CAUSES, time, strict=True) if part > 0.01 * MS}


def test_an_answer_may_be_no_larger_than_an_acknowledgement() -> None:
    table = opened(way=0, protocol=UDP)
    table.flights([10, 20], begin=2.5)
    sent = round(3.5 * TRIP)
    answered = sent + TRIP // 2 + 10 * MS
    table.packet(answered, 40, way=1)
    packets = table.packets()
    end = answered + TRIP // 2
    request = Request(round(2.5 * TRIP), round(2.5 * TRIP), sent, end, end, up=30 * 1400, down=0)
    (time,) = _explainer(packets, request).explain()
    assert _told(time) == pytest.approx({"slow-start": 100, "server": 10, "trip": 100})


def _answered_in_two_flights() -> tuple[Packets, int]:
    """A new connection over TCP, on which a request is answered after 10 ms, by two flights; and when it has ended."""
    table = opened(way=1, protocol=TCP)
    asked = round(2.5 * TRIP)
    table.packet(asked, 250, way=1)
    table.flights([10, 20], begin=2.5 + 10 * MS / TRIP)
    packets = table.packets()
    packets["seq"] = packets["at_ns"] // 1000 % 2**32
    end = asked + 10 * MS + round(1.5 * TRIP)
    return packets, end


def test_an_answer_has_begun_although_its_first_record_is_not_whole() -> None:
    """A record of TLS is read when it is whole, a round trip after its first packets; before them came a ticket."""
    packets, end = _answered_in_two_flights()
    request = Request(0, 2 * TRIP, 2 * TRIP, end, end, up=0, down=30 * 1400)
    explainer = _explainer(packets, request)
    (time,) = explainer.explain()
    first_flight = {"connecting": 200, "trip": 100, "server": 10}
    assert _told(time) == pytest.approx(first_flight | {"slow-start": 100})
    assert _told(explainer.until(0, end - TRIP)) == pytest.approx(first_flight)


def test_what_came_before_the_last_try_is_one_part() -> None:
    """As above, but the handshake was an earlier try's, and was given up with it as it ended."""
    packets, end = _answered_in_two_flights()
    request = Request(0, 0, 2 * TRIP, end, end, up=0, down=30 * 1400, last_try=2 * TRIP)
    (time,) = _explainer(packets, request).explain()
    assert _told(time) == pytest.approx({"tries": 200, "trip": 100, "server": 10, "slow-start": 100})


def test_a_request_waits_for_a_place_on_its_connection_until_the_one_before_has_ended() -> None:
    """Both are due before the handshake has ended, and a connection has room for one."""
    table = opened(way=0, protocol=TCP)
    asked = [round(2 * TRIP), round(3 * TRIP)]
    for time in asked:
        table.packet(time, 250, way=0)
        table.packet(time + TRIP // 2, 1000, way=1)
    packets = table.packets()
    requests = [Request(0, 0, time, time + TRIP, time + TRIP, up=0, down=1000) for time in asked]
    first, second = _explainer(packets, *requests, at_once=1).explain()
    assert _told(first) == pytest.approx({"connecting": 200, "trip": 100})
    assert _told(second) == pytest.approx({"place": 300, "trip": 100})
