"""Round trips, bytes and packets before a first answer, counted in packets that are made up and so known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from h123.base.errors import UserError
from h123.measures.opening import Opening, openings_of
from h123.packets.capture import DELIVERED, LOST, PACKET, TCP, UDP, write_packets
from h123.store.rows import Rows

MS = 1_000_000
HALF = 10
"""Of a round trip, ms."""
UP, DOWN = 0, 1
Sent = tuple[float, int, int]
"""When, ms; which way; bytes of payload, less than none of what is lost."""
TCP_FULL: list[Sent] = [
    (0, UP, 0),
    (10, DOWN, 0),
    (20, UP, 0),
    (20, UP, 250),
    (30, DOWN, 0),
    (30, DOWN, 824),
    (40, UP, 0),
    (40, UP, 64),
    (40, UP, 90),
    (50, DOWN, 35),
    (50, DOWN, 1100),
    (60, UP, 0),
    (60, DOWN, 1448),
]
QUIC_FULL: list[Sent] = [(0, UP, 1280), (10, DOWN, 1280), (10, DOWN, 31), (20, UP, 1280), (20, UP, 66), (30, DOWN, 337)]
EARLY: list[Sent] = [(0, UP, 1280), (0, UP, 85), (10, DOWN, 1280), (10, DOWN, 1082), (20, UP, 1280)]


def packets(sent: Sequence[Sent], protocol: int, port: int = 5000, begin: float = 0, flags: int = 0) -> Any:
    table = np.zeros(len(sent), PACKET)
    for row, (at, way, payload) in zip(table, sent, strict=True):
        row["at_ns"], row["way"], row["protocol"], row["flags"] = (begin + at) * MS, way, protocol, flags
        row["payload"], row["bytes"] = max(payload, 0), max(payload, 0) + (52 if protocol == TCP else 28)
        row["source"], row["destination"] = (port, 443) if way == UP else (443, port)
        row["fate"] = LOST if payload < 0 else DELIVERED
        row["left_ns"] = 0 if payload < 0 else row["at_ns"] + HALF * MS
    return table


def cold(start: float, first_byte: float, **changes: Any) -> dict[str, Any]:
    row = {"phase": "cold", "status": 200, "error": "", "protocol": "h2", "user": 0}
    times = {"start_ns": start, "first_byte_ns": first_byte, "end_ns": first_byte + 1}
    return row | {name: round(at * MS) for name, at in times.items()} | changes


def opened(folder: Path, tables: Sequence[Any], rows: Sequence[dict[str, Any]]) -> list[Opening]:
    write_packets(np.concatenate(tables), folder / "packets-access.parquet")
    file = folder / "samples.parquet"
    Rows.of(rows).write(file)
    return openings_of(folder, Rows.read(file), [200])


@pytest.mark.parametrize(
    ("sent", "protocol", "first_byte", "wanted"),
    [
        (TCP_FULL, TCP, 60.1, Opening(3, 7 * 52 + 404, 5 * 52 + 1959, 7, 5, False, False, False, ns=60_100_000)),
        (QUIC_FULL, UDP, 40.1, Opening(2, 3 * 28 + 2626, 3 * 28 + 1648, 3, 3, False, False, False, ns=40_100_000)),
        (EARLY, UDP, 20.1, Opening(1, 3 * 28 + 2645, 2 * 28 + 2362, 3, 2, False, False, False, ns=20_100_000)),
    ],
    ids=["TCP and TLS 1.3", "QUIC", "early data"],
)
def test_what_protocols_take(
    tmp_path: Path, sent: list[Sent], protocol: int, first_byte: float, wanted: Opening
) -> None:
    assert opened(tmp_path, [packets(sent, protocol)], [cold(-0.1, first_byte)]) == [wanted]


def test_a_lost_packet_is_named_and_sent_again_without_a_round_trip(tmp_path: Path) -> None:
    """Nothing came back in the meantime, so the client turned once."""
    again: list[Sent] = [(0, UP, -1280), *[(at + 300, way, payload) for at, way, payload in QUIC_FULL]]
    [opening] = opened(tmp_path, [packets(again, UDP)], [cold(-0.1, 340.1)])
    assert (opening.round_trips, opening.packets_up, opening.losses) == (2, 4, True)


def test_what_comes_after_the_answer_is_another_matter(tmp_path: Path) -> None:
    later: list[Sent] = [*QUIC_FULL, (31, DOWN, -1280), (45, UP, -40)]
    [opening] = opened(tmp_path, [packets(later, UDP)], [cold(-0.1, 40.1)])
    assert (opening.losses, opening.packets_up, opening.packets_down) == (False, 3, 3)


WAITED: list[Sent] = [*TCP_FULL[:-1], (80, DOWN, 1448)]
"""The request came at 50 ms, and the acknowledgement of what was sent at 50 ms at 70 ms."""
RECORD: list[Sent] = [*TCP_FULL[:-1], *[(60, DOWN, 1448)] * 10, (70, UP, 0), (80, DOWN, 1448)]
"""16 kB of TLS, of which ten packets are sent at once."""
HELLO_RETRY: list[Sent] = [(0, UP, 0), (10, DOWN, 0), (20, UP, 250), (30, DOWN, 100), (40, UP, 260)] + [
    (at + 20, way, payload) for at, way, payload in TCP_FULL[5:]
]


@pytest.mark.parametrize(
    ("sent", "request_at", "wanted"),
    [
        (TCP_FULL, 40, (3, 3, False)),
        (WAITED, 40, (4, 3, False)),
        (RECORD, 40, (4, 3, True)),
        (HELLO_RETRY, 60, (4, 4, False)),
    ],
    ids=["at once", "the server waits for a round trip", "a record of two flights", "another key exchange"],
)
def test_what_follows_the_request_is_told_from_what_goes_before_it(
    tmp_path: Path, sent: list[Sent], request_at: float, wanted: tuple[int, int, bool]
) -> None:
    row = cold(-0.1, 90.1, sent_ns=round(request_at * MS))
    [opening] = opened(tmp_path, [packets(sent, TCP)], [row])
    assert (opening.round_trips, opening.request_round_trips, opening.early_part) == wanted


def test_a_long_certificate_meets_the_limit(tmp_path: Path) -> None:
    """Three datagrams, then the client's acknowledgement, then the rest: a round trip more."""
    flight: list[Sent] = [(10, DOWN, 1252)] * 3
    long: list[Sent] = [(0, UP, 1280), *flight, (20, UP, 40), (30, DOWN, 1252), (40, UP, 100), (50, DOWN, 300)]
    [opening] = opened(tmp_path, [packets(long, UDP)], [cold(-0.1, 60.1)])
    assert (opening.round_trips, opening.limited) == (3, True)


