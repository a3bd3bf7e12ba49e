"""Audits the link, the machine and the settings. The link must have lost about as many packets as configured, the
machine must have kept up, and all settings must have taken effect."""

from h123.analysis.audits.finding import ALL, Audit, Finding, none_of
from h123.analysis.audits.path import direction
from h123.base.distributions import binomial_quantile
from h123.catalogue import DEFAULT_CONGESTION, kernel_controller
from h123.documents.lab_report import FinishedDirection, FinishedReport
from h123.measures import SHARES_MEASURABLE_NS, Attempt, longest_waiting
from h123.study.networks.network import Direction, Loss

CLIENT_LIMIT = 0.9
"""The limit for the client's processor time, as a share of one processor. For a browser, which has many processes, it
is a share of all usable processors."""
MACHINE_LIMIT = 0.95
LOSS_CONFIDENCE = 0.999
LATE_LIMIT_MS = 1.0
_RECEIVE_BUFFER = "Udp.RcvbufErrors"


def client_saturated(attempt: Attempt) -> Finding | None:
    """Check that the client used less than 90 % of one processor's time during its run. For a browser, the limit is 90
    % of the time of all processors that it can use. Applies to the wall clock only."""
    if attempt.virtual:
        return None
    used = [role.cpu.main_ns for role in attempt.report.roles if role.name == "client"]
    wall = attempt.report.machine.wall_ns
    if not used or not wall:
        return None
    processors = _processors(attempt)
    share = used[0] / (wall * processors)
    of = "one processor" if processors == 1 else f"its {processors} processors"
    return Finding(share < CLIENT_LIMIT, share, CLIENT_LIMIT, f"the client used {share:.0%} of {of}")


