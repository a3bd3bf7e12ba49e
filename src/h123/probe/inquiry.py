"""Surveys a server: starts it in a lab, where the scout sends requests to it over a plain veth pair."""

import dataclasses
import json
import shutil
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from h123.base.errors import UserError
from h123.base.terminal.console import say
from h123.catalogue import QUIC, OwnServer, catalogue, command_line, install
from h123.documents import Reason, read_document, write_document
from h123.documents.lab_report import Report
from h123.documents.trial_files import Link, LinkEnd, Role, TrialFile
from h123.execution import CLIENT_ADDRESS, SERVER_ADDRESS, LocalPool, PreparedTrial, SingleTrials, own_role
from h123.probe.findings import ProbeFindings
from h123.probe.patience import impatience
from h123.probe.site import ProbedSite
from h123.study import Header, Network, Parameters

SCOUT = "go"
"""The built-in subject that sends the requests."""
ANSWER_NS = 3_000_000_000
"""The time limit for a complete response, in ns. It is short, so that the survey reports problems within ten
seconds."""
MOST_BYTES = 1_000_000_000
TIMES = 3
"""How many times the survey makes each request, to see whether the response changes."""
_MUTE_S = 3
"""How long, in s, the survey waits before it tries again if the server's port is open but no protocol works."""
OTHER_PORT_AFTER_NS = 4_000_000_000
"""How long, in ns, a server may listen only on other ports before the survey gives up, unless `ready` says what to wait
for."""
_TIMEOUT_NS = 60_000_000_000
_NETWORK = Network(name="survey", title="A plain veth pair")
_OWN = "own"
"""The server's name in the survey."""
_PARAMETERS = {"server": _OWN, "client": SCOUT, "protocol": "h1", "network": _NETWORK.name}
_LINES = 8
"""The number of lines of the server's output that messages show."""


@dataclass(frozen=True)
class Inquiry:
    """The requests that the survey makes."""

    site: ProbedSite
    method: Literal["GET", "POST"] = "GET"
    headers: tuple[Header, ...] = ()
    body: Path | None = None
    authorities: Path | None = None
    """The PEM file of the trusted authorities. If it is None, the server's certificate is not checked."""
    page: bool = False
    """Whether the first request is for a page's document, and the others are for its resources. Requests for resources
    may fail."""


@dataclass(frozen=True)
class InquiryResult:
    """The result of a survey: the findings, or the lab's reasons why the scout could not reach the server."""

    findings: ProbeFindings | None
    reasons: list[Reason]
    log: list[str] = field(default_factory=list)
    """The end of the server's output."""
    http3_port: int | None = None
    """The HTTP/3 port that the server announces, if it is not the requested one."""
    seconds: float = 0.0


def survey(
    server: OwnServer,
    inquiry: Inquiry,
    folder: Path,
    roots: Mapping[str, Path] | None = None,
    *,
    udp: bool = False,
) -> InquiryResult:
    """Start `server` on this machine and survey it, in the empty `folder`. `roots` are folders with files that the
    server reads, by the name under which the lab mounts them. `udp` says whether the server is known to listen only on
    UDP. Raises UserError if the server cannot be started."""
    subjects = catalogue()
    if SCOUT not in subjects:
        raise UserError(f"the subject {SCOUT}, which surveys servers, is missing", remedy="link it into H123_SUBJECTS")
    server.check()
    install(subjects[SCOUT], say)
    command = command_line(subjects[SCOUT], "scout", plan="plan.json", found="found.json")
    began = time.monotonic()
    tcp = _carry_out(server, inquiry, roots or {}, folder / "tcp", command, udp=udp)
    details = "".join(reason["detail"] for reason in tcp.reasons)
    udp_alone = any(f"UDP {where}:{inquiry.site.port}" in details for where in _ANYWHERE) and ONLY_IPV6 not in details
    if tcp.findings is None and udp_alone and not udp:
        tcp = _carry_out(server, inquiry, roots or {}, folder / "udp", command, udp=True)
    elif tcp.findings and tcp.findings.mute:
        # A server that creates a certificate at its first start may listen before the certificate is complete.
        later = ["sh", "-c", f'sleep {_MUTE_S}; exec "$@"', "sh", *command]
        tcp = _carry_out(server, inquiry, roots or {}, folder / "again", later, udp=False)
    if other := _other_port(tcp.findings, inquiry):
        tcp = _with_other_port(
            tcp, other, _carry_out(server, inquiry, roots or {}, folder / "other", command, port=other)
        )
    return dataclasses.replace(tcp, seconds=time.monotonic() - began)


