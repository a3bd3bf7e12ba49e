"""Defines the cases of a server's verification: trials with the probe as the client."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from h123.catalogue import DEFAULT_CONGESTION, NEWEST_TLS, QUIC, Server, Subject, controllers
from h123.study import Network, Parameters
from h123.verification import controller
from h123.verification.client_networks import PLAIN
from h123.verification.result import Result, Verdict
from h123.verification.server_checks import crowd, idleness

Asked = dict[str, Any]
"""Fields of the plan that the probe reads (subjects/go/probe)."""
PROBE = "go"
"""The built-in subject that sends the requests."""
SIZES = [0, 1, 1000, 100_000, 1_000_000, 10_000_000]
EDGES = [16_385, 65_535, 65_536, 65_537, 131_072, 1_048_576]
"""Body sizes in bytes, at or near those at which programs start a new record, block or buffer."""
OTHER_SIZES = [*EDGES, *random.Random(1).sample(range(2, 1_000_000), 6)]
"""Additional, arbitrary body sizes in bytes. They are the same in every verification, because the cache stores the
bodies."""
LARGE = 100_000_000
"""A body size in bytes. It exceeds any limit of a few megabytes, yet even the slowest servers send it within
_LARGE_NS."""
HUGE = 1_100_000_000
"""A body size above 2^30 bytes, so that QUIC needs eight bytes for some offsets (RFC 9000, section 16). Only fast
servers get this case."""
QUICK_S = 6.0
"""The longest time, in seconds, that a server may take to send the large body and still get the case with the huge
body."""
LOGGED_BYTES = 1_000_000
"""A body size in bytes at which the body's packets outnumber the packets of all handshakes."""
_LENGTHY: dict[str, Asked] = {
    "wall": {"in_a_row": 5000, "other_sizes": OTHER_SIZES, "rest_ns": 100_000_000},
    "virtual": {"in_a_row": 2000, "rest_ns": 1_000_000_000},
}
"""The longest checks, each under the clock under which it takes less time: the wall clock for processing, the virtual
clock for waiting."""
_RESUMED = {"wall": 10, "virtual": 1}
"""The number of times that the probe resumes a session, by clock. Each time, a different process of the server may
accept the connection."""
CHECK_NS = 30_000_000_000
"""The time in ns within which a server must answer all requests of a check."""
_LARGE_NS = 240_000_000_000
"""The time in ns within which a server must send a large or a huge body. For the large body, this is about 3 Mbit/s,
which even a server in an interpreted language exceeds on a busy machine. Servers that get the huge body should need
about a quarter of this time."""
PASSED_BYTES = 1_000_000
"""The size in bytes of the larger body requested from an edge. At least this many bytes must come from the host behind
the edge."""
TRIAL_TIMEOUT = "300s"

Purpose = Literal["versions", "contract", "large", "huge", "limit", "idleness", "tls", "edge", "qlog", "controller"]


@dataclass(frozen=True)
class ServerCase:
    """One trial, and what to check after it."""

    name: str
    purpose: Purpose
    parameters: Parameters
    plan: Asked
    """The probe's plan, without the server's address."""
    controller: str = ""
    """The congestion controller that the server must show. Empty in cases about something else."""
    network: Network = PLAIN

    def result(self, check: str, verdict: Verdict, detail: str = "") -> Result:
        """Return a result of this trial."""
        p = self.parameters
        return Result(role="server", protocol=p.protocol, clock=p.clock, check=check, verdict=verdict, detail=detail)


def questions(subject: Subject) -> list[ServerCase]:
    """Return the cases for everything that the subject declares as a server."""
    assert subject.server is not None
    return [case for protocol in subject.server.protocols for case in _of_protocol(subject, subject.server, protocol)]


