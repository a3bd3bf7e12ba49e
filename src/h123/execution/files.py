"""Writes the files of one planned trial: trial.json for the lab and workload.json for the client (docs/contracts/)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from h123 import catalogue
from h123.base.processes import usable_processors
from h123.base.roots import mounted
from h123.catalogue import (
    ALT_SVC,
    CHOOSERS,
    HTTPS_RECORD,
    QUIC,
    OwnServer,
    OwnSubject,
    Subject,
    command_line,
    controller,
    is_edge,
    kernel_controller,
    server_uses,
    settings,
)
from h123.documents import gateway_file, write_document
from h123.documents.trial_files import SECOND_SERVER, Link, Readiness, Role, Tcp, TrialFile
from h123.execution.certificate import HOST_NAME, Certificate, campaign_certificate
from h123.execution.cpu_affinity import seats
from h123.packets.capture import MOST_IN_CAMPAIGN
from h123.packets.frames import KEYS
from h123.packets.qlog import QLOG_FOLDER
from h123.study import Network, Parameters, PlannedTrial, access_link, replayed
from h123.study.sites.documents import FOLDER as DOCUMENTS
from h123.study.workload import Target

CLIENT_ADDRESS, SERVER_ADDRESS = "10.1.0.1", "10.1.0.2"
CLIENT_IPV6, SERVER_IPV6 = "2001:db8:1::1", "2001:db8:1::2"
"""The additional addresses of the ends of the access link, in trials over IPv6. They are global, because programs
prefer IPv4 to unique local addresses (RFC 6724)."""
STORING_ADDRESS, BACKEND_ADDRESS = "10.1.0.5", "10.1.0.6"
"""The addresses of both ends of the link between the server and its backend."""
BACKEND_PORT = 4443
ORIGIN = "go"
"""The subject that serves the responses if the server under test only forwards requests."""
LOOPBACK = "127.0.0.1"
"""The address of an origin on the server's host, and of the resolver on the client's host."""
DNS_PORT = 53
READY_TIMEOUT_NS = 30_000_000_000
"""The time limit in ns for a role to become ready. On busy processors, a server that compiles code at start takes more
than ten seconds."""
SEEDING_TIMEOUT_NS = 300_000_000_000
"""The time limit in ns for a server that first stores an object in its backend, perhaps over a slow link."""
STOP_TIMEOUT_NS = 3_000_000_000
_LISTENS = "gateway: ready"
_HTTP_3 = 'h3=":{port}"; ma=86400'
"""The header with which the server over TCP announces HTTP/3 at the same address for a day (RFC 7838)."""


def trial_roles(p: Parameters, subjects: Mapping[str, Subject]) -> dict[catalogue.Role, str]:
    """Return the subject in each role of a trial, including the roles of programs behind the server."""
    roles: list[tuple[catalogue.Role, str]] = [*p.roles().items()]
    if server_uses(subjects[p.server], "upstream"):
        roles.append(("origin", ORIGIN))
    return dict(roles)


def trial_certificate(tls: Path, p: Parameters, seed: int = 0) -> Certificate:
    """Return the server's certificate for trials with these parameters. It is created on first use, from the campaign's
    `seed`, in the campaign's folder `tls`."""
    return campaign_certificate(tls, [SERVER_ADDRESS], p.certificate, apart=bool(p.workload.hosts()), seed=seed)


def write_trial_files(
    folder: Path,
    trial: PlannedTrial,
    networks: Mapping[str, Network],
    subjects: Mapping[str, Subject],
    certificate: Certificate,
    *,
    check: bool,
) -> None:
    """Write trial.json and workload.json into `folder`, the trial's working directory."""
    if trial.parameters.qlog:
        (folder / QLOG_FOLDER).mkdir()
    p = trial.parameters
    ca = certificate.mounted(certificate.ca)
    target = Target(HOST_NAME, _known_address(p), p.port, ca, trial.link_seed, tls=p.tls, key_share=p.key_share)
    if isinstance(server := subjects[p.server], OwnSubject):
        own = server.own
        port = own.port_of(p.protocol, p.port)
        target = replace(target, host=own.sni or own.host, authority=own.authority(p.port), port=port)
    write_document(folder / "workload.json", p.workload.file(target))
    write_document(folder / "trial.json", _trial(trial, networks, subjects, certificate, check=check))