def _other_port(findings: ProbeFindings | None, inquiry: Inquiry) -> int | None:
    """Return the port that the server announces for HTTP/3, if it does not speak HTTP/3 on the requested port;
    otherwise None."""
    if findings is None or not findings.of(QUIC).error:
        return None
    host, port = findings.announced() or ("", inquiry.site.port)
    return port if port != inquiry.site.port and host in ("", inquiry.site.host) else None


def _with_other_port(result: InquiryResult, port: int, there: InquiryResult) -> InquiryResult:
    if result.findings is None or there.findings is None or there.findings.of(QUIC).error:
        return result
    protocols = [there.findings.of(QUIC) if each.protocol == QUIC else each for each in result.findings.protocols]
    return dataclasses.replace(
        result, findings=result.findings.model_copy(update={"protocols": protocols}), http3_port=port
    )


ONLY_IPV6 = "over IPv4"
"""Words in the lab's message about a server whose port is open only for IPv6."""
_ANYWHERE = ("0.0.0.0", "[::]", SERVER_ADDRESS)


def _carry_out(
    server: OwnServer,
    inquiry: Inquiry,
    roots: Mapping[str, Path],
    folder: Path,
    command: list[str],
    *,
    udp: bool = False,
    port: int | None = None,
) -> InquiryResult:
    """Run one survey. `udp` says whether the server listens only on UDP. `port` is the port to survey, if it is not the
    one in the URL."""
    prepared = PreparedTrial(folder / "trial", Parameters.model_validate(_PARAMETERS), _NETWORK)
    prepared.folder.mkdir(parents=True)
    if inquiry.body:
        shutil.copyfile(inquiry.body, prepared.folder / "body")
    if inquiry.authorities:
        shutil.copyfile(inquiry.authorities, prepared.folder / "ca.pem")
    asked_at = port or inquiry.site.port
    plan = json.dumps(_plan(server, inquiry, asked_at), indent=1)
    (prepared.folder / "plan.json").write_text(plan + "\n", encoding="utf-8")
    trial = _trial(server, inquiry, command, udp=udp, port=asked_at)
    started, scout = trial.roles
    write_document(prepared.folder / "trial.json", trial)
    impatience_context = impatience(folder, started, scout, say) if server.command is not None else nullcontext()
    with LocalPool(folder / "orders") as pool, impatience_context:
        list(SingleTrials(pool, roots, {_OWN: server}).run([prepared]))
    reasons = read_document(prepared.folder / "report.json", Report).reasons
    log = prepared.folder / "logs" / f"{started.name}.log"
    lines = log.read_text("utf-8", errors="replace").splitlines()[-_LINES:] if log.exists() else []
    findings_file = prepared.folder / "found.json"
    return InquiryResult(
        read_document(findings_file, ProbeFindings) if findings_file.exists() and not reasons else None, reasons, lines
    )


def _plan(server: OwnServer, inquiry: Inquiry, port: int) -> dict[str, object]:
    site = inquiry.site
    headers = [{"name": header.name, "value": header.value} for header in inquiry.headers]
    body = "body" if inquiry.body else None
    return {
        "h123": "scout/1",
        "host": server.sni or server.host,
        "authority": server.authority(site.port),
        "address": SERVER_ADDRESS,
        "port": port,
        "timeout_ns": ANSWER_NS,
        "most_bytes": MOST_BYTES,
        "times": TIMES,
        "ca_file": "ca.pem" if inquiry.authorities else None,
        "requests": [
            {"method": inquiry.method, "path": path, "headers": headers, "body_file": body} for path in site.paths
        ],
    }


def _trial(server: OwnServer, inquiry: Inquiry, command: list[str], *, udp: bool, port: int) -> TrialFile:
    """Return the trial of a survey. A server that h123 starts is ready when it listens on the port in the URL. The
    gateway to a server that runs elsewhere connects to `port`."""
    started = own_role(server, inquiry.site.port if server.command is not None else port)
    ports = [inquiry.site.port]
    if server.command is not None and started.ready:
        # Its protocols are not known yet.
        started.ready.tcp, started.ready.udp = ([], ports) if udp else (ports, [])
        started.ready.elsewhere_ns = None if server.ready else OTHER_PORT_AFTER_NS
    scout = Role(name="client", host="client", kind="main", command=command, env={}, timeout_ns=_TIMEOUT_NS)
    ends = (LinkEnd(host="client", address=CLIENT_ADDRESS), LinkEnd(host="server", address=SERVER_ADDRESS))
    return TrialFile(
        h123="trial/1",
        id="survey",
        seed=1,
        clock="wall",
        hosts=["client", "server"],
        links=[Link(name="access", a=ends[0], b=ends[1], kind="veth")],
        congestion="cubic",
        check=False,
        roles=[started, scout],
    )
