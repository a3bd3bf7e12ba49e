"""What others than the client know of its connections and packets."""

from pathlib import Path

from h123.results.lab_report import NO_REPORT, Counters, Host
from h123.study import Parameters
from h123.verification.controller import Arrival
from h123.verification.trial import Trial
from h123.verification.witness import Witness, witness

WINDOW = (5, 6)


def _seen(folder: Path, hosts: list[Host], protocol: str = "h1", qlog: bool = False) -> Witness:
    basis = {"server": "go", "client": "go", "network": "plain", "protocol": protocol, "qlog": qlog}
    report = NO_REPORT.model_copy(update={"hosts": hosts})
    return witness(Trial(folder, report, WINDOW), Parameters.model_validate(basis))


def _host(name: str, opened: int, accepted: int) -> Host:
    after = {"Tcp.ActiveOpens": 7 + opened, "Tcp.PassiveOpens": accepted}
    return Host(name=name, counters=Counters(before={"Tcp.ActiveOpens": 7}, after=after))


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
        WINDOW, 2, [Arrival(1_250_000, 1280), Arrival(3_000_000, 1280)]
    )
