"""What a sender was told shows in its packets, or it fails."""

import pytest

from h123.base.transport import SETTINGS
from h123.catalogue import catalogue
from h123.packets.capture import UDP
from h123.verification.constants.transfer import Transfer, download
from h123.verification.settings import PROOFS, Seen, _checks, certificate_wait, initial_window, max_datagram, pacing
from verification.packet_tables import MS, TRIP, Table, doubling, opened


def sent(first: int, spread: float = 0.0, *, sizes: tuple[int, int] = (1400, 1400)) -> Transfer:
    """Flights of slow start over QUIC; the first one's packets have the first size."""
    table = opened(protocol=UDP)
    begin, *later = doubling(first, 6)
    table.flights([begin], 2.5, spread, sizes[0])
    table.flights(later, 3.5, spread, sizes[1])
    return download(table.packets(), TRIP)


def test_each_setting_has_a_proof_of_what_matched_asks_for() -> None:
    for name, setting in SETTINGS.items():
        assert setting.matched_value in PROOFS[name].values


@pytest.mark.parametrize("packets", [10, 32])
@pytest.mark.parametrize("spread", [0.0, 0.5, 0.9])
def test_a_first_flight_is_counted_however_it_is_spread(packets: int, spread: float) -> None:
    told = f"{packets} full packets in the first flight, 0 others"
    assert initial_window(sent(packets, spread), packets) == (True, told)
    assert not initial_window(sent(packets + 2, spread), packets)[0]
    assert not initial_window(sent(packets - 4, spread), packets)[0]


@pytest.mark.parametrize(("spread", "off"), [(0.0, True), (0.1, True), (0.3, False), (0.8, False)])
def test_who_paces_takes_a_part_of_a_round_trip_for_a_flight(spread: float, off: bool) -> None:
    assert pacing(sent(10, spread), "off")[0] is off


def test_packets_are_as_large_as_they_may_be_and_no_larger() -> None:
    def seen(first: int, later: int) -> Seen:
        return max_datagram(sent(10, sizes=(first, later)), 1400)

    assert seen(1400, 1400)[0]
    assert seen(1200, 1200) == (False, "1200 bytes in the first flight, 1200 in most packets, 1200 at most")
    assert not seen(1200, 1400)[0]
    assert not seen(1400, 1401)[0]


@pytest.mark.parametrize(
    ("first", "second", "instant", "late"),
    [(0.1, 40.1, True, False), (40.1, 140.1, False, True), (0.1, 0.2, False, False), (90, 190, False, False)],
)
def test_who_waits_for_a_certificate_acknowledges_before_or_after(
    first: float, second: float, instant: bool, late: bool
) -> None:
    table = Table(protocol=UDP)
    table.packet(0, 1200, way=0)
    for at in (first, second):
        table.packet(TRIP // 2 + at * MS, 1200)
    seen = [certificate_wait(download(table.packets(), TRIP), instant_ack)[0] for instant_ack in (True, False)]
    assert seen == [instant, late]


def test_a_server_is_asked_to_wait_for_its_certificate_if_it_can() -> None:
    assert [check.title for check in _checks(catalogue()["s2n-quic"], "server")][-2:] == [
        "instant acknowledgement",
        "late acknowledgement",
    ]
    assert not any("acknowledgement" in check.title for check in _checks(catalogue()["quinn"], "server"))
