"""How many connections each visit opened, by the first packets of each."""

from pathlib import Path

import numpy as np
import pytest

from h123.base.errors import UserError
from h123.measures.visits import Visit, dialled_of
from h123.packets.capture import DOWN, PACKET, TCP, UDP, UP, write_packets

VISITS = [Visit(0, 1, 100, 150, 200, failed=False), Visit(0, 2, 300, 350, 400, failed=False)]
SENT = [
    (50, TCP, 1, UP),  # of a visit before that does not count
    (100, TCP, 2, UP),
    (110, TCP, 2, UP),
    (120, UDP, 2, UP),  # another protocol's port of the same number
    (130, TCP, 3, DOWN),  # of a connection whose first packet the record has not
    (150, TCP, 1, UP),
    (200, TCP, 4, UP),  # never used
    (250, TCP, 5, UP),  # between visits
    (300, TCP, 6, UP),
    (310, TCP, 2, UP),
    (320, 1, 7, UP),  # ICMP
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    packets = np.zeros(len(SENT), PACKET)
    for packet, (at, protocol, port, way) in zip(packets, SENT, strict=True):
        ends = ("source", "destination") if way == UP else ("destination", "source")
        packet["at_ns"], packet["protocol"], packet["way"] = at, protocol, way
        packet[ends[0]], packet[ends[1]] = port, 4443
    write_packets(packets, tmp_path / "packets-access.parquet")
    return tmp_path


def test_a_connection_belongs_to_the_visit_in_which_its_first_packet_came(folder: Path) -> None:
    assert dialled_of(folder, VISITS) == [3, 1]
    assert dialled_of(folder, VISITS[::-1]) == [1, 3]


def test_of_visits_that_go_on_at_once_nothing_is_told(folder: Path) -> None:
    other = VISITS[1]._replace(user=1, start_ns=199)
    assert dialled_of(folder, [VISITS[0], other]) == []
    assert dialled_of(folder, []) == []


def test_without_a_record_of_packets_nothing_is_told(tmp_path: Path) -> None:
    assert dialled_of(tmp_path, VISITS) == []
    (tmp_path / "packets-access.parquet").write_text("none")
    with pytest.raises(UserError):
        dialled_of(tmp_path, VISITS)
