"""Describes the circumstances of a result, as rows for tables: link checks, invalid attempts, order, provenance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from h123.analysis.results.publication import repeat_command
from h123.base.units import format_rate
from h123.documents.campaign_file import PRIVILEGES, MachineFacts
from h123.documents.events import Event, TrialEvent, superseded
from h123.documents.lab_report import LinkReport, Side
from h123.measures import Attempt
from h123.report.text.trust.provenance import machine
from h123.report.text.words import level, percent, reason, treatment
from h123.store import CampaignFolder
from h123.study.networks.network import Direction


@dataclass(frozen=True)
class LinkRow:
    """The behaviour of one direction of one network during a campaign, next to its profile."""

    network: str
    direction: str
    checks: int
    delay: str
    delay_error: str
    rate: str
    loss: str
    lateness: str
    cross: str
    """The goodput of cross traffic, and the share of its packets that the queue dropped. Empty if there was none."""


def link_rows(attempts: Sequence[Attempt]) -> list[LinkRow]:
    """Return one row for each direction of each emulated network under each clock. Checks are pooled over the
    campaign."""
    rows = []
    for network, virtual in dict.fromkeys((a.parameters["network"], a.virtual) for a in attempts):
        mine = [a for a in attempts if (a.parameters["network"], a.virtual) == (network, virtual)]
        links = [link for a in mine for link in a.report.links if link.kind == "emulated"]
        for direction in ("up", "down") if links else ():
            network_name = f"{network}, virtual clock" if virtual else network
            profile = mine[0].link.up if direction == "up" else mine[0].link.down
            rows.append(_link_row(network_name, direction, profile, links, _cross(mine, direction)))
    return rows


def lab_shares(attempts: Sequence[Attempt]) -> dict[str, str]:
    """Return, for each network, the median and the largest share of all processors' time that the lab used.

    The lab's share includes the kernel's work for the lab's packets. A network is left out if its share is unknown, or
    if its trials ran under the virtual clock, where the lab takes no time.
    """
    shares: dict[str, list[float]] = {}
    for attempt in attempts:
        machine_account = attempt.report.machine
        if (
            not attempt.virtual
            and machine_account.lab_ns is not None
            and machine_account.cpus
            and machine_account.wall_ns
        ):
            shares.setdefault(attempt.parameters["network"], []).append(
                machine_account.lab_ns / (machine_account.cpus * machine_account.wall_ns)
            )
    return {name: f"{percent(median(of))}, at most {percent(max(of))}" for name, of in shares.items()}


def _cross(attempts: Sequence[Attempt], direction: Side) -> str:
    """Describe the median goodput of cross traffic over trials, and how many of its packets the queue dropped."""
    accounts = [(a.report, link.cross[direction]) for a in attempts for link in a.report.links[:1] if link.cross]
    active = [(report, way) for report, way in accounts if way.received_bytes]
    if not active:
        return ""
    goodput = median(8e9 * way.received_bytes / max(report.phases_ns.get("main", 0), 1) for report, way in active)
    came, dropped = sum(way.packets_in for _, way in active), sum(way.queue_dropped for _, way in active)
    return f"{format_rate(goodput)}, {dropped / max(came, 1):.2%} dropped"


def _link_row(
    network: str, direction: Side, profile: Direction | None, links: Sequence[LinkReport], cross: str
) -> LinkRow:
    checks = [link.check for link in links if link.check]
    rates = [rate for check in checks if (rate := (check.rate or {}).get(direction))]
    losses = [loss for check in checks if (loss := (check.loss or {}).get(direction))]
    delays = [delay for check in checks if (delay := (check.delay or {}).get(direction))]
    errors = [delay.error_ns for delay in delays if delay.error_ns]  # empty if no probe arrived
    late = [way.lateness_ns.p99 for link in links if (way := (link.directions or {}).get(direction))]
    worst = [_worst(error.p50 for error in errors), _worst(error.p99 for error in errors)]
    off = [100 * (rate.measured_bps / rate.configured_bps - 1) for rate in rates]
    sent_packets, lost_packets = sum(loss.sent for loss in losses), sum(loss.lost for loss in losses)
    expected = sum(loss.expected_lost for loss in losses)
    return LinkRow(
        network=network,
        direction=direction,
        checks=len(checks),
        delay=f"{((profile and profile.delay_ns) or 0) / 1e6:g} ms",
        delay_error=" / ".join(f"{error / 1000:.0f}" for error in worst) + " µs" if errors else "–",
        rate=f"{format_rate(rates[0].configured_bps)}, {max(off, key=abs):+.2f} %" if rates else "–",
        loss=f"{lost_packets} of {sent_packets}, expected {expected}" if losses else "–",
        lateness=f"{_worst(late) / 1000:.0f} µs" if late else "–",
        cross=cross,
    )


def _worst(values: Iterable[float]) -> float:
    return max((abs(value) for value in values), default=0.0)


@dataclass(frozen=True)
class InvalidAttempt:
    """An attempt that does not count. Each reason has a description and a detail."""

    trial: str
    reasons: list[tuple[str, str]]


def invalid_attempts(events: Iterable[Event]) -> list[InvalidAttempt]:
    return [
        InvalidAttempt(
            f"{event['trial']}~{event['attempt']}", [(reason(r["code"]), r["detail"]) for r in event["reasons"]]
        )
        for event in events
        if event["event"] == "trial" and not event["valid"]
    ]


def order_rows(events: Iterable[Event], factor: str) -> list[tuple[int, list[str]]]:
    """Return the number of each block and the treatments of its trials in the order of execution, if known. Only first
    attempts are listed."""
    blocks: dict[int, dict[str, TrialEvent]] = {}
    for event in events:
        if event["event"] == "trial" and event["position"] is not None and not superseded(event):
            blocks.setdefault(event["block"], {}).setdefault(event["trial"], event)
    return [(number, [_placed(e, factor) for e in trials.values()]) for number, trials in sorted(blocks.items())]


def _placed(event: TrialEvent, factor: str) -> str:
    others = [level for name, level in event["cell"].items() if name != factor]
    return " ".join([*others, treatment(event["cell"], factor, event["twin"])])


def provenance(folder: CampaignFolder, attempts: Sequence[Attempt]) -> list[tuple[str, str]]:
    """Return rows that say where, when and with what the campaign ran, and how to run it again. For imported samples,
    return rows about their files."""
    if folder.imported:
        files = [(f"file {file['name']}", f"SHA-256 {file['sha256']}") for file in folder.imported["files"]]
        schema = (folder.path / "study.yaml").name
        facts_of_import = [
            ("schema", f"{folder.imported['schema']}, kept in {schema}"),
            ("machine, subjects", "not recorded"),
        ]
        secured = ("TLS", _imported_tls(attempts, folder.study["compare"]["factor"]))
        return [("h123", folder.version), ("imported", folder.created), *files, *facts_of_import, secured]
    facts = folder.machine
    subjects = [f"{name} {s['version']} ({s['stack']}, {s['language']})" for name, s in folder.subjects.items()]
    return [
        ("h123", folder.version),
        ("started", folder.created),
        ("machine", machine(facts)),
        ("system", f"{facts.get('distribution')}, Linux {facts.get('kernel')}"),
        *_privileges(facts),
        ("load at the start", ", ".join(f"{load}" for load in facts.get("load_average") or [])),
        ("subjects", "; ".join(subjects)),
        ("TLS", "; ".join(_tls(attempts)) or "not recorded"),
        ("congestion control", "; ".join(_congestion(attempts, folder)) or "not recorded"),
        ("seed", str(folder.seed)),
        ("to repeat", repeat_command(folder, "study.yaml")),
    ]


def _privileges(facts: MachineFacts) -> list[tuple[str, str]]:
    """Return a row with the privileges that trials ran with. Empty for campaigns of earlier versions, which did not
    record them."""
    had = facts.get("privileges")
    return [("trials ran", PRIVILEGES[had])] if had else []


def _imported_tls(attempts: Sequence[Attempt], factor: str) -> str:
    """Describe the TLS versions of each level. A version that the files do not record is `not known`."""
    versions_by_level: dict[str, set[str]] = {attempt.cell[factor]: set() for attempt in attempts}
    for attempt in attempts:
        versions_by_level[attempt.cell[factor]] |= attempt.tls_versions or {"not known"}
    return "; ".join(f"{level(name)}: {' and '.join(sorted(versions))}" for name, versions in versions_by_level.items())


def _tls(attempts: Sequence[Attempt]) -> list[str]:
    counts: dict[str, int] = {}
    for attempt in attempts:
        for kind in attempt.tls:
            words = f"{kind.alpn}: TLS {kind.version}, {kind.cipher}, {kind.key_exchange}"
            counts[words] = counts.get(words, 0) + kind.connections
    return [f"{words} ({count} connections)" for words, count in sorted(counts.items())]


def _congestion(attempts: Sequence[Attempt], folder: CampaignFolder) -> list[str]:
    factor = folder.study["compare"]["factor"]
    controllers = {str(attempt.parameters["congestion"]) for attempt in attempts}
    kernels = {host.congestion for a in attempts for host in a.report.hosts}
    clients = {f"{level(a.cell[factor])} {a.facts.congestion}" for a in attempts if a.facts}
    lines = [f"hosts: {', '.join(sorted(map(str, kernels)))}", f"as the client saw it: {', '.join(sorted(clients))}"]
    return [f"requested: {', '.join(sorted(controllers))}", *lines, *_controllers(folder)]


def _controllers(folder: CampaignFolder) -> list[str]:
    """Return a line with the congestion controllers of the QUIC stacks, each stack's default first. Empty if there are
    none."""
    offered = {name: (about.get("congestion") or {}).get("h3") for name, about in folder.subjects.items()}
    phrases = [f"{name} {' or '.join(names)}" for name, names in offered.items() if isinstance(names, list)]
    return [f"over QUIC: {', '.join(phrases)}"] if phrases else []
