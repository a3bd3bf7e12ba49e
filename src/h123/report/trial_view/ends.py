"""Describes both ends of a trial: their processor time, how they sent datagrams, and what their stacks logged."""

from collections.abc import Iterator

from h123.base.units import figures, format_seconds
from h123.documents.lab_report import Counters, RoleReport
from h123.packets.capture import DOWN, UDP, UP
from h123.report.trial_view.arm import Arm

_WAYS = {"server": DOWN, "client": UP}
"""The direction in which each role sends."""
_ALONE = 1.05
"""The largest mean number of datagrams per send at which nearly every datagram is sent alone."""


def processor(arm: Arm, role: str) -> str:
    """Describe the processor time of a role during the client's run: `1.2 s, and 30 ms waited for one`."""
    of = _role(arm, role)
    if of is None or of.cpu is None:
        return "–"
    used = format_seconds(of.cpu.main_ns / 1e9)
    waited = of.cpu.main_wait_ns
    return used if waited is None else f"{used}, and {format_seconds(waited / 1e9)} waited for one"


def sends(arm: Arm, role: str) -> str:
    """Describe how many datagrams an end gave the kernel at a time. The kernel counts datagrams that are sent together
    (GSO) as one."""
    host = _host(arm, role)
    if host is None or arm.packets is None or arm.left_out:
        return "–"
    datagrams = int((arm.of_way(_WAYS[role])["protocol"] == UDP).sum())
    calls = host.grown("Udp.OutDatagrams")
    if not datagrams or not calls:
        return "–"
    if datagrams <= _ALONE * calls:
        return f"{datagrams}, each by itself"
    return f"{datagrams}, {figures(datagrams / calls)} at a time (GSO)"


def dropped(arm: Arm, role: str) -> str:
    """Describe the datagrams that were dropped because the receive buffer was full."""
    host = _host(arm, role)
    return "–" if host is None or not arm.datagrams else str(host.grown("Udp.RcvbufErrors"))


def log(arm: Arm) -> str:
    """Describe the server's qlog: `considered 34 packets lost; its stream's limit held data back for 340 ms`."""
    logs = [entry for entry in arm.logs if entry is not None]
    if not logs:
        return "–"
    losses = sum(len(entry.losses) for entry in logs)
    sentences = [f"considered {losses} packets lost"]
    limits = [("its stream's", True, True), ("its connection's", False, True)]
    limits += [("the client's stream's", True, False), ("the client's connection's", False, False)]
    for whose, stream, own in limits:
        duration = sum(
            entry.end - entry.begin
            for each in logs
            for entry in each.stalls
            if (entry.stream, entry.own) == (stream, own)
        )
        sentences += [f"{whose} limit held data back for {format_seconds(duration / 1e9)}"] if duration else []
    return "; ".join(sentences) if len(sentences) > 1 else f"{sentences[0]}; flow control held nothing back"


def unread(arm: Arm) -> Iterator[str]:
    """Yield sentences about the logs that cannot be shown, with the reasons."""
    for why in arm.stack_logs.faults:
        yield f"{why}; what its server logged about that connection is not shown."
    if arm.stack_logs.logs and not any(arm.logs):
        yield "its server's qlog matches none of the connections on the link, so it is not shown."


def _role(arm: Arm, name: str) -> RoleReport | None:
    return next((role for role in arm.report.roles if role.name == name), None) if arm.report else None


def _host(arm: Arm, name: str) -> Counters | None:
    role = _role(arm, name)
    hosts = arm.report.hosts if arm.report and role else []
    return next((host.counters for host in hosts if role and host.name == role.host), None)
