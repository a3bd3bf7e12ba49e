"""Reports the delay between the lab and servers on other machines, measured before each trial."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.documents import GatewayFacts, read_gateway


class RemoteServerRow(TypedDict):
    """A server that was reached through a gateway."""

    server: str
    address: str
    trials: int
    """The number of trials behind the medians."""
    tcp_ns: int
    """The delay that the gateway adds to a round trip over TCP, in ns."""
    udp_ns: int
    """The delay that the gateway adds to a round trip over UDP, in ns."""
    beyond_ns: int | None
    """The time that this machine needs to open a TCP connection to the server, in ns. Null if the server accepts no TCP
    connections."""


def remote_servers(case: Case) -> list[RemoteServerRow]:
    """Return the `elsewhere` part of verdicts.json: a row for each server that was reached through a gateway, with
    medians over its trials."""
    by_server: dict[str, list[GatewayFacts]] = defaultdict(list)
    for attempt in case.attempts:
        if facts := read_gateway(case.evidence.of(attempt)):
            by_server[attempt.parameters["server"]].append(facts)
    return [_row(server, facts) for server, facts in by_server.items()]


def _row(server: str, facts: Sequence[GatewayFacts]) -> RemoteServerRow:
    beyond = [fact.beyond_ns for fact in facts if fact.beyond_ns is not None]
    return {
        "server": server,
        "address": facts[0].to,
        "trials": len(facts),
        "tcp_ns": round(median(fact.tcp.ns for fact in facts)),
        "udp_ns": round(median(fact.udp.ns for fact in facts)),
        "beyond_ns": round(median(beyond)) if beyond else None,
    }


class RemoteServersPart(TypedDict):
    elsewhere: NotRequired[Sequence[RemoteServerRow]]


def _compute(case: Case) -> RemoteServersPart:
    return {"elsewhere": [] if case.facts.imported else remote_servers(case)}


SECTION = Section(RemoteServersPart, _compute)
