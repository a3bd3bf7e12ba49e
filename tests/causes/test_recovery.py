"""What the time from a client's move until the next answer was spent on: of packets whose course is known, and of real
trials under the virtual clock."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.catalogue import make_bodies
from h123.causes import CAUSES, explain
from h123.causes.cause import Nanoseconds
from h123.causes.connections.connection import Connection, connections
from h123.causes.explainer import Explainer
from h123.causes.matching import match
from h123.causes.processors import Work
from h123.causes.recovery import Recovery, middle_recoveries
from h123.causes.request import Request
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.measures import EndedTrial, trial_metrics
from h123.packets.capture import BLOCKED, DELIVERED, DOWN, PACKET, TCP, UDP, UP, Packets, read_packets
from h123.store import Sample
from h123.study import Network, Parameters
from h123.study.networks.network import Bottleneck, Direction, Move
from h123.verification.migration import after_move
from h123.verification.trial import Trials
from verification.packet_tables import MS, TRIP

LINK = Direction(delay_ns=TRIP // 2)
OLD, NEW, ANEW = 40_000, 50_000, 50_001
SYN, ACK, RST = 0x02, 0x10, 0x04
INITIAL, SHORT = 0xC3, 0x43
MOVE = 1000 * MS
FULL = 1200

Row = tuple[int, float, int, int, int]
"""Way, when it came to the link in ms, the client's port, payload, flags."""


def _packets(rows: list[Row], protocol: int, blocked_from: float = MOVE / MS) -> Packets:
    """Each takes half a round trip; what is sent to the old place and would arrive after the move reaches nobody."""
    table = np.zeros(len(rows), PACKET)
    for place, (way, at, port, payload, flags) in enumerate(sorted(rows, key=lambda row: row[1])):
        left = round(at * MS) + TRIP // 2
        reached = way == UP or port in (NEW, ANEW) or left < blocked_from * MS
        one = table[place]
        one["way"], one["at_ns"], one["payload"], one["flags"], one["protocol"] = way, at * MS, payload, flags, protocol
        one["left_ns"], one["fate"] = (left, DELIVERED) if reached else (0, BLOCKED)
        one["source" if way == UP else "destination"] = port
    return table


def _download(until: int, port: int = OLD, later: float = 0) -> list[Row]:
    """Over QUIC: full packets every 10 ms from 150 ms on, each answered."""
    rows: list[Row] = [(UP, 0, port, FULL, INITIAL), (DOWN, 50, port, FULL, INITIAL), (UP, 100, port, 80, SHORT)]
    rows += [(DOWN, at, port, FULL, SHORT) for at in range(150, until, 10)]
    rows += [(UP, at + 50, port, 30, SHORT) for at in range(150, min(until, 950), 10)]
    return [(way, at + later, *rest) for way, at, *rest in rows]  # type: ignore[misc]


def _challenged(data: float) -> list[Row]:
    """The server hears from the new place after 90 ms, and makes sure of it for a round trip; when it sends data."""
    return [
        *((UP, 1040, NEW, 50, SHORT), (DOWN, 1090, NEW, FULL, SHORT), (UP, 1140, NEW, 50, SHORT)),
        *((DOWN, data, NEW, FULL, SHORT), (DOWN, 1200, NEW, 300, SHORT)),
    ]


def _row(start: float, end: float, error: str = "") -> Sample:
    times: dict[str, Any] = {"start_ns": round(start * MS), "end_ns": round(end * MS), "sent_ns": None}
    return cast(Sample, {"user": 0, "error": error, **times})


def _connections(packets: Packets) -> list[Connection]:
    return connections(packets, LINK, LINK)


def _told(time: Nanoseconds) -> dict[str, float]:
    """ms of each cause."""
    return {cause.name: round(part / MS, 3) for cause, part in zip(CAUSES, time.tolist(), strict=True) if part}


