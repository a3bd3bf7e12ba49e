"""Samples of a client as they should be, and what the checks of clients say of them."""

from collections.abc import Callable
from typing import Any

from h123.catalogue import Client, Subject
from h123.store import Sample
from h123.verification.client_cases import ClientCase, assignments
from h123.verification.clients.client_checks import faults_of
from h123.verification.clients.witness import Witness

WINDOW = (0, 10**12)
MS = 10**6
FACTS = {
    "h123": "client/1",
    "tls": [{"version": "1.3", "cipher": "x", "key_exchange": "y", "alpn": "h2", "connections": 4}],
    "congestion": "cubic",
    "notes": [],
}
Edit = Callable[[list[Sample]], Any]


def assigned(go: Subject, name: str, protocol: str = "h2") -> ClientCase:
    return next(a for a in assignments(go) if a.name == name and a.parameters.protocol == protocol)


def sample(phase: str, user: int, connection: int, start: int, size: int = 1000, **changes: Any) -> Sample:
    usual = {
        "phase": phase,
        "user": user,
        "start_ns": start,
        "connected_ns": start + 300 * MS if phase == "cold" else None,
        "sent_ns": start + 300 * MS,
        "first_byte_ns": start + 450 * MS,
        "end_ns": start + 1300 * MS,
        "status": 200,
        "bytes_up": 0,
        "bytes_down": size,
        "protocol": "h2",
        "connection": connection,
        "reused": 0 if phase == "cold" else 1,
        "group": None,
        "resource": None,
        "error": "",
    }
    return {**usual, **changes}


def dealt_rows(connections: int) -> list[Sample]:
    """4 users, 1 + 3 requests each, over so many connections, after a cold request on each."""
    rows = [sample("cold", c % 4, c, 10**9 * c) for c in range(connections)]
    for user in range(4):
        for number in range(4):
            phase = "warmup" if number == 0 else "warm"
            rows.append(sample(phase, user, user % connections, 10**10 + 2 * 10**9 * number))
    return rows


def faults_in(
    go: Subject,
    asked: ClientCase,
    rows: list[Sample],
    facts: Any = FACTS,
    client: Client | None = None,
    seen: Witness | None = None,
) -> str:
    client = client or go.client
    assert client
    return "; ".join(faults_of(asked, client, rows, facts, seen or Witness(WINDOW, asked.connections())))
