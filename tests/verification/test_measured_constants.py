"""Constants of the embedded server and of the kernel's TCP, in a real virtual kernel: `make test-all`."""

import pytest

from h123.catalogue import catalogue, install
from h123.execution import Pool
from h123.verification.constants.measure import measurable, measure

pytestmark = pytest.mark.heavy


def test_constants_that_are_known_from_the_sources(pool: Pool) -> None:
    go = catalogue()["go"]
    install(go, lambda _: None)
    if why := measurable(go):
        pytest.skip(why)
    found = {(one.protocol, one.congestion): one for one in measure(go, "server", pool, lambda _: None)}
    assert set(found) == {("h1", "cubic"), ("h2", "cubic"), ("h2", "reno"), ("h2", "bbr"), ("h3", "cubic")}
    for (protocol, congestion), one in found.items():
        assert one.handshake is not None
        assert one.handshake.round_trips == (1 if protocol == "h3" else 2)
        assert one.first_flight is not None
        assert one.first_flight.packets in {"cubic": (10, 35), "reno": (10,), "bbr": (10, 11)}[congestion]
        assert one.slow_start is not None
        assert 1.8 < one.slow_start.growth < 2.6  # TCP counts packets, and small ones are among the first ten
        # 200 ms at least and the kernel's tick; 25 ms of delayed acknowledgements, the round trip and its variation.
        assert one.tail_near is not None
        assert one.tail_near.second_ms is not None
        assert (50 if protocol == "h3" else 200) < one.tail_near.second_ms < (70 if protocol == "h3" else 290)
    kept = {name: found["h2", name].decrease for name in ("cubic", "reno")}
    assert kept["cubic"] is not None
    assert kept["cubic"].keeps == pytest.approx(0.7, abs=0.05)
    assert kept["reno"] is not None
    assert kept["reno"].keeps == pytest.approx(0.5, abs=0.06)
