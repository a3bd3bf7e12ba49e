"""When packets were on the wire behind queues that are not first-in, first-out, and who made them wait."""

import numpy as np
import pytest

from h123.causes.cause import CAUSES, NUMBER
from h123.causes.connections.bottleneck import Wire, wire
from h123.causes.connections.connection import connections
from h123.causes.senders.sender import Sender
from h123.packets.capture import DELIVERED, LOST, PACKET, QUEUE_FULL, TCP, Packets
from h123.study.networks.disciplines import Codel, FqCodel
from h123.study.networks.network import Aggregation, Bottleneck, Direction, Queue

MS = 1_000_000
BYTES = 1000
CODEL = Codel(limit=1000, target_ns=5 * MS, interval_ns=100 * MS, ecn=False)
FAIR = Queue(fq_codel=FqCodel(**CODEL.model_dump(), flows=1024, quantum=1500, drop_batch=64))
DELAY = 10


def _packets(*rows: tuple[float, float, int, int]) -> Packets:
    """Rows of arrival and departure in ms (0: none), port and fate. A packet takes 1 ms at the rate of LINK."""
    table = np.zeros(len(rows), PACKET)
    table["at_ns"], table["left_ns"] = ([round(row[place] * MS) for row in rows] for place in (0, 1))
    table["destination"], table["fate"] = ([row[place] for row in rows] for place in (2, 3))
    table["bytes"], table["payload"], table["protocol"], table["way"] = BYTES, BYTES - 52, TCP, 1
    return table


def _link(**of: object) -> Direction:
    rate = Bottleneck(bps=8_000_000, burst_bytes=of.pop("burst", None))
    return Direction.model_validate({"delay_ns": DELAY * MS, "rate": rate, **of})


def _ms(on: Wire) -> list[tuple[float, float]]:
    return [(begin / MS, end / MS) for begin, end in zip(on.begins.tolist(), on.ends.tolist(), strict=True)]


BULK, SPARSE = 1, 2
TURNS = (
    (0.0, 11.0, BULK, DELIVERED),
    (0.0, 13.0, BULK, DELIVERED),
    (0.0, 14.0, BULK, DELIVERED),
    (0.5, 12.0, SPARSE, DELIVERED),
)
"""The sparse connection's packet is sent before those that came earlier."""


def test_in_a_fair_queue_each_packet_waits_for_its_own_turn() -> None:
    assert _ms(wire(_packets(*TURNS), _link(queue=FAIR))) == [(0, 1), (2, 3), (3, 4), (1, 2)]


def test_codel_is_first_in_first_out_and_what_it_drops_takes_no_time() -> None:
    rows = (*TURNS[:1], (0.0, 0.0, BULK, QUEUE_FULL), (0.0, 12.0, BULK, DELIVERED))
    assert _ms(wire(_packets(*rows), _link(queue=Queue(codel=CODEL)))) == [(0, 1), (0, 0), (1, 2)]


def test_a_packet_lost_behind_a_fair_queue_had_its_connection_s_turn() -> None:
    rows = (*TURNS, (1.5, 0.0, SPARSE, LOST), (1.5, 0.0, BULK, LOST))
    assert _ms(wire(_packets(*rows), _link(queue=FAIR)))[4:] == [(2, 3), (4, 5)]


def test_what_a_token_bucket_lets_pass_at_once_takes_no_time() -> None:
    rows = ((0.0, 10.0, BULK, DELIVERED), (0.0, 10.0, BULK, DELIVERED), (0.0, 11.0, BULK, DELIVERED))
    assert _ms(wire(_packets(*rows), _link(burst=2000))) == [(0, 0), (0, 0), (0, 1)]


def test_opportunities_to_send_come_after_the_rate() -> None:
    groups = Aggregation(every_ns=4 * MS)
    rows = ((0.0, 14.0, BULK, DELIVERED), (0.0, 14.0, BULK, DELIVERED), (6.0, 18.0, BULK, DELIVERED))
    assert _ms(wire(_packets(*rows), _link(aggregation=groups))) == [(0, 1), (1, 2), (6, 7)]


def test_behind_a_fair_queue_the_wait_for_an_opportunity_does_not_count_as_a_wait_for_others() -> None:
    rows = ((0.0, 14.0, BULK, DELIVERED), (6.0, 18.0, BULK, DELIVERED), (8.0, 30.0, SPARSE, DELIVERED))
    on = wire(_packets(*rows), _link(queue=FAIR, aggregation=Aggregation(every_ns=4 * MS)))
    assert _ms(on) == [(0, 1), (6, 7), (15, 16)]  # the last one waited for others from 9 to 15 ms, or to 19


@pytest.mark.parametrize("shared", [False, True])
def test_packets_wait_behind_recorded_ones_or_behind_cross_traffic(shared: bool) -> None:
    """The sparse connection waits 4 ms, 2 of them while the other connection's packets are on the wire."""
    down = _packets((0.0, 11.0, BULK, DELIVERED), (0.0, 14.0, BULK, DELIVERED), (0.0, 15.0, SPARSE, DELIVERED))
    up = _packets((0.0, 10.0, 0, DELIVERED), (0.0, 10.0, 0, DELIVERED))
    up["way"], up["source"], up["payload"] = 0, [BULK, SPARSE], 0
    of = connections(np.concatenate([up, down]), Direction(), _link(queue=Queue(packets=9)), shared=shared)[1]
    spent = Sender(of.down, of.up, 2 * DELAY * MS).course.between(0, 5 * MS)
    parts = {cause.name: float(spent[NUMBER[cause]]) / MS for cause in CAUSES if spent[NUMBER[cause]]}
    assert parts == ({"queue": 2, "cross": 2, "rate": 1} if shared else {"queue": 2, "rate": 1, "unattributed": 2})