def test_a_retry_is_seen(tmp_path: Path) -> None:
    first = packets([(0, UP, 1280)], UDP)
    retry = packets([(10, DOWN, 80)], UDP, flags=0xF5)
    rest = packets([(at + 20, way, payload) for at, way, payload in QUIC_FULL], UDP, flags=0xC0)
    [opening] = opened(tmp_path, [first, retry, rest], [cold(-0.1, 60.1)])
    assert (opening.round_trips, opening.retried) == (3, True)


def test_each_request_has_its_own_connection(tmp_path: Path) -> None:
    """One that earned a session is nobody's; a warm request is on one that is open."""
    tables = [packets(QUIC_FULL, UDP, 5000 + number, begin=100.0 * number) for number in range(3)]
    rows = [cold(99.9, 140.1), cold(199.9, 240.1), cold(300, 320, phase="warm")]
    assert [one.round_trips for one in opened(tmp_path, tables, rows)] == [2, 2]


@pytest.mark.parametrize(
    "rows",
    [
        [cold(50, 60)],
        [cold(-0.1, 140.1)],
        [cold(-0.1, 15)],
        [cold(-0.1, 40.1, error="reset")],
        [cold(-0.1, 40.1, first_byte_ns=None)],
        [cold(-0.1, 40.1), cold(300, 340)],
    ],
    ids=["no connection", "two", "nothing came", "failed", "a client that does not tell", "one of two"],
)
def test_what_cannot_be_told_is_not(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    tables = [packets(QUIC_FULL, UDP, 5000 + number, begin=100.0 * number) for number in range(2)]
    assert opened(tmp_path, tables, rows) == []


def test_without_a_record_nothing_is_told_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert opened(tmp_path, [packets(QUIC_FULL, UDP)], [cold(-0.1, 40.1)])
    rows, file = Rows.read(tmp_path / "samples.parquet"), tmp_path / "packets-access.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(UserError, match="cannot be read"):
        openings_of(tmp_path, rows, [200])
    file.unlink()
    assert openings_of(tmp_path, rows, [200]) == []
