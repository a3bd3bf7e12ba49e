"""What the way beyond the lab adds, of servers that run elsewhere: measured before each trial."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from h123.analysis.document import ElsewhereRow
from h123.documents import GatewayFacts, read_gateway
from h123.measures import Attempt
from h123.store import CampaignFolder


def elsewhere(folder: CampaignFolder, attempts: Sequence[Attempt]) -> list[ElsewhereRow]:
    """The `elsewhere` of verdicts.json: medians over the trials of each such server."""
    known: dict[str, list[GatewayFacts]] = defaultdict(list)
    for attempt in attempts:
        if facts := read_gateway(folder.trials / attempt.name):
            known[attempt.parameters["server"]].append(facts)
    return [_row(server, facts) for server, facts in known.items()]


def _row(server: str, facts: Sequence[GatewayFacts]) -> ElsewhereRow:
    beyond = [one.beyond_ns for one in facts if one.beyond_ns is not None]
    return {
        "server": server,
        "address": facts[0].to,
        "trials": len(facts),
        "tcp_ns": round(median(one.tcp.ns for one in facts)),
        "udp_ns": round(median(one.udp.ns for one in facts)),
        "beyond_ns": round(median(beyond)) if beyond else None,
    }
