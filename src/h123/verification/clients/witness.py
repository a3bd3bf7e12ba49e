"""Observes a client without relying on its own report: hosts count TCP connections, the link records their packets, and
the server logs QUIC."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from h123.catalogue import FULL
from h123.documents.lab_report import Report
from h123.packets.qlog import QLOG_FOLDER, events
from h123.study import Parameters
from h123.verification.clients.receive_limits import count_cancelled, count_requests
from h123.verification.controller import Arrival
from h123.verification.handshake import RECEIVED, Handshake, quic_handshake, tcp_handshakes
from h123.verification.trial import Trial, Window


@dataclass(frozen=True)
class Witness:
    """Observations of the client by the hosts, the link and the server."""

    window: Window
    connections: int | None = None
    """The number of connections that the client opened, or None if not counted."""
    arrivals: Sequence[Arrival] = field(default=())
    """The client's packets as the server received them. Empty if they were not logged."""
    handshakes: Sequence[Handshake] | None = None
    """The handshake of each connection, or None if not observed."""
    bytes_down: int | None = None
    """The number of bytes that the link carried to the client, or None if not counted."""
    given_up: int | None = None
    """The number of requests that the client cancelled, or None if not observed."""
    requests: int | None = None
    """The number of requests that the client made, including cancelled ones, or None if not observed."""


def witness(trial: Trial, p: Parameters, certificate_bytes: int) -> Witness:
    """Return the observations of a finished trial whose server has a certificate of this size."""
    resumes, down = p.sessions != FULL, _bytes_down(trial.report)
    if p.protocol != "h3":
        handshakes = tcp_handshakes(trial.folder, certificate_bytes) if resumes else None
        return Witness(trial.window, _tcp_connections(trial.report), handshakes=handshakes, bytes_down=down)
    if not p.qlog:
        return Witness(trial.window, bytes_down=down)
    logs = [list(events(path)) for path in sorted((trial.folder / QLOG_FOLDER).iterdir())]
    received = [event for log in logs for event in log if event.get("name") == RECEIVED]
    # qlog's times are in milliseconds.
    arrivals = [Arrival(round(event["time"] * 1e6), event["data"]["raw"]["length"]) for event in received]
    quic_handshakes = [quic_handshake(log, certificate_bytes) for log in logs] if resumes else None
    return Witness(
        trial.window,
        len(logs),
        arrivals,
        quic_handshakes,
        down,
        sum(map(count_cancelled, logs)),
        sum(map(count_requests, logs)),
    )


def _bytes_down(report: Report) -> int | None:
    way = (report.links[0].directions or {}).get("down") if report.links else None
    return way.bytes_delivered if way else None


def _tcp_connections(report: Report) -> int:
    """Return the smaller of the two hosts' counts of connections. Either may have additional connections: a browser to
    its controller, or a proxy to its origin."""
    counted = {"client": "Tcp.ActiveOpens", "server": "Tcp.PassiveOpens"}
    counters = {host.name: host.counters for host in report.hosts}
    return min(counters[host].grown(name) for host, name in counted.items())