def _of_protocol(subject: Subject, server: Server, protocol: str) -> Iterator[ServerCase]:
    features = subject.features
    contract = _plan(
        protocol,
        SIZES,
        methods=server.methods,
        at_once=crowd.at_once(server, protocol),
        in_turn=protocol in server.in_turn,
        zero_rtt=protocol in features.zero_rtt,
        left_open=True,
    )

    def parameters(**values: Any) -> Parameters:
        return server_parameters(subject, protocol=protocol, **{"congestion": DEFAULT_CONGESTION, **values})

    if protocol == QUIC:
        yield ServerCase(f"{protocol}-versions", "versions", parameters(), _plan(protocol, []))
    for clock in features.clocks:
        resumed = _RESUMED[clock] if protocol in features.resumption else 0
        silent = idleness.idle_time_ns(server, protocol) if clock == "virtual" else 0
        plan = {**contract, **_LENGTHY[clock], "idle_ns": silent, "resumption": resumed}
        yield ServerCase(f"{protocol}-{clock}", "contract", parameters(clock=clock), plan)
    bodies: list[tuple[Purpose, int]] = [("large", LARGE), ("huge", HUGE)]
    for purpose, size in bodies:
        plan = _plan(protocol, [size], methods=["GET"], timeout_ns=_LARGE_NS)
        yield ServerCase(f"{protocol}-{purpose}", purpose, parameters(size=size), plan)
    if further := crowd.beyond(server, protocol):
        yield ServerCase(f"{protocol}-limit", "limit", parameters(), {**_plan(protocol, [100_000]), **further})
    if silence := idleness.beyond(server, protocol):
        clock = "virtual" if "virtual" in features.clocks else "wall"  # waiting takes no time there
        yield ServerCase(f"{protocol}-idle", "idleness", parameters(clock=clock), {**_plan(protocol, [1]), **silence})
    for version in _older_tls(features.tls, protocol):
        older = _plan(protocol, [1000, 1_000_000], methods=server.methods, tls=version)
        yield ServerCase(f"{protocol}-tls-{version}", "tls", parameters(tls=version), older)
    if server.edge:
        passed = _plan(protocol, [1000, PASSED_BYTES], methods=server.methods)
        yield ServerCase(f"{protocol}-edge", "edge", parameters(backend_network=PLAIN.name), passed)
    if protocol in features.qlog:
        yield ServerCase(f"{protocol}-qlog", "qlog", parameters(qlog=True), _plan(protocol, [LOGGED_BYTES]))
    download = _plan(protocol, [controller.BODY_BYTES], arrivals="arrivals.csv")
    for number, name in enumerate(controllers(subject, protocol) or []):
        # The first controller is the server's default. If the controller is fixed, no study can request it by name.
        controller_name = name if number else DEFAULT_CONGESTION
        trial_parameters = parameters(
            congestion=controller_name, size=controller.BODY_BYTES, network=controller.NETWORK.name
        )
        yield ServerCase(f"{protocol}-{name}", "controller", trial_parameters, download, name, controller.NETWORK)


def _older_tls(declared: Sequence[str], protocol: str) -> list[str]:
    """Return the declared TLS versions except the newest. For QUIC the list is empty, because QUIC supports only the
    newest."""
    return [version for version in declared if version != NEWEST_TLS and protocol != QUIC]


def _plan(protocol: str, sizes: list[int], **values: Any) -> Asked:
    basis = {"h123": "probe/1", "protocol": protocol, "tls": "1.3", "timeout_ns": CHECK_NS, "sizes": sizes}
    nothing: Asked = dict.fromkeys(("at_once", "in_a_row", "rest_ns", "idle_ns", "resumption"), 0)
    nothing |= dict.fromkeys(("in_turn", "zero_rtt", "left_open"), False)
    absent: Asked = {"methods": [], "other_sizes": [], "arrivals": ""}
    return {**basis, **nothing, **absent, **values}


def server_parameters(subject: Subject, **values: Any) -> Parameters:
    basis = {"server": subject.name, "client": PROBE, "network": PLAIN.name, "trial_timeout": TRIAL_TIMEOUT}
    return Parameters.model_validate({**basis, **values})
