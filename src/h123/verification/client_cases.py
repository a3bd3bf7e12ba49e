"""Defines the cases of a client's verification: small workloads, some of which must fail in a known way."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from h123.catalogue import (
    DEFAULT_CONGESTION,
    FULL,
    HTTPS_RECORD,
    NEWEST_TLS,
    OPENINGS,
    PROTOCOLS,
    QUIC,
    Client,
    Subject,
    controllers,
)
from h123.study import Network, Parameters
from h123.study.workload import DEFAULT, KINDS, AnyWorkloadFile
from h123.verification import controller
from h123.verification.client_networks import CROWDED, DEAD, DISTANT, FAR, LEFT, LOSSES, NO_UDP, PLAIN, REMOTE, SLOW

Asked = Callable[..., Parameters]
"""A function that builds parameters for a client over one protocol, with the given changes."""
Expected = Literal["answers", "wrong bytes", "not found", "refused", "timeout", "anything", "unsupported"]
METHODS = ("GET", "POST")
OLDER_TLS: Literal["1.2"] = "1.2"
"""The TLS version of the cases that use an older one."""
SIZES = BYTE, KILOBYTE, MEGABYTE = (1, 1000, 1_000_000)
FRESH_BYTES = 4000
UNHURRIED = 1_500_000
"""The size in bytes of a response that is too large to arrive before its user leaves, or before the first retry."""
CROWD, LARGE = 300, 20_000_000
"""A number of users above most programs' limits on simultaneous requests, and a body size in bytes above most receive
windows."""
STREAMS, WINDOWS = "streams at once", "receive windows"
"""The names of the checks of the limits that a client sets for a server over QUIC."""
WITNESS = "go"
"""The server whose qlog files show what a client does over QUIC, and which can send wrong bodies."""
SPOILED = {"middle": "a body of 1 MB with a wrong byte in its middle", "zeros": "a body of 1 MB of zeros"}
"""Maps the name of each wrong body to the check for clients that compare bodies."""
HASTE = "requests in early data, one soon after another"
"""The name of a check for clients that send early data."""
PAGE = "page"
FIRST_VISIT, REPEAT_VISIT = "a first visit, HTTP/3 announced", "a repeat visit, HTTP/3 announced"
INFORMED_VISIT = "a first visit, HTTP/3 in the DNS"
"""The names of the checks for clients that remember what they learn about a server."""
PAUSED, HOSTS = "visits with a pause between them", "a page of three hosts"
THREE_HOSTS = {
    "name": "hosts",
    "resources": [
        {"name": "document", "type": "document", "size": 2000, "run": "1ms"},
        {"name": "style", "type": "style", "size": 10_000, "by": "document"},
        {"name": "scripts", "type": "script", "size": 20_000, "by": "document", "count": 3, "host": "b"},
        {"name": "images", "type": "image", "size": 20_000, "by": "style", "count": 2, "host": "c"},
    ],
}
"""A page in which all requests to one host are due together, so that the number of connections to the host is known.
Clients that load documents must refuse this page."""
CONNECTIONS: dict[str, str | int] = {"shared": "shared", "per-user": "per-user", "number": 2}
"""Maps each way to spread users over connections to its value in a workload."""
PATIENCE_NS = 500_000_000
"""The time in ns after which users abandon a request. Over the link LEFT, a response begins earlier, even on a new
connection."""
INSISTENCE = {"after": "1s", "at_most": 2}
"""The retries of users over the link LEFT. Small responses arrive before the first retry; large ones do not."""
CHANGING = {
    "process": "poisson",
    "steps": [
        {"rate": 400, "lasts": "100ms"},
        {"rate": [100, 1500], "lasts": "200ms"},
        {"burst": 20, "lasts": "50ms"},
        {"rate": 0, "lasts": "30ms"},
    ],
}
"""Arrivals that contain every form of step."""
CLOSED_PORT = 9
"""A port on which no server listens."""


@dataclass(frozen=True)
class ClientCase:
    """One trial with the client, and its expected result."""

    name: str
    parameters: Parameters
    network: Network = PLAIN
    expected: Expected = "answers"
    path: str | None = None
    """The path to request instead of the parameters' path."""
    port: int | None = None
    """The port to connect to instead of the server's."""
    controller: str = ""
    """The congestion controller that the client's packets must show. Empty in cases about something else."""
    body: str = ""
    """The wrong body that the server sends, or an empty string for the right one."""
    receives: bool = False
    """Whether the client's receive limits are to be read from the server's log."""
    falls_back: bool = False
    """Whether the client must fall back, so that the fallback protocol carries the requests."""
    document: str = ""
    """In a case about discovering HTTP/3, the protocol that must carry each visit's document. Other requests may use
    any protocol that the workload allows. Empty in other cases."""

    def carriers(self, resource: int | None) -> list[str]:
        """Return the protocols that may carry a request for this resource."""
        work = self.parameters.workload
        if self.document:
            return work.protocols() if resource else [self.document]
        return [work.fallback or self.parameters.protocol if self.falls_back else self.parameters.protocol]

    @property
    def attempts(self) -> int:
        """The number of attempts that must fail for the check to fail: two in cases that depend on times, because a
        busy machine can distort the times of one attempt."""
        return 2 if self.network in (FAR, DISTANT, REMOTE, CROWDED, LEFT, LOSSES) else 1

    @property
    def logged(self) -> bool:
        """Whether only the server's log shows the result."""
        p = self.parameters
        resumes = p.sessions != FULL and p.protocol == QUIC and self.expected == "answers"
        return bool(self.controller) or self.receives or resumes

    @property
    def of_server(self) -> Parameters:
        """The parameters that the server must support. If the client must refuse the case, no request reaches the
        server, so resumed sessions, an older TLS version and the discovery of HTTP/3 are left out. The protocol stays,
        because a server cannot start for a protocol that it does not support."""
        p = self.parameters
        easier = {"sessions": FULL, "tls": NEWEST_TLS, "fallback": False}
        return p.model_copy(update=easier) if self.expected == "unsupported" else p

    def connections(self) -> int:
        """Return the number of connections that the workload implies (docs/contracts/workload.md)."""
        return self.parameters.workload.connections_opened()

    def workload(self, file: AnyWorkloadFile) -> AnyWorkloadFile:
        """Return workload.json with the changes of this case."""
        changes = {"path": self.path, "port": self.port}
        return file.changed(**{key: value for key, value in changes.items() if value is not None})