def _recovery(packets: Packets, rows: list[Sample], sent: float) -> dict[str, float]:
    """Of the request that was answered first, alone on its connection."""
    (one,) = middle_recoveries([MOVE], rows)
    start, end = one.answer["start_ns"], one.answer["end_ns"]
    of = [Request(start, start, round(sent * MS), None, end, up=0, down=100_000)]
    (connection,) = match([of], _connections(packets), [MOVE])
    assert connection
    return _told(one.durations(connection, Explainer(connection, of, Work([], []), moves=[MOVE]), 0))


def test_a_connection_of_quic_goes_on_when_the_server_has_heard_and_validated() -> None:
    packets = _packets(_download(1150) + _challenged(1190), UDP)
    told = _recovery(packets, [_row(0, 1250)], sent=100)
    assert told == {"gone": 90, "validating": 100, "mending": 10, "trip": 50}


def test_data_that_is_sent_before_the_challenge_is_answered_waits_for_nothing() -> None:
    packets = _packets(_download(1080) + _challenged(1090), UDP)
    told = _recovery(packets, [_row(0, 1250)], sent=100)
    assert (told["gone"], told.get("validating", 0), sum(told.values())) == (90, 0, 250)


def test_where_networks_overlap_the_time_counts_from_the_last_data_at_the_old_place() -> None:
    packets = _packets(_download(1020) + _challenged(1190), UDP, blocked_from=1070)
    told = _recovery(packets, [_row(0, 1250)], sent=100)
    assert told["gone"] == pytest.approx(1090 - 1060)
    assert sum(told.values()) == 250


def _anew(begin: float) -> list[Row]:
    """TCP's and TLS' handshake, a request and its answer, from then on."""
    client = [(0, 0, SYN), (100, 0, ACK), (100, 300, ACK), (200, 80, ACK)]
    server = [(50, 0, SYN | ACK), (150, 900, ACK), (250, 500, ACK)]
    ups: list[Row] = [(UP, begin + at, ANEW, payload, flags) for at, payload, flags in client]
    return ups + [(DOWN, begin + at, ANEW, payload, flags) for at, payload, flags in server]


def test_a_connection_of_tcp_ends_and_is_made_anew() -> None:
    before: list[Row] = [(UP, 0, OLD, 0, SYN), (DOWN, 50, OLD, 0, SYN | ACK), (UP, 100, OLD, 80, ACK)]
    reset: list[Row] = [(UP, 1040, NEW, 0, ACK), (DOWN, 1090, NEW, 0, RST)]
    packets = _packets(before + reset + _anew(1142), TCP)
    rows = [_row(900, 1140, error="reset"), _row(1140, 1442)]
    told = _recovery(packets, rows, sent=1342)
    assert told == {"gone": 140, "client-work": 2, "anew": 200, "trip": 100}


def test_what_a_client_repeats_by_itself_was_not_noticed_before_it_connects() -> None:
    packets = _packets(_anew(1142), TCP)
    rows = [_row(900, 1040, error="timeout"), _row(1040, 1442) | {"sent_ns": 1041 * MS}]
    (one,) = middle_recoveries([MOVE], cast(list[Sample], rows))
    of = [Request(1040 * MS, 1040 * MS, 1342 * MS, None, 1442 * MS, up=0, down=500)]
    (connection,) = match([of], _connections(packets), [MOVE])
    assert connection
    told = _told(one.durations(connection, Explainer(connection, of, Work([], [])), 0))
    assert told == {"gone": 142, "anew": 200, "trip": 100}


def test_a_part_since_a_move_belongs_to_the_connection_whose_requests_it_answers() -> None:
    """One of two goes on."""
    packets = _packets(_download(1150) + _challenged(1190) + _download(900, OLD + 7, later=3), UDP)
    silent = [Request(3 * MS, 3 * MS, 103 * MS, None, 943 * MS, up=0, down=1000)]
    goes_on = [Request(0, 0, 100 * MS, None, 1250 * MS, up=0, down=1000)]
    one, other = match([silent, goes_on], _connections(packets), [MOVE])
    assert one
    assert other
    assert (one.begin, other.begin) == (3 * MS, 0)
    assert NEW not in one.up.packets["source"]
    assert NEW in other.up.packets["source"]
    assert (np.diff(other.down.at) >= 0).all()