def _processors(attempt: Attempt) -> int:
    """Return the number of processors that the client can keep busy: all for browsers (the only clients that report
    page events), because they have many processes; otherwise one."""
    if not (attempt.facts and attempt.facts.visits):
        return 1
    cpus = attempt.report.machine.cpus
    return max(1, cpus // 2 if attempt.parameters["affinity"] == "apart" else cpus)


def machine_saturated(attempt: Attempt) -> Finding | None:
    """Check, for runs of at least half a second, that all processors together were busy for less than 95 % of the time.

    Applies to the wall clock only.
    """
    if attempt.virtual:
        return None
    machine = attempt.report.machine
    if machine.wall_ns < SHARES_MEASURABLE_NS or not machine.cpus:
        return None
    share = machine.busy_ns / (machine.wall_ns * machine.cpus)
    detail = f"all {machine.cpus} processors {share:.0%} busy"
    if waiting := longest_waiting(attempt.report):
        detail += f"; a ready thread of the {waiting.role} waited {waiting.mean_ns / 1e6:.2f} ms for one on average"
    return Finding(share < MACHINE_LIMIT, share, MACHINE_LIMIT, detail)


def loss_mismatch(attempt: Attempt) -> Finding | None:
    """Check that the number of lost packets lies within the 99.9 % interval of the binomial distribution. Applies to
    random loss only, and reports the worse direction."""
    findings = [
        _loss(name, direction(attempt.link, name), counted) for name, counted in _counted(attempt.report).items()
    ]
    return _worst(findings)


def _loss(name: str, configured: Direction, counted: FinishedDirection) -> Finding | None:
    share, count = (configured.loss or Loss(random=0.0)).random, counted.lost
    if share is None or configured.blackouts or configured.changes:
        return None
    packets = counted.packets_in - counted.refused
    low, high = _expected(packets, share)
    detail = f"{name}: {count} of {packets} packets lost, {low} to {high} expected at {share:.3%}"
    return Finding(low <= count <= high, count, high if count > packets * share else low, detail)


def _expected(packets: int, share: float) -> tuple[int, int]:
    """Return both bounds of the 99.9 % interval for the number of lost packets. Beyond each bound lies 0.05 % of the
    probability."""
    if packets <= 0 or share in (0, 1):
        return (0, 0) if packets <= 0 or share == 0 else (packets, packets)
    tail = (1 - LOSS_CONFIDENCE) / 2
    return binomial_quantile(tail, packets, share), binomial_quantile(1 - tail, packets, share)


def packets_unaccounted(attempt: Attempt) -> Finding | None:
    """Check in both directions that every packet that entered the link was delivered, lost or dropped (by the queue, a
    policy, the policer or ACK thinning, or for exceeding the MTU), or is still in flight. Duplicates do not count."""
    findings: list[Finding | None] = []
    for name, c in _counted(attempt.report).items():
        parts = c.delivered + c.lost + c.refused + c.in_flight
        detail = f"{name}: {c.packets_in} packets in, {parts} accounted for"
        findings.append(Finding(c.packets_in == parts, parts, c.packets_in, detail))
    return _worst(findings)


def packet_late(attempt: Attempt) -> Finding | None:
    """Check that every packet left the emulated links less than 1 ms late. Applies to the virtual clock only, under
    which links are late by up to 30 µs."""
    if not attempt.virtual:
        return None
    ways = [way for link in attempt.report.links for way in link.ways()]
    late = [way.lateness_ns.max for way in ways if way.lateness_ns.max is not None]
    if not late:
        return None
    worst_ms = max(late) / 1e6
    return Finding(worst_ms < LATE_LIMIT_MS, worst_ms, LATE_LIMIT_MS, f"a packet left a link {worst_ms:.3f} ms late")


def nothing_marked(attempt: Attempt) -> Finding | None:
    """Check that every ECN-marking queue with traffic received at least one ECN-capable packet."""
    findings: list[Finding | None] = []
    for name, c in _counted(attempt.report).items():
        queue = direction(attempt.link, name).queue
        if queue is None or not queue.marks or c.ecn_capable is None or not c.packets_in:
            continue
        detail = f"{name}: {c.ecn_capable} of {c.packets_in} packets could be marked, {c.marked} were"
        findings.append(Finding(c.ecn_capable > 0, c.ecn_capable, 0, detail))
    return _worst(findings)


def udp_buffer_dropped(attempt: Attempt) -> Finding | None:
    """Check that no receive buffer on any host dropped datagrams."""
    dropped = {}
    for host in attempt.report.hosts:
        before, after = host.counters.before, host.counters.after
        if not after:
            return None
        # The report leaves out counters that are zero.
        dropped[host.name] = after.get(_RECEIVE_BUFFER, 0) - before.get(_RECEIVE_BUFFER, 0)
    if not dropped:
        return None
    return none_of(sum(dropped.values()), ", ".join(f"{count} on the {name}" for name, count in dropped.items()))


def congestion_wrong(attempt: Attempt) -> Finding | None:
    """Check that every host used the requested congestion control. If the client reports which one it used, check that
    too."""
    parameters = attempt.parameters
    expected = kernel_controller(parameters["congestion"])
    recorded = {host.name: host.congestion for host in attempt.report.hosts}
    # A QUIC stack has its own controller, which matters if it sends the bodies.
    is_chosen = parameters["protocol"] != "h3" or (
        "client" in attempt.workload.senders() and parameters["congestion"] != DEFAULT_CONGESTION
    )
    if is_chosen and attempt.facts and attempt.facts.congestion:
        recorded["client's stack"] = attempt.facts.congestion
    if not recorded:
        return None
    detail = ", ".join(f"{name}: {controller}" for name, controller in recorded.items())
    return Finding(set(recorded.values()) == {expected}, None, None, f"{detail}; {expected} requested")


_HARMLESS = {"link-check-repeated", "files-discarded"}


def lab_warned(attempt: Attempt) -> Finding | None:
    """Check that the lab reported nothing that could affect the measurement."""
    if attempt.imported:
        return None
    warnings = [warning for warning in attempt.report.warnings if warning["code"] not in _HARMLESS]
    return none_of(
        len(warnings), "; ".join(f"{warning['code']}: {warning['detail']}" for warning in warnings) or "nothing"
    )


def _counted(report: FinishedReport) -> dict[str, FinishedDirection]:
    """Return the counters of each direction of the first link, or nothing for a veth."""
    return report.links[0].counted() if report.links else {}


def _worst(findings: list[Finding | None]) -> Finding | None:
    """Return one finding for both directions: a failed one if either direction failed."""
    findings_known = [finding for finding in findings if finding]
    return min(findings_known, key=lambda finding: finding.passed) if findings_known else None


AUDITS = [
    Audit(
        "client-saturated",
        "The client has processor time to spare: it uses less than 90 % of one processor, or a browser less than 90 % "
        "of all that it may use. Under the virtual clock there is nothing to check, because processing takes no time.",
        f"the client was at its limit (over {100 * CLIENT_LIMIT:g} % of one processor, or for a browser, of all its "
        "processors): times include waiting for the client, so they say less about the server and the network. Use "
        "fewer users, or a client that needs less processor time.",
        client_saturated,
    ),
    Audit(
        "machine-saturated",
        "The machine has processor time to spare: less than 95 % of the processors' time is used. Runs shorter than "
        "half a second are not checked. Under the virtual clock there is nothing to check, because no request waits "
        "for a processor.",
        f"all processors were busy (over {100 * MACHINE_LIMIT:g} %): times may include waiting for one. The report "
        "gives the mean wait, which is short if programs of lower priority used the processors. Stop other programs "
        "on the machine, or use fewer `--jobs`.",
        machine_saturated,
    ),
    Audit(
        "loss-mismatch",
        "The link lost about as many packets as configured. By chance alone, one direction in a thousand fails this "
        "check. Trials of a block on one network share the link's random sequence, so they fail together.",
        "the link lost more or fewer packets than chance explains (99.9 %). In a single block, this may be chance. In "
        "several, the link differed from its profile. `h123 doctor` checks the machine.",
        loss_mismatch,
    ),
    Audit(
        "packets-unaccounted",
        "Every packet that entered the link was delivered, lost, dropped or blocked, or was still in flight at the "
        "end.",
        "packets that entered the link are unaccounted for: the link or its counters are wrong. This is a defect of "
        "h123; please report it with the campaign's folder.",
        packets_unaccounted,
        spoils=ALL,
    ),
    Audit(
        "packet-late",
        "Under the virtual clock, every packet left the link on time. In real time, links are always a little late; "
        "a trial whose link is late too often is invalid.",
        f"a packet left the link over {LATE_LIMIT_MS:g} ms late under the virtual clock, so times are not those of the "
        "network. This is a defect of h123; please report it with the campaign's folder.",
        packet_late,
        spoils=ALL,
    ),
    Audit(
        "nothing-marked",
        "Each queue that marks packets instead of dropping them (ECN) had packets that it could mark.",
        "neither sender used ECN, so the queue could mark no packet, and dropped packets instead. For TCP, set "
        "`tcp_ecn: true`; `h123 list subjects NAME` shows whether a QUIC stack uses ECN.",
        nothing_marked,
    ),
    Audit(
        "udp-buffer-dropped",
        "No host dropped datagrams because a program was too slow to read them.",
        "a host dropped datagrams because a program was too slow to read them: a loss that the link did not cause and "
        "that affects only HTTP/3. It is due to the server and client, not to the protocol.",
        udp_buffer_dropped,
    ),
    Audit(
        "congestion-wrong",
        "The congestion control that was used is the requested one.",
        "the congestion control was not the requested one, and it matters more than the protocol: do not compare "
        "these trials with others. `h123 verify` shows what the subject supports.",
        congestion_wrong,
        spoils=ALL,
    ),
    Audit(
        "lab-warned",
        "The lab reported no problem with the trial: no process left running, no part of the link left unchecked, no "
        "privilege that the machine refused.",
        "the lab reported something that may matter: a process that a server or client left running, a part of the "
        "link that could not be checked, or a privilege that the machine refused. The report names it for each trial.",
        lab_warned,
    ),
]