def _trial(
    trial: PlannedTrial,
    networks: Mapping[str, Network],
    subjects: Mapping[str, Subject],
    certificate: Certificate,
    *,
    check: bool,
) -> TrialFile:
    p = trial.parameters
    server = subjects[p.server]
    behind = _behind(p, server)
    links = _recorded(_links(trial, networks, behind), capture=p.capture)
    if isinstance(server, OwnSubject):
        started = own_role(server.own, p.port, p.protocol)
    else:
        started = _server(p, server, certificate)
    roles = [started, _client(p, subjects[p.client])]
    if _looks_up(p):
        roles.insert(0, _resolver(p))
    if (other := p.workload.fallback) and not isinstance(server, OwnSubject):
        second = _server(
            p.model_copy(update={"protocol": other}),
            server,
            certificate,
            announced=_HTTP_3.format(port=p.port) if p.workload.announcement == ALT_SVC else "",
        )
        roles.insert(0, second.model_copy(update={"name": SECOND_SERVER}))
    if "origin" in trial_roles(p, subjects):
        roles.insert(0, _origin(p, subjects[ORIGIN], server))
    if _stored(p):
        roles.insert(0, _backend(subjects[p.backend]))
    for role in roles:
        if cpus := seats(p, role.host, usable_processors()):
            role.processors = cpus
    file = TrialFile(
        h123="trial/1",
        id=trial.id,
        seed=trial.link_seed,
        random=trial.random,
        clock=p.clock,
        hosts=["client", "server", *(["backend"] if behind else [])],
        links=links,
        congestion=kernel_controller(p.congestion),
        tcp_account=True,
        check=check and any(link.kind == "emulated" for link in links),
        roles=roles,
    )
    if p.clock == "virtual":
        # All trials of a campaign begin at the same time of day, when the certificate is valid.
        file.start_unix_ns = certificate.holds_unix_ns()
    if options := _tcp(p):
        file.tcp = Tcp.model_validate(options)
    return file


def _tcp(p: Parameters) -> dict[str, object]:
    options = {
        "initial_window": p.setting("initial_window"),
        "min_rto_ns": p.min_rto,
        "max_payload": p.setting("max_datagram"),
        "keep_idle_window": p.transport == "matched" or None,
        "ecn": p.tcp_ecn or None,
        "quick_ack": p.quick_ack or None,
        **p.workload.opening.tcp,
    }
    return {name: value for name, value in options.items() if value is not None}


def _stored(p: Parameters) -> bool:
    return p.store != "memory"


def _behind(p: Parameters, server: Subject) -> str | None:
    """Return the name of the link behind the server, or None if everything behind the server is on the server's
    host."""
    return "storage" if _stored(p) else "edge" if is_edge(server, p) else None


def _server_address(p: Parameters) -> str:
    return {"ipv4": SERVER_ADDRESS, "ipv6": SERVER_IPV6, "both": "::"}[p.address]


def _known_address(p: Parameters) -> str:
    """Return what the client knows of the server's address. If it knows two addresses, it prefers the first one."""
    if p.address != "both":
        return _server_address(p)
    return HOST_NAME if CHOOSERS[p.client] == "name" else f"{SERVER_IPV6},{SERVER_ADDRESS}"


def _looks_up(p: Parameters) -> bool:
    return p.workload.announcement == HTTPS_RECORD or _known_address(p) == HOST_NAME


def _links(trial: PlannedTrial, networks: Mapping[str, Network], behind: str | None) -> list[Link]:
    """Return the access link, which audits expect first, and the link behind the server, if there is one."""
    p = trial.parameters
    access = {
        "name": "access",
        "a": {"host": "client", "address": CLIENT_ADDRESS},
        "b": {"host": "server", "address": SERVER_ADDRESS},
        **access_link(_met(networks[p.network], trial), p, trial.lost_at).link(),
    }
    if p.address != "ipv4":
        access["a"]["address6"], access["b"]["address6"] = CLIENT_IPV6, SERVER_IPV6
    if behind is None:
        return [Link.model_validate(access)]
    second = {
        "name": behind,
        "a": {"host": "server", "address": STORING_ADDRESS},
        "b": {"host": "backend", "address": BACKEND_ADDRESS},
        **(_met(networks[p.backend_network], trial).link() if p.backend_network else {"kind": "veth"}),
    }
    return [Link.model_validate(link) for link in (access, second)]


def _met(network: Network, trial: PlannedTrial) -> Network:
    """Return the network with its cross traffic and its recordings starting at the moment of the trial's block."""
    return replayed(network.at_moment(trial.moment), trial.moment, trial.parameters.trial_timeout)


def _recorded(links: list[Link], *, capture: bool) -> list[Link]:
    """Switch on packet records for emulated links, and frame records for the first link. Return the links."""
    for link in links:
        if link.kind == "emulated":
            link.packets, link.capture = MOST_IN_CAMPAIGN, capture
            link.frames = link is links[0]
    return links


def _backend(subject: Subject) -> Role:
    command = command_line(subject, "backend", address=BACKEND_ADDRESS, port=BACKEND_PORT)
    return _service("backend", "backend", BACKEND_ADDRESS, command, tcp=[BACKEND_PORT])


def _origin_port(p: Parameters) -> int:
    """Return the origin's port. It differs from the server's, because the lab would otherwise confuse the two."""
    return 8080 if p.port != 8080 else 8081


def _origin_at(p: Parameters, server: Subject) -> tuple[str, str]:
    return ("backend", BACKEND_ADDRESS) if is_edge(server, p) else ("server", LOOPBACK)


