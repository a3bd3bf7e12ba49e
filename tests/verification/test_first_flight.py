"""First flights of the embedded server over a real link, counted in packets: the order decides, not the clock."""

from pathlib import Path

import pytest

from h123.catalogue import DEFAULT_CONGESTION, catalogue, install
from h123.execution import Pool
from h123.execution.certificate import campaign_certificate
from h123.execution.files import SERVER_ADDRESS
from h123.verification.constants import growth
from h123.verification.constants.experiment import BodyTransfer, Laboratory, SenderCase
from h123.verification.constants.transfer import Transfer
from h123.verification.trial import Trials

ROUND_TRIP_NS = 150_000_000
"""Long beside what a busy machine keeps a server waiting, short of quic-go's first timeout (200 ms)."""


@pytest.mark.parametrize(("protocol", "packets"), [("h2", {10}), ("h3", {32, 33})])
def test_linux_begins_with_10_packets_and_quic_go_with_32_full_ones(
    tmp_path: Path, pool: Pool, protocol: str, packets: set[int]
) -> None:
    """33 where the acknowledgement of the handshake comes after half of the flight: it makes room for a packet."""
    go = catalogue()["go"]
    install(go, lambda _: None)
    certificate = campaign_certificate(tmp_path, [SERVER_ADDRESS])
    laboratory = Laboratory(Trials({"go": go}, certificate, pool), tmp_path)
    body = BodyTransfer(
        "flight", SenderCase(go, "server", protocol, DEFAULT_CONGESTION, clock="wall"), "GET", 200_000, ROUND_TRIP_NS
    )
    [(_, transfer)] = laboratory.transfers([body])
    assert isinstance(transfer, Transfer), transfer
    flight = growth.first_flight(transfer)
    assert (flight.packets if protocol == "h2" else flight.full) in packets
