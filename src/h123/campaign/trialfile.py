"""What one planned trial becomes for the lab and for the client: trial.json and workload.json (docs/contracts.md)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from h123.campaign.certificate import HOST_NAME, Certificate
from h123.catalogue import Subject, client_command, server_command
from h123.study import Network, Parameters, PlannedTrial

CLIENT_ADDRESS, SERVER_ADDRESS = "10.1.0.1", "10.1.0.2"
PORT = 4443
READY_TIMEOUT_NS = 10_000_000_000
STOP_TIMEOUT_NS = 3_000_000_000


def write_trial_files(
    folder: Path,
    trial: PlannedTrial,
    network: Network,
    subjects: Mapping[str, Subject],
    certificate: Certificate,
    *,
    check: bool,
) -> None:
    """Write trial.json and workload.json into `folder`, the trial's working directory."""
    workload = _workload(trial, certificate)
    _write(folder / "workload.json", workload)
    _write(folder / "trial.json", _trial(trial, network, subjects, certificate, check=check))


def _trial(
    trial: PlannedTrial, network: Network, subjects: Mapping[str, Subject], certificate: Certificate, *, check: bool
) -> dict[str, Any]:
    p = trial.parameters
    link = {
        "name": "access",
        "a": {"host": "client", "address": CLIENT_ADDRESS},
        "b": {"host": "server", "address": SERVER_ADDRESS},
        **network.link(),
    }
    return {
        "h123": "trial/1",
        "id": trial.id,
        "seed": trial.link_seed,
        "hosts": ["client", "server"],
        "links": [link],
        "congestion": p.congestion,
        "check": check and link["kind"] == "emulated",
        "roles": [_server(p, subjects[p.server], certificate), _client(p, subjects[p.client])],
    }


def _server(p: Parameters, subject: Subject, certificate: Certificate) -> dict[str, Any]:
    command = server_command(
        subject,
        address=SERVER_ADDRESS,
        port=PORT,
        protocol=p.protocol,
        cert=certificate.cert,
        key=certificate.key,
        congestion=p.congestion,
    )
    assert subject.server is not None  # check_supported has seen to it
    listens = subject.server.listens[p.protocol]
    return {
        "name": "server",
        "host": "server",
        "kind": "service",
        "command": command,
        "env": {},
        "ready": {
            "tcp": [PORT] if "tcp" in listens else [],
            "udp": [PORT] if "udp" in listens else [],
            "line": None,
            "timeout_ns": READY_TIMEOUT_NS,
        },
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
        "port": PORT,
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
