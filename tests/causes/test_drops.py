"""What drops at a full receive buffer did to windows."""

import numpy as np
import pytest

from h123.causes.cause import CAUSES, CUT, DROPS, LIMIT, NUMBER
from h123.causes.connections.connection import Connection, connections
from h123.causes.connections.losses import attribute_drops
from h123.packets.capture import TCP, UDP
from h123.study.networks.network import Direction
from verification.packet_tables import TRIP, opened

LINK = Direction(delay_ns=TRIP // 2)


def _connection(protocol: int, lost: int) -> Connection:
    table = opened(protocol=protocol)
    table.flights([20, 20], begin=2.5)
    for number in range(lost):
        table.data((4.5 + number / 10) * TRIP, lost=True)
    packets = table.packets()
    return connections(packets, LINK, LINK)[0]


def _told(one: Connection, drops: int) -> dict[str, float]:
    seconds = np.zeros((1, len(CAUSES)))
    seconds[0, NUMBER[CUT]], seconds[0, NUMBER[LIMIT]] = 4, 2
    moved = attribute_drops(seconds, drops, one)[0]
    assert moved.sum() == pytest.approx(6)
    return {cause.name: float(moved[NUMBER[cause]]) for cause in (CUT, LIMIT, DROPS)}


def test_windows_that_stay_small_are_put_down_to_drops() -> None:
    assert _told(_connection(UDP, lost=0), drops=1) == {"cut": 0, "limit": 0, "drops": 6}


def test_a_window_that_the_link_cut_too_is_put_down_to_both() -> None:
    assert _told(_connection(UDP, lost=3), drops=1) == {"cut": 3, "limit": 0, "drops": 3}


def test_tcp_drops_nothing() -> None:
    assert _told(_connection(TCP, lost=0), drops=5) == {"cut": 4, "limit": 2, "drops": 0}