def assignments(subject: Subject) -> list[ClientCase]:
    """Return cases for everything that the subject declares as a client, and for everything that it must refuse."""
    client = subject.client
    assert client is not None
    cases = [assigned for protocol in client.protocols for assigned in _of_protocol(subject, client, protocol)]
    return cases + list(_refusals(subject, client))


def _of_protocol(subject: Subject, client: Client, protocol: str) -> Iterator[ClientCase]:
    case = partial(client_parameters, subject, client, protocol=protocol)
    # Only logs show the connections over QUIC, and their data, independently of the client.
    logged = partial(case, qlog=protocol == "h3" and client.verified_with == WITNESS)
    yield from _connections(client, logged)
    if most := client.at_once.get(protocol):
        yield ClientCase(_crowd(most), logged(size=KILOBYTE, users=most, requests=2))
    yield from _sizes(client, case, subject.features.clocks)
    if "GET" in client.methods:
        far = case(method="GET", size=MEGABYTE, requests=2)
        yield ClientCase("times over a link of 100 ms and 10 Mbit/s", far, FAR)
    if protocol == QUIC and client.verified_with == WITNESS and "GET" in client.methods:
        yield from _reception(client, logged)
    yield from _sessions(client, logged, protocol)
    if OLDER_TLS in subject.features.tls and protocol != QUIC:
        # A link with long round trips makes the handshake of an older TLS visible.
        yield ClientCase(f"TLS {OLDER_TLS}", case(size=MEGABYTE, requests=2, tls=OLDER_TLS), FAR)
    if client.fallback and protocol == QUIC:
        yield from _fallbacks(client, case)
    if client.remembers and protocol == QUIC:
        yield from _findings(client, case)
    yield from _kinds(client, case)
    if client.open_loop:
        yield _open_loop(client, logged, protocol)
    if client.arrivals:
        parameters = case(method="GET", size=KILOBYTE, users=2, requests=100, warmup=2, arrivals=CHANGING, cold=False)
        yield ClientCase("an open loop whose rates change", parameters)
    if client.per_connection and client.cold:
        each = {**CHANGING, "per": "connection"}
        way = CONNECTIONS["number" if "number" in client.connections else client.connections[0]]
        parameters = case(method="GET", size=KILOBYTE, users=4, requests=50, warmup=2, connections=way, arrivals=each)
        yield ClientCase("an open loop with rates of each connection", parameters)
    if client.abandons and client.cold and "GET" in client.methods:
        yield _abandoned_requests(logged, protocol)
    if client.retries and client.cold and "GET" in client.methods and "mix" in client.kinds:
        yield _made_again(logged, protocol)
    if protocol == "h3" and "POST" in client.methods:
        upload = partial(logged, method="POST", size=controller.BODY_BYTES, requests=1, cold=False, timeout="50s")
        for number, name in enumerate(controllers(subject, protocol) or []):
            # The first controller is the client's default. If the controller is fixed, no study can request it by name.
            parameters_of_controller = upload(congestion=name if number else DEFAULT_CONGESTION)
            yield ClientCase(f"congestion {name}", parameters_of_controller, LOSSES, controller=name)
    yield from _failures(case)
    if client.compares:
        for body, name in SPOILED.items():
            spoiled = case(method="GET", size=MEGABYTE, requests=2, cold=False)
            yield ClientCase(name, spoiled, expected="wrong bytes", body=body)


