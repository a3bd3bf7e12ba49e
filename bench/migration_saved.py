"""Prints the tables of docs/results/migration.md from campaigns of the studies `migration` and `migration-servers`.

    PYTHONPATH=src .venv/bin/python bench/migration_saved.py CAMPAIGN [SERVERS]

Two times come from the link's packets: from the first packet that the server received from the client's new address to
the first that it sent there, and from the move to the first full packet that the client received there. The exit status
is 1 if a QUIC connection that survived the move took longer than `HEARD` or `FLOWS`, in round trips after the move.
"""

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.terminal.markdown import table
from h123.base.units import format_seconds
from h123.documents.trial_files import Link
from h123.measures import Attempt, load_attempts
from h123.packets.capture import TCP, UDP, read_packets
from h123.store import CampaignFolder
from h123.verification.migration import after_move

HEARD = 1.0
"""The maximum in round trips, from the first packet from the new address to the first packet sent there."""
FLOWS = 5.0
"""The maximum in round trips, from the move to the first full packet at the new address: about three until the client's
probe timeout (RFC 9002, section 6.2), one for the path there and back, and one in queues."""


@dataclass(frozen=True)
class Seen:
    """One trial with the times after its move, in seconds."""

    attempt: Attempt
    round_trip: float
    heard: float | None
    flows: float | None

    @property
    def went_on(self) -> bool:
        """Whether no request failed and the first connection was the only one."""
        return not self.attempt.summary.errors and self.attempt.summary.handshakes == self.attempt.summary.cold

    def bounded(self) -> bool:
        """Return whether both times are within the bounds."""
        times = ((self.heard, HEARD), (self.flows, FLOWS))
        return all(time is not None and time <= most * self.round_trip for time, most in times)


def main(campaign: Path, servers: Path | None = None) -> int:
    """Print the tables, and return exit status 1 if a connection took longer than the bounds."""
    found = [one for path in (campaign, servers) if path for one in _seen(CampaignFolder.open(path))]
    mine, others = ([one for one in found if ("server" in one.attempt.cell) is there] for there in (False, True))
    print("\n".join([*table(list(_protocols(mine))), "", *table(list(_servers(others)))]))
    late = [
        one for one in found if one.attempt.cell.get("protocol", "h3") == "h3" and one.went_on and not one.bounded()
    ]
    for one in late:
        print(f"beyond the bounds: {one.attempt.name}: heard {one.heard}, flows {one.flows}", file=sys.stderr)
    return 1 if late else 0


def _seen(folder: CampaignFolder) -> Iterator[Seen]:
    for attempt in load_attempts(folder):
        protocol = UDP if attempt.parameters["protocol"] == "h3" else TCP
        at_ns = attempt.report.main_began_ns + attempt.link.moves[0].at_ns
        heard, flows = after_move(read_packets(folder.path / "trials" / attempt.name), at_ns, protocol)
        yield Seen(attempt, _round_trip(attempt.link), heard, flows)


def _round_trip(link: Link) -> float:
    """Return the round trip after the move without queueing, in seconds."""
    ways = [way for way in (link.up, link.down) if way]
    return (
        sum([way.delay_ns, *(each.delay_ns for each in way.changes or [] if each.delay_ns)][-1] for way in ways) / 1e9
    )


def _protocols(found: Sequence[Seen]) -> Iterator[dict[str, str]]:
    """Yield a row for each network and protocol."""
    for (network, protocol), group in _grouped(found, "network", "protocol"):
        recovered = [one.attempt.metrics["recovery"] for one in group]
        requests = sum(one.attempt.summary.rows for one in group)
        yield {
            "network": network,
            "protocol": protocol,
            "trials with surviving connections": f"{sum(one.went_on for one in group)} of {len(group)}",
            "requests failed": f"{sum(one.attempt.summary.errors for one in group)} of {requests}",
            "new connections": f"{sum(_anew(one.attempt) for one in group)}",
            "bytes flow again after": _times([one.flows for one in group]),
            "next complete response after": _times(recovered),
        }


def _servers(found: Sequence[Seen]) -> Iterator[dict[str, str]]:
    """Yield a row for each server, with a column for each client."""
    clients = list(dict.fromkeys(one.attempt.cell["client"] for one in found))
    for (server,), group in _grouped(found, "server"):
        cells = {client: [one for one in group if one.attempt.cell["client"] == client] for client in clients}
        yield {"server": server, **{f"{client} client": _fate(cells[client]) for client in clients}}


def _fate(group: Sequence[Seen]) -> str:
    if all(one.went_on for one in group):
        return _times([one.flows for one in group])
    silent = all(one.heard is None for one in group)
    return "no, silent" if silent else "no"


def _grouped(found: Sequence[Seen], *factors: str) -> Iterator[tuple[tuple[str, ...], list[Seen]]]:
    groups: dict[tuple[str, ...], list[Seen]] = defaultdict(list)
    for one in found:
        groups[tuple(one.attempt.cell[factor] for factor in factors)].append(one)
    yield from sorted(groups.items())


def _anew(attempt: Attempt) -> int:
    return (attempt.summary.handshakes or 0) - attempt.summary.cold


def _times(seconds: Sequence[float | None]) -> str:
    """Format the median and the range."""
    told = sorted(one for one in seconds if one is not None)
    if not told:
        return "–"
    middle, low, high = map(format_seconds, (statistics.median(told), told[0], told[-1]))
    return middle if low == high else f"{middle} ({low} to {high})"


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
