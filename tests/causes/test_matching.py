"""Which connection on the link is which one of the client's account."""

import numpy as np
import pytest

from h123.causes.connections.connection import Connection, connections
from h123.causes.matching import match
from h123.causes.request import Request
from h123.packets.capture import DELIVERED, DOWN, PACKET, TCP, UDP, UP
from h123.study.networks.network import Direction
from verification.packet_tables import MS, TRIP

LINK = Direction(delay_ns=TRIP // 2)
SYN, INITIAL = 0x02, 0xC3


def _on_link(*opened: tuple[int, int, int]) -> list[Connection]:
    """Each by its protocol, when it begins and when the last byte is sent to the client, ms."""
    rows = [
        (protocol, port, *packet)
        for port, (protocol, began, last) in enumerate(opened, start=40_000)
        for packet in ((UP, began, SYN if protocol == TCP else INITIAL), (DOWN, last, 0))
    ]
    table = np.zeros(len(rows), PACKET)
    for one, (protocol, port, way, at, flags) in zip(table, rows, strict=True):
        one["protocol"], one["way"], one["flags"], one["payload"], one["fate"] = protocol, way, flags, 1200, DELIVERED
        one["at_ns"], one["left_ns"] = at * MS, at * MS + TRIP // 2
        one["source" if way == UP else "destination"] = port
    return connections(table, LINK, LINK)


def _request(start: int, end: int, *, visit: int = 0, quic: bool | None = None) -> Request:
    begin = start * MS
    return Request(begin, begin, begin, None, end * MS, up=0, down=1000, visit=visit * MS, quic=quic)


def test_a_browser_opens_a_connection_for_what_it_will_ask_for() -> None:
    """Over both protocols in one visit: that of QUIC is there before the first request that it carries."""
    last = TRIP // 2 // MS
    there = _on_link((TCP, 100, 400 - last), (UDP, 250, 600 - last))
    document, image = (_request(100, 400, visit=100, quic=False), _request(380, 600, visit=100, quic=True))
    assert match([[document], [image]], there) == there
    assert match([[image], [document]], there) == there[::-1]


@pytest.mark.parametrize("request_", [_request(380, 600), _request(380, 600, visit=300, quic=True)])
def test_nobody_opens_one_before_the_visit_begins(request_: Request) -> None:
    assert match([[request_]], _on_link((UDP, 250, 600 - TRIP // 2 // MS))) == [None]


def test_a_request_over_quic_is_on_no_connection_of_tcp() -> None:
    there = _on_link((TCP, 100, 400 - TRIP // 2 // MS))
    assert match([[_request(100, 400, quic=True)]], there) == [None]
    assert match([[_request(100, 400)]], there) == there
