"""What others than the client know of its connections and packets."""

import json
from pathlib import Path

import numpy as np
import pytest

from h123.documents.lab_report import NO_REPORT, Counters, HostReport
from h123.packets.capture import DOWN, PACKET, TCP, UP, write_packets
from h123.study import Parameters
from h123.verification.clients.witness import Witness, witness
from h123.verification.controller import Arrival
from h123.verification.handshake import Handshake
from h123.verification.trial import Trial

WINDOW = (5, 6)


def _seen(
    folder: Path, hosts: list[HostReport], protocol: str = "h1", qlog: bool = False, sessions: str = "full"
) -> Witness:
    basis = {"server": "go", "client": "go", "network": "plain", "protocol": protocol, "qlog": qlog}
    report = NO_REPORT.model_copy(update={"hosts": hosts})
    return witness(Trial(folder, report, [], WINDOW), Parameters.model_validate({**basis, "sessions": sessions}), 455)


def _host(name: str, opened: int, accepted: int) -> HostReport:
    after = {"Tcp.ActiveOpens": 7 + opened, "Tcp.PassiveOpens": accepted}
    return HostReport(name=name, counters=Counters(before={"Tcp.ActiveOpens": 7}, after=after))


def test_tcp_connections_are_counted_by_both_hosts(tmp_path: Path) -> None:
    assert _seen(tmp_path, [_host("client", 3, 0), _host("server", 0, 3)]) == Witness(WINDOW, 3)
    steered = [_host("client", 4, 1), _host("server", 0, 3)]
    behind_a_proxy = [_host("client", 3, 0), _host("server", 2, 5)]
    assert _seen(tmp_path, steered).connections == _seen(tmp_path, behind_a_proxy).connections == 3


def test_quic_is_seen_in_the_log_alone(tmp_path: Path) -> None:
    assert _seen(tmp_path, [], "h3") == Witness(WINDOW)
    (tmp_path / "qlog").mkdir()
    for name, at in (("a", 1.25), ("b", 3)):
        (tmp_path / f"qlog/{name}.sqlog").write_text(
            '\x1e{"qlog_version": "0.3", "trace": {}}\n'
            f'\x1e{{"time": {at}, "name": "transport:packet_received", "data": {{"raw": {{"length": 1280}}}}}}\n'
            '\x1e{"time": 4, "name": "transport:packet_sent", "data": {"raw": {"length": 40}}}\n'
        )
    assert _seen(tmp_path, [], "h3", qlog=True) == Witness(
        WINDOW, 2, [Arrival(1_250_000, 1280), Arrival(3_000_000, 1280)], given_up=0, requests=0
    )


def test_a_handshake_with_a_certificate_is_a_full_one(tmp_path: Path) -> None:
    """Of two connections over TCP: the server's first flight, a round trip before all that it says later."""
    packets = np.zeros(8, PACKET)
    packets["way"], packets["protocol"] = [UP, DOWN, DOWN, DOWN, UP, DOWN, DOWN, DOWN], TCP
    packets["source"] = [1, 0, 0, 0, 2, 0, 0, 0]
    packets["destination"] = [0, 1, 1, 1, 0, 2, 2, 2]
    packets["payload"] = [0, 0, 824, 1448, 417, 378, 70, 1448]
    packets["at_ns"] = np.array([0, 20, 50, 150, 280, 300, 301, 400]) * 1_000_000
    write_packets(packets, tmp_path / "packets-access.parquet")
    seen = _seen(tmp_path, [_host("client", 2, 0), _host("server", 0, 2)], sessions="resumed")
    assert seen.handshakes == [Handshake(resumed=False), Handshake(resumed=True, fast_open=True)]


def _event(name: str, kind: str, *frames: dict[str, object]) -> dict[str, object]:
    data = {"header": {"packet_type": kind}, "raw": {"length": 1280}, "frames": list(frames)}
    return {"time": 1, "name": f"transport:packet_{name}", "data": data}


def _crypto(offset: int, length: int) -> dict[str, object]:
    return {"frame_type": "crypto", "offset": offset, "length": length}


STREAM = {"frame_type": "stream", "stream_id": 0}


@pytest.mark.parametrize(
    ("events", "seen"),
    [
        ([_event("sent", "initial", _crypto(0, 600)), _event("sent", "handshake", _crypto(0, 130))], (True, False)),
        ([_event("sent", "handshake", _crypto(at, 350)) for at in (0, 350)], (False, False)),
        ([_event("received", "handshake", _crypto(0, 600)), _event("sent", "1RTT", _crypto(0, 600))], (True, False)),
        ([_event("received", "0RTT", STREAM), _event("sent", "handshake", _crypto(0, 130))], (True, True)),
        ([_event("received", "0RTT", {"frame_type": "ping"}), _event("received", "1RTT", STREAM)], (True, False)),
    ],
    ids=["resumed", "full", "the client's", "early", "nothing early"],
)
def test_a_server_logs_its_certificate_and_what_came_early(
    tmp_path: Path, events: list[dict[str, object]], seen: tuple[bool, bool]
) -> None:
    (tmp_path / "qlog").mkdir()
    (tmp_path / "qlog/a.sqlog").write_text("".join(f"\x1e{json.dumps(event)}\n" for event in events))
    assert _seen(tmp_path, [], "h3", qlog=True, sessions="early").handshakes == [Handshake(*seen)]