def test_before_anything_is_asked_for_nothing_has_gone() -> None:
    (one,) = middle_recoveries([MOVE], [_row(0, 900), _row(1200, 1450)])
    assert one == Recovery(MOVE, 1200 * MS, 0, one.answer)


def test_the_recovery_in_the_middle_is_told_or_both_that_are_or_none_that_has_no_end() -> None:
    rows = [_row(0, 1300), _row(1300, 2100), _row(2100, 3500)]
    moves = [MOVE, 2000 * MS, 3000 * MS]  # 300, 100 and 500 ms before
    assert [one.at for one in middle_recoveries(moves, rows)] == [MOVE]
    assert [one.at for one in middle_recoveries(moves[:2], rows)] == [2000 * MS, MOVE]
    assert middle_recoveries([4000 * MS], rows) == []
    assert middle_recoveries([MOVE, 4000 * MS], rows) == []
    assert [one.at for one in middle_recoveries([MOVE, 2000 * MS, 4000 * MS], rows)] == [MOVE]


@given(silent=st.integers(0, 400), proves=st.integers(0, 300), rest=st.integers(0, 100))
def test_the_parts_sum_up_to_the_recovery_whenever_things_happen(silent: int, proves: int, rest: int) -> None:
    heard = 1050 + silent
    rows: list[Row] = [(UP, heard - 50, NEW, 50, SHORT), (DOWN, heard, NEW, FULL, SHORT)]
    rows += [(UP, heard + 50 + proves, NEW, 50, SHORT), (DOWN, heard + 100 + proves + rest, NEW, FULL, SHORT)]
    end = heard + 150 + proves + rest
    told = _recovery(_packets(_download(1100) + rows, UDP), [_row(0, end)], sent=100)
    assert sum(told.values()) == pytest.approx(end - 1000)
    assert all(part > 0 for part in told.values())
    assert (told["gone"], told["validating"]) == (heard - 1000, 100 + proves + rest)


@pytest.mark.heavy
@pytest.mark.parametrize(("protocol", "parts"), [("h3", {"gone", "validating"}), ("h2", {"gone", "anew"})])
def test_a_real_recovery_is_taken_apart(trials: Trials, tmp_path: Path, protocol: str, parts: set[str]) -> None:
    way = Direction(delay_ns=20 * MS, rate=Bottleneck(bps=20_000_000))
    network = Network(name="made", title="made", up=way, down=way, moves=[Move(at_ns=500 * MS, new="port")])
    load = {"size": "20kB", "users": 1, "requests": 30, "cold": False, "timeout": "5s"}
    where = {"network": "made", "server": "go", "client": "go", "clock": "virtual", "congestion": "cubic"}
    parameters = Parameters.model_validate({**load, **where, "protocol": protocol})
    values, folder = parameters.model_dump(mode="json"), tmp_path / "trial"
    make_bodies({20_000})
    assert trials.carry_out(folder, parameters, network, lambda _: None).faults == []
    report = read_document(folder / "report.json", Report)
    told = explain(folder, parameters.workload.statuses())
    (recovery,) = told.recoveries
    assert recovery.duration == pytest.approx(trial_metrics(EndedTrial(folder, report, values))["recovery"])
    assert recovery.seconds.sum() == pytest.approx(recovery.duration)
    assert recovery.sums_up
    seconds = {cause.name: part for cause, part in zip(CAUSES, recovery.seconds.tolist(), strict=True) if part > 1e-4}
    assert parts <= seconds.keys()
    assert not {"unattributed", "gone", "validating", "anew"} - parts & seconds.keys()
    # Other eyes see a full packet when it has come; over QUIC that may be a challenge, a round trip before.
    _, flowed = after_move(read_packets(folder), report.main_began_ns + 500 * MS, UDP if protocol == "h3" else TCP)
    assert flowed
    assert flowed - 0.065 < sum(seconds[part] for part in parts) < flowed + 0.045
    assert told.sums_up.all()  # what was asked for on a connection that goes on is told after the move as well
