"""Describes where trials ran: the campaign's machines, and servers outside the lab."""

from collections.abc import Sequence

from h123.analysis.provenance.places import PlacesPart
from h123.analysis.provenance.remote_server import RemoteServerRow, RemoteServersPart
from h123.base.units import format_bytes, format_value
from h123.documents.campaign_file import PRIVILEGES, MachineFacts


def machine(facts: MachineFacts) -> str:
    cores = f"{facts.get('cpus_usable')} of {facts.get('cpus')} processors"
    virtual = ", virtual" if facts.get("virtual") else ""
    return f"{facts.get('cpu')}{virtual}; {cores}; {format_bytes(facts.get('memory_bytes') or 0)}"


def place_lines(verdicts: PlacesPart) -> list[str]:
    """Return facts that readers must know if trials ran without root, or on more than one machine."""
    had = [PRIVILEGES[name] for name in verdicts.get("privileges", []) if name != "root"]
    unprivileged = [f"trials ran {' and '.join(had)} (docs/without-root.md)"] if had else []
    if compared := verdicts.get("second_runs"):
        runs = "1 virtual trial ran" if compared == 1 else f"{compared} virtual trials ran"
        unprivileged.append(f"{runs} on a second machine too, and did the same to the byte")
    rows = verdicts.get("places", [])
    if not rows:
        return unprivileged
    blocks = "; ".join(f"{row['name']}: {_blocks(row['blocks'])}" for row in rows)
    return [*unprivileged, f"trials ran in {len(rows)} places, each block whole in one ({blocks})"]


def place_rows(verdicts: PlacesPart) -> list[tuple[str, str]]:
    """Return rows with the facts of each machine."""
    return [
        (f"place {row['name']}", f"{_blocks(row['blocks'])}; {machine(row['machine'])}")
        for row in verdicts.get("places", [])
    ]


def _blocks(numbers: Sequence[int]) -> str:
    return f"block{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def remote_server_lines(verdicts: RemoteServersPart) -> list[str]:
    """Return sentences for the summary about servers on other machines."""
    rows: Sequence[RemoteServerRow] = verdicts.get("elsewhere", [])
    return [sentence for row in rows for sentence in (_way(row), _gateway_limits(row))]


def _way(row: RemoteServerRow) -> str:
    added = f"{_time(row['tcp_ns'])} to a round trip over TCP and {_time(row['udp_ns'])} over UDP"
    beyond = f"; from here a connection to it takes {_time(row['beyond_ns'])}" if row["beyond_ns"] is not None else ""
    return (
        f"{row['server']} ran elsewhere, at {row['address']}, behind a gateway, which adds {added}{beyond} (medians of "
        f"{row['trials']} trials, measured before each)"
    )


def _gateway_limits(row: RemoteServerRow) -> str:
    return (
        "TCP ends at the gateway: over HTTP/1.1 and HTTP/2 the link saw this machine's TCP, over HTTP/3 the QUIC of "
        f"{row['server']} itself. It ran on from trial to trial, and its processor time is not known"
    )


def _time(ns: int) -> str:
    return format_value(max(0, ns) / 1e9, "s")