def _connections(client: Client, case: Asked) -> Iterator[ClientCase]:
    for method in client.methods:
        for way in client.connections:
            dealt = case(method=method, size=KILOBYTE, users=4, requests=3, warmup=1, connections=CONNECTIONS[way])
            yield ClientCase(f"{method} 1 kB, 4 users, connections {way}", dealt)
    if "number" in client.connections and client.cold:
        idle = case(size=KILOBYTE, requests=2, connections=3)
        yield ClientCase("1 kB, fewer users than connections", idle)


def _crowd(users: int) -> str:
    return f"1 kB, {users} users at once"


def _sizes(client: Client, case: Asked, clocks: Sequence[str]) -> Iterator[ClientCase]:
    for method in client.methods:
        for size, name in ((BYTE, "1 B"), (MEGABYTE, "1 MB")):
            yield ClientCase(f"{method} {name}", case(method=method, size=size, requests=2, cold=False))
    if "virtual" in clocks:
        yield ClientCase(f"{client.methods[0]} 1 MB", case(size=MEGABYTE, requests=2, clock="virtual"))


def _reception(client: Client, case: Asked) -> Iterator[ClientCase]:
    """Yield cases that reveal a client's receive limits: many simultaneous responses (if users can share a connection),
    and a body larger than most windows."""
    shared = partial(case, method="GET", cold=False, requests=1, connections=CONNECTIONS[client.connections[0]])
    if "shared" in client.connections:
        crowd = min(CROWD, client.at_once.get(QUIC, CROWD))
        endless = shared(size=MEGABYTE, users=crowd, timeout="10s")
        yield ClientCase(STREAMS, endless, CROWDED, expected="anything", receives=True)
    large = shared(size=LARGE, users=1, timeout="50s")
    yield ClientCase(WINDOWS, large, REMOTE, expected="anything", receives=True)


def _sessions(client: Client, case: Asked, protocol: str) -> Iterator[ClientCase]:
    """Yield cases in which connections resume sessions. If a short response follows early data (HASTE), the connection
    may end before the client has obtained a session for the next connection."""
    way = CONNECTIONS["number" if "number" in client.connections else client.connections[0]]
    for sessions, over in client.sessions.items():
        if protocol in over:
            resuming = partial(case, method="GET", requests=1, sessions=sessions)
            yield ClientCase(OPENINGS[sessions].check, resuming(size=MEGABYTE, connections=way), FAR)
            if sessions == "early" and "number" in client.connections:
                yield ClientCase(HASTE, resuming(size=KILOBYTE, connections=4), REMOTE)