def _origin(p: Parameters, subject: Subject, server: Subject) -> Role:
    port, (host, address) = _origin_port(p), _origin_at(p, server)
    command = command_line(subject, "origin", address=address, port=port, documents=mounted("bodies", DOCUMENTS))
    return _service("origin", host, address, command, tcp=[port])


def _server(p: Parameters, subject: Subject, certificate: Certificate, announced: str = "") -> Role:
    # An object to download must be in the backend before the server is ready.
    seeded = p.workload.served() if _stored(p) else []
    command = command_line(
        subject,
        "server",
        address=_server_address(p),
        port=p.port,
        protocol=p.protocol,
        tls=p.tls,
        key_share=p.key_share,
        certificate_wait="" if p.certificate_wait is None else p.certificate_wait,
        instant_ack="yes" if p.instant_ack else "no",
        cert=certificate.mounted(certificate.cert),
        key=certificate.mounted(certificate.key),
        congestion=controller(subject, p),
        **settings(p),
        store=p.store,
        backend=f"{BACKEND_ADDRESS}:{BACKEND_PORT}" if _stored(p) else "",
        seed_bytes=max(seeded, default=0),
        block=mounted("bodies", "block"),
        files="" if is_edge(subject, p) else mounted("bodies"),
        documents=mounted("bodies", DOCUMENTS),
        upstream=f"{_origin_at(p, subject)[1]}:{_origin_port(p)}",
        alt_svc=announced,
        qlog=QLOG_FOLDER if p.qlog and p.protocol in subject.features.qlog else "",
    )
    assert subject.server is not None  # check_supported has checked this
    listens = subject.server.listens[p.protocol]
    return _service(
        "server",
        "server",
        _server_address(p),
        command,
        tcp=[p.port] if "tcp" in listens else [],
        udp=[p.port] if "udp" in listens else [],
        timeout_ns=SEEDING_TIMEOUT_NS if seeded else READY_TIMEOUT_NS,
    )


def own_role(own: OwnServer, port: int, protocol: str | None = None) -> Role:
    """Return the role of a user's own server. The server offers all its protocols in every trial. If it runs outside
    the lab, return the role of a gateway to the port where the server speaks `protocol`."""
    if own.address is not None:
        return _gateway(own.address, own.port_of(protocol, port))
    role = _service(
        "server",
        "server",
        SERVER_ADDRESS,
        own.words,
        tcp=[port] if own.tcp else [],
        udp=[own.port_of(QUIC, port)] if own.udp else [],
        timeout_ns=own.starts_within,
    )
    assert role.ready is not None
    role.ready.accepts, role.ready.line = True, own.ready_line
    role.ready.besides = [own.ready_port] if own.ready_port else []
    # Files that the server creates there disappear with the lab, wherever the user's own temporary files are.
    role.inherits, role.env = True, {"TMPDIR": "/tmp", **own.environment}
    role.writes = own.writes
    return role


def _gateway(address: str, port: int) -> Role:
    """Return the role of the gateway, one of the lab's own programs. It forwards connections to the server's address
    and port."""
    to = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    words = ["--at", f"{SERVER_ADDRESS}:{port}", "--to", to, "--facts", gateway_file.NAME]
    role = _service("gateway", "server", SERVER_ADDRESS, ["/proc/self/exe", "gateway", *words])
    role.ready = Readiness(line=_LISTENS, timeout_ns=READY_TIMEOUT_NS)
    role.outside = True
    return role


def _resolver(p: Parameters) -> Role:
    """Return the resolver, a program of the lab on the client's host and the only resolver that the client uses."""
    record = ["--alpn", ",".join(p.workload.protocols())] if p.workload.announcement == HTTPS_RECORD else []
    ipv6 = ["--at6", SERVER_IPV6] if p.address == "both" else []
    words = ["resolver", "--name", HOST_NAME, "--at", f"{SERVER_ADDRESS}:{p.port}", *ipv6, *record]
    return _service("resolver", "client", LOOPBACK, ["/proc/self/exe", *words], udp=[DNS_PORT])


def _service(
    name: str,
    host: str,
    address: str,
    command: list[str],
    *,
    tcp: Sequence[int] = (),
    udp: Sequence[int] = (),
    timeout_ns: int = READY_TIMEOUT_NS,
) -> Role:
    """Return a role that runs throughout the trial."""
    return Role(
        name=name,
        host=host,
        kind="service",
        command=command,
        ready=Readiness(tcp=list(tcp), udp=list(udp), address=address, line=None, timeout_ns=timeout_ns),
        stop_timeout_ns=STOP_TIMEOUT_NS,
    )


def _client(p: Parameters, subject: Subject) -> Role:
    command = command_line(
        subject,
        "client",
        workload="workload.json",
        samples="samples.csv",
        facts="client.json",
        congestion=controller(subject, p),
        **settings(p),
    )
    return Role(
        name="client",
        host="client",
        kind="main",
        command=command,
        env={"SSLKEYLOGFILE": KEYS},
        resolver=_looks_up(p),
        timeout_ns=p.trial_timeout,
    )
