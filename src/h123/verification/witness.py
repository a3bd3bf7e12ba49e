"""What a trial shows of its client without the client's word: the hosts count TCP connections, the server logs QUIC."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from h123.results.lab_report import Counters, Report
from h123.study import Parameters
from h123.trial import QLOG_FOLDER
from h123.verification.controller import Arrival
from h123.verification.qlog import events
from h123.verification.trial import Trial, Window

RECEIVED = "transport:packet_received"
"""In qlog; the event's `time` is in milliseconds."""


@dataclass(frozen=True)
class Witness:
    """What others than the client know."""

    window: Window
    connections: int | None = None
    """That the client opened; None: nobody has counted them."""
    arrivals: Sequence[Arrival] = field(default=())
    """Its packets as the server got them; none where that was not logged."""


def witness(trial: Trial, p: Parameters) -> Witness:
    """Of a trial that has ended."""
    if p.protocol != "h3":
        return Witness(trial.window, _tcp_connections(trial.report))
    if not p.qlog:
        return Witness(trial.window)
    files = sorted((trial.folder / QLOG_FOLDER).iterdir())
    received = [event for path in files for event in events(path) if event.get("name") == RECEIVED]
    arrivals = [Arrival(round(event["time"] * 1e6), event["data"]["raw"]["length"]) for event in received]
    return Witness(trial.window, len(files), arrivals)


def _tcp_connections(report: Report) -> int:
    """Either host may have some of its own: a browser with who steers it, a proxy with its origin."""
    counted = {"client": "Tcp.ActiveOpens", "server": "Tcp.PassiveOpens"}
    counters = {host.name: host.counters for host in report.hosts}
    return min(_grown(counters[host], name) for host, name in counted.items())


def _grown(counters: Counters, name: str) -> int:
    """Counters that are zero are left out."""
    return (counters.after or {}).get(name, 0) - counters.before.get(name, 0)