def _fallbacks(client: Client, case: Asked) -> Iterator[ClientCase]:
    """Yield cases in which a client must fall back to HTTP/2 if UDP does not get through, and only then."""
    small = case(method=client.methods[0], size=KILOBYTE, users=2, requests=3, fallback=True)
    yield ClientCase("HTTP/3 where HTTP/2 is there too", small)
    for policy, network in NO_UDP.items():
        yield ClientCase(f"a fallback where networks {policy} UDP", small, network, falls_back=True)


def _findings(client: Client, case: Asked) -> Iterator[ClientCase]:
    """Yield cases in which the server announces HTTP/3. A first visit cannot know the announcement. A repeat visit must
    use HTTP/3, on a link where the saved round trip shows. If the DNS announces HTTP/3, a first visit must use it
    too."""
    visit_parameters = partial(case, **_visits(client), fallback=True, requests=2)
    yield ClientCase(FIRST_VISIT, visit_parameters(), REMOTE, document="h2")
    yield ClientCase(REPEAT_VISIT, visit_parameters(visit="repeat"), REMOTE, document=QUIC)
    yield ClientCase(INFORMED_VISIT, visit_parameters(announced=HTTPS_RECORD), REMOTE, document=QUIC)


def _visits(client: Client) -> dict[str, Any]:
    return {"kind": PAGE, "cold": True, **KINDS[PAGE].example(client.methods, client.documents)}


def _kinds(client: Client, case: Asked) -> Iterator[ClientCase]:
    """Yield cases with other kinds of workloads, and with headers that change, so that header compression cannot save
    their bytes."""
    if PAGE in client.kinds:
        visits = partial(case, **_visits(client) | {"cold": client.cold, "users": 2, "requests": 2, "warmup": 1})
        yield ClientCase(PAUSED, visits(pause="300ms"))
        if not client.documents:
            yield ClientCase(HOSTS, visits(site=THREE_HOSTS))
    for kind in client.kinds:
        if kind != DEFAULT:
            other = case(
                kind=kind, users=2, requests=6, warmup=1, **KINDS[kind].example(client.methods, client.documents)
            )
            yield ClientCase(f"a workload of kind {kind}", other)
    if client.headers and "GET" in client.methods:
        fresh_header = [{"name": "x-h123", "bytes": FRESH_BYTES, "changes": "request"}]
        parameters = case(method="GET", size=MEGABYTE, requests=3, headers=fresh_header)
        yield ClientCase("headers of 4 kB in each request", parameters, FAR)


