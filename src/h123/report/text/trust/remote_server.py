"""What is said of servers that ran elsewhere, beyond the lab's link."""

from collections.abc import Sequence

from h123.analysis.provenance.remote_server import ElsewherePart, ElsewhereRow
from h123.base.units import format_value


def elsewhere_lines(verdicts: ElsewherePart) -> list[str]:
    """Sentences for the summary."""
    rows: Sequence[ElsewhereRow] = verdicts.get("elsewhere", [])
    return [sentence for row in rows for sentence in (_way(row), _not_known(row))]


def _way(row: ElsewhereRow) -> str:
    added = f"{_time(row['tcp_ns'])} to a round trip over TCP and {_time(row['udp_ns'])} over UDP"
    beyond = f"; from here a connection to it takes {_time(row['beyond_ns'])}" if row["beyond_ns"] is not None else ""
    return (
        f"{row['server']} ran elsewhere, at {row['address']}, behind a gateway, which adds {added}{beyond} (medians of "
        f"{row['trials']} trials, measured before each)"
    )


def _not_known(row: ElsewhereRow) -> str:
    return (
        "TCP ends at the gateway: over HTTP/1.1 and HTTP/2 the link saw this machine's TCP, over HTTP/3 the QUIC of "
        f"{row['server']} itself. It ran on from trial to trial, and its processor time is not known"
    )


def _time(ns: int) -> str:
    return format_value(max(0, ns) / 1e9, "s")
