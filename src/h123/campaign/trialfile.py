"""What one planned trial becomes for the lab and for the client: trial.json and workload.json (docs/contracts.md)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from h123.campaign.certificate import HOST_NAME, Certificate
from h123.catalogue import Subject, backend_command, client_command, server_command
from h123.study import Network, Parameters, PlannedTrial

CLIENT_ADDRESS, SERVER_ADDRESS = "10.1.0.1", "10.1.0.2"
STORING_ADDRESS, BACKEND_ADDRESS = "10.1.0.5", "10.1.0.6"
"""Both ends of the link between the server and its backend."""
BACKEND_PORT = 4443
READY_TIMEOUT_NS = 10_000_000_000
SEEDING_TIMEOUT_NS = 300_000_000_000
"""For a server that first puts an object into its backend, perhaps over a slow link."""
STOP_TIMEOUT_NS = 3_000_000_000


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
    workload = _workload(trial, certificate)
    _write(folder / "workload.json", workload)
    _write(folder / "trial.json", _trial(trial, networks, subjects, certificate, check=check))


def _trial(
    trial: PlannedTrial,
    networks: Mapping[str, Network],
    subjects: Mapping[str, Subject],
    certificate: Certificate,
    *,
    check: bool,
) -> dict[str, Any]:
    p = trial.parameters
    links = _links(p, networks)
    roles = [_server(p, subjects[p.server], certificate), _client(p, subjects[p.client])]
    if _stored(p):
        roles.insert(0, _backend(subjects[p.backend]))
    return {
        "h123": "trial/1",
        "id": trial.id,
        "seed": trial.link_seed,
        **_clock(p, certificate),
        "hosts": ["client", "server", *(["backend"] if _stored(p) else [])],
        "links": links,
        "congestion": p.congestion,
        "check": check and any(link["kind"] == "emulated" for link in links),
        "roles": roles,
    }


def _clock(p: Parameters, certificate: Certificate) -> dict[str, Any]:
    """Virtual trials of a campaign all begin at the same time of day, one at which the certificate holds."""
    start = {"start_unix_ns": certificate.made_unix_ns()} if p.clock == "virtual" else {}
    return {"clock": p.clock, **start}


def _stored(p: Parameters) -> bool:
    return p.store != "memory"


def _links(p: Parameters, networks: Mapping[str, Network]) -> list[dict[str, Any]]:
    """The access link, which audits take as the first one, and the one behind the server."""
    access = {
        "name": "access",
        "a": {"host": "client", "address": CLIENT_ADDRESS},
        "b": {"host": "server", "address": SERVER_ADDRESS},
        **networks[p.network].link(),
    }
    if not _stored(p):
        return [access]
    storage = {
        "name": "storage",
        "a": {"host": "server", "address": STORING_ADDRESS},
        "b": {"host": "backend", "address": BACKEND_ADDRESS},
        **(networks[p.backend_network].link() if p.backend_network else {"kind": "veth"}),
    }
    return [access, storage]


def _backend(subject: Subject) -> dict[str, Any]:
    command = backend_command(subject, address=BACKEND_ADDRESS, port=BACKEND_PORT)
    return _service("backend", command, tcp=[BACKEND_PORT], timeout_ns=READY_TIMEOUT_NS)


def _server(p: Parameters, subject: Subject, certificate: Certificate) -> dict[str, Any]:
    # What GET asks for must be in the backend before the server is ready.
    seeding = _stored(p) and p.method == "GET"
    command = server_command(
        subject,
        address=SERVER_ADDRESS,
        port=p.port,
        protocol=p.protocol,
        cert=certificate.cert,
        key=certificate.key,
        congestion=p.congestion,
        store=p.store,
        backend=f"{BACKEND_ADDRESS}:{BACKEND_PORT}" if _stored(p) else "",
        seed_bytes=p.size if seeding else 0,
    )
    assert subject.server is not None  # check_supported has seen to it
    listens = subject.server.listens[p.protocol]
    return _service(
        "server",
        command,
        tcp=[p.port] if "tcp" in listens else [],
        udp=[p.port] if "udp" in listens else [],
        timeout_ns=SEEDING_TIMEOUT_NS if seeding else READY_TIMEOUT_NS,
    )


def _service(
    host: str, command: list[str], *, timeout_ns: int, tcp: Sequence[int] = (), udp: Sequence[int] = ()
) -> dict[str, Any]:
    """A role that runs throughout the trial, named after its host."""
    return {
        "name": host,
        "host": host,
        "kind": "service",
        "command": command,
        "env": {},
        "ready": {"tcp": list(tcp), "udp": list(udp), "line": None, "timeout_ns": timeout_ns},
        "stop_timeout_ns": STOP_TIMEOUT_NS,
    }


def _client(p: Parameters, subject: Subject) -> dict[str, Any]:
    command = client_command(
        subject, workload="workload.json", samples="samples.csv", facts="client.json", congestion=p.congestion
    )
    return {
        "name": "client",
        "host": "client",
        "kind": "main",
        "command": command,
        "env": {},
        "timeout_ns": p.trial_timeout,
    }


def _workload(trial: PlannedTrial, certificate: Certificate) -> dict[str, Any]:
    p = trial.parameters
    get = p.method == "GET"
    return {
        "h123": "workload/1",
        "protocol": p.protocol,
        "host": HOST_NAME,
        "address": SERVER_ADDRESS,
        "port": p.port,
        "ca": str(certificate.ca),
        "method": p.method,
        "path": f"/bytes/{p.size}" if get else "/upload",
        "upload_bytes": 0 if get else p.size,
        "users": p.users,
        "requests": p.requests,
        "rate": p.rate,
        "connections": p.connections,
        "cold": p.cold,
        "warmup": p.warmup,
        "timeout_ns": p.timeout,
        "seed": trial.link_seed,
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