def _open_loop(client: Client, case: Asked, protocol: str) -> ClientCase:
    # Over HTTP/1.1, every request in flight needs a connection, or some would have to wait for one.
    users = 20 if protocol == "h1" else 4
    way = users if client.connections[0] == "number" else CONNECTIONS[client.connections[0]]
    opened = case(size=KILOBYTE, users=users, requests=40 // users, rate=50.0, connections=way)
    return ClientCase("open loop, 50 requests a second", opened, DISTANT)


def _abandoned_requests(case: Asked, protocol: str) -> ClientCase:
    """Return a case in which most requests are abandoned and the others continue. Over HTTP/1.1, requests run one after
    another, so that nothing delays the handshake of a connection that replaces a closed one."""
    users, leaving = 1 if protocol == "h1" else 3, {"share": 0.67, "after": f"{PATIENCE_NS}ns"}
    parameters = case(method="GET", size=UNHURRIED, users=users, requests=18 // users, warmup=1, abandon=leaving)
    return ClientCase("requests that are abandoned", parameters, LEFT)


def _made_again(case: Asked, protocol: str) -> ClientCase:
    """Return a case in which every second response is large and arrives only at the last try. Over HTTP/1.1, requests
    run one after another, so that nothing delays the handshakes of new connections."""
    users = 1 if protocol == "h1" else 3
    mix = [{"method": "GET", "size": size} for size in (KILOBYTE, UNHURRIED)]
    again = case(kind="mix", mix=mix, users=users, requests=9 // users, warmup=1, retry=INSISTENCE)
    return ClientCase("requests that are made again", again, LEFT)


def _failures(case: Asked) -> Iterator[ClientCase]:
    small = partial(case, size=KILOBYTE, cold=False)
    absent = small(users=2, requests=2)
    yield ClientCase("a path that is not there", absent, expected="not found", path="/nothing-here")
    # A closed UDP port may not refuse the client. Then the request has to time out.
    unheard = small(users=2, requests=2, timeout="2s")
    yield ClientCase("a server that is not there", unheard, expected="refused", port=CLOSED_PORT)
    yield ClientCase("a link that is dead", small(requests=1, timeout="1s"), DEAD, expected="timeout")
    endless = case(size=MEGABYTE, requests=1, cold=False, timeout="2s")
    yield ClientCase("a body that does not end in time", endless, SLOW, expected="timeout")


def _refusals(subject: Subject, client: Client) -> Iterator[ClientCase]:
    """Yield a case for everything that the client does not declare and must refuse: each missing protocol, and each
    other missing feature over each declared protocol."""
    for protocol in PROTOCOLS:
        if protocol in client.protocols:
            yield from _refusals_over(protocol, subject, client)
        else:
            yield _refused(protocol, subject, client, protocol=protocol)


def _refusals_over(protocol: str, subject: Subject, client: Client) -> Iterator[ClientCase]:
    def refused(name: str, **values: Any) -> ClientCase:
        return _refused(name, subject, client, **{"protocol": protocol, "cold": False, **values})

    for method in METHODS:
        if method not in client.methods:
            yield refused(method, method=method)
    for way, value in CONNECTIONS.items():
        if way not in _offered_ways(protocol, client):
            yield refused(f"connections {way}", users=4, connections=value)
    for kind in KINDS:
        if kind not in client.kinds:
            yield refused(
                f"workloads of kind {kind}", kind=kind, **KINDS[kind].example(client.methods, client.documents)
            )
    if PAGE in client.kinds and client.documents:
        yield refused(HOSTS, **_visits(client) | {"site": THREE_HOSTS})
    if PAGE in client.kinds and not client.remembers:
        yield refused("repeat visits", **_visits(client), visit="repeat")
        if protocol == QUIC:
            yield refused("finding HTTP/3", **_visits(client), fallback=True)
    if not client.headers:
        yield refused("headers of its own", headers=[{"name": "x-h123", "value": "1"}])
    if not client.open_loop:
        yield refused("an open loop", rate=50.0)
    if not client.cold:
        yield refused("cold requests", cold=True)
    if most := client.at_once.get(protocol):
        yield refused(_crowd(most + 1), users=most + 1)
    for sessions, row in OPENINGS.items():
        if protocol not in client.sessions.get(sessions, []) and protocol in row.tried_over:
            yield refused(row.check, sessions=sessions, method="GET", cold=client.cold)
    if OLDER_TLS not in subject.features.tls and protocol != QUIC:
        yield refused(f"TLS {OLDER_TLS}", tls=OLDER_TLS)


def _offered_ways(protocol: str, client: Client) -> set[str]:
    """Return the ways to spread users over connections that must not be refused. Over HTTP/1.1, users have their own
    connections in both the shared and the per-user way, so a client that supports one of these supports both."""
    alike = {"shared", "per-user"}
    offered = set[str](client.connections)
    return offered | alike if protocol == "h1" and offered & alike else offered


def _refused(name: str, subject: Subject, client: Client, **values: Any) -> ClientCase:
    return ClientCase(f"refuses {name}", client_parameters(subject, client, **values), expected="unsupported")


def client_parameters(subject: Subject, client: Client, **values: Any) -> Parameters:
    """Return parameters for a workload of one user that the client supports, changed by `values`."""
    usual: dict[str, Any] = {
        "server": client.verified_with,
        "client": subject.name,
        "network": PLAIN.name,
        "congestion": DEFAULT_CONGESTION,
        "method": client.methods[0],
        "cold": client.cold,
        "connections": CONNECTIONS[client.connections[0]],
        "trial_timeout": "180s",  # on a busy machine, a browser takes minutes instead of seconds
    }
    return Parameters.model_validate({**usual, **values})
