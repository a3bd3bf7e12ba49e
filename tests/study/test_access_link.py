"""Links without queue limits or cross traffic, and with half the delay."""

from typing import Any

import pytest

from h123.study import Network, Parameters, access_link, load_network

BUSY = load_network("us-us-busy")


def _changed(network: Network, **changes: Any) -> Network:
    base = {"protocol": "h2", "server": "go", "client": "go", "network": network.name}
    return access_link(network, Parameters.model_validate({**base, **changes}), 0.5)


def test_a_link_stays_as_it_is_unless_it_is_changed() -> None:
    assert _changed(BUSY) is BUSY


def test_half_the_delay_is_half_of_each_delay() -> None:
    for network in (BUSY, load_network("handover")):
        near = _changed(network, round_trip="half")
        assert near.round_trip_ns == network.round_trip_ns // 2
        for way, before in ((near.up, network.up), (near.down, network.down)):
            assert way
            assert before
            delays = [change.delay_ns and change.delay_ns // 2 for change in before.changes or []]
            assert [change.delay_ns for change in way.changes or []] == delays


@pytest.mark.parametrize("name", ["us-us-busy", "cake-home", "l4s"])
def test_a_queue_without_limit_is_a_long_one_that_marks_nothing(name: str) -> None:
    changed = _changed(load_network(name), queue_limit="none")
    for way in (changed.up, changed.down):
        assert way
        assert way.queue is None or (way.queue.bytes == 10**9 and not way.queue.marks)
        assert way.rate is None or way.queue


def test_cross_traffic_can_be_left_out() -> None:
    assert BUSY.cross
    alone = _changed(BUSY, cross_traffic="none")
    assert alone.cross is None
    assert (alone.up, alone.down) == (BUSY.up, BUSY.down)
