"""The survey itself: the server is started in a lab of its own, and the scout asks it over a plain veth pair."""

import json
import shutil
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from h123.catalogue import OwnServer, catalogue, install, scout_command
from h123.console import say
from h123.errors import UserError
from h123.results import Reason, read_document, write_document
from h123.results.lab_report import Report
from h123.results.trial_files import End, Link, Role, Trial
from h123.study import Header
from h123.survey.found import Found
from h123.survey.patience import impatience
from h123.survey.site import Site
from h123.trial import CLIENT_ADDRESS, SERVER_ADDRESS, Engine, own_role

SCOUT = "go"
"""The embedded subject that asks."""
ANSWER_NS = 3_000_000_000
"""In which an answer must be complete, so that whatever is wrong is said within ten seconds."""
MOST_BYTES = 1_000_000_000
TIMES = 3
"""That each request is made, to see whether its answer changes."""
_MUTE_S = 3
"""That a server is left alone which has its port open and speaks nothing."""
ELSEWHERE_NS = 4_000_000_000
"""That a server may listen in other places before it is told so, unless `ready` says what to wait for."""
_TIMEOUT_NS = 60_000_000_000
_LINES = 8
"""Of its output that are shown."""


@dataclass(frozen=True)
class Inquiry:
    """What is asked of a server."""

    site: Site
    method: Literal["GET", "POST"] = "GET"
    headers: tuple[Header, ...] = ()
    body: Path | None = None
    authorities: Path | None = None
    """PEM: those whose certificates are believed; None: the server's is not checked."""
    page: bool = False
    """The first request is for a page's document, the others for what it asks for: those may be refused."""


@dataclass(frozen=True)
class Inquired:
    """What came of it: what was found, or what the lab says of a server that could not be asked."""

    found: Found | None
    reasons: list[Reason]
    log: list[str] = field(default_factory=list)
    """The end of what the server printed."""
    seconds: float = 0.0


def survey(server: OwnServer, inquiry: Inquiry, folder: Path, engine: Engine) -> Inquired:
    """Start `server` and ask it, in the empty `folder`. Raises UserError where it is no program."""
    known = catalogue()
    if SCOUT not in known:
        raise UserError(f"the subject {SCOUT} is missing, which asks servers", remedy="link it into H123_SUBJECTS")
    server.check()
    install(known[SCOUT], say)
    command = scout_command(known[SCOUT], plan="plan.json", found="found.json")
    began = time.monotonic()
    tcp = _carry_out(server, inquiry, folder / "tcp", command, engine, udp=False)
    said = "".join(reason["detail"] for reason in tcp.reasons)
    if tcp.found is None and any(f"UDP {where}:{inquiry.site.port}" in said for where in _ANYWHERE):
        tcp = _carry_out(server, inquiry, folder / "udp", command, engine, udp=True)
    elif tcp.found and tcp.found.mute:
        # Who makes a certificate at the first start listens before there is one, and while it is written.
        later = ["sh", "-c", f'sleep {_MUTE_S}; exec "$@"', "sh", *command]
        tcp = _carry_out(server, inquiry, folder / "again", later, engine, udp=False)
    return Inquired(tcp.found, tcp.reasons, tcp.log, time.monotonic() - began)


_ANYWHERE = ("0.0.0.0", "[::]", SERVER_ADDRESS)


def _carry_out(
    server: OwnServer, inquiry: Inquiry, folder: Path, command: list[str], engine: Engine, *, udp: bool
) -> Inquired:
    folder.mkdir(parents=True)
    if inquiry.body:
        shutil.copyfile(inquiry.body, folder / "body")
    if inquiry.authorities:
        shutil.copyfile(inquiry.authorities, folder / "ca.pem")
    (folder / "plan.json").write_text(json.dumps(_plan(server, inquiry), indent=1) + "\n", encoding="utf-8")
    trial = _trial(server, inquiry, command, udp=udp)
    started, scout = trial.roles
    write_document(folder / "trial.json", trial)
    try:
        engine.start(folder, {}, engine.places[0])
        with impatience(folder, started, scout, say) if server.command is not None else nullcontext():
            engine.wait()
    finally:
        engine.stop()
    reasons = read_document(folder / "report.json", Report).reasons
    log = folder / "logs" / f"{started.name}.log"
    lines = log.read_text("utf-8", errors="replace").splitlines()[-_LINES:] if log.exists() else []
    found = folder / "found.json"
    return Inquired(read_document(found, Found) if found.exists() and not reasons else None, reasons, lines)


def _plan(server: OwnServer, inquiry: Inquiry) -> dict[str, object]:
    site = inquiry.site
    headers = [{"name": header.name, "value": header.value} for header in inquiry.headers]
    body = "body" if inquiry.body else None
    return {
        "h123": "scout/1",
        "host": server.sni or server.host,
        "authority": server.authority(site.port),
        "address": SERVER_ADDRESS,
        "port": site.port,
        "timeout_ns": ANSWER_NS,
        "most_bytes": MOST_BYTES,
        "times": TIMES,
        "ca_file": "ca.pem" if inquiry.authorities else None,
        "requests": [
            {"method": inquiry.method, "path": path, "headers": headers, "body_file": body} for path in site.paths
        ],
    }


def _trial(server: OwnServer, inquiry: Inquiry, command: list[str], *, udp: bool) -> Trial:
    started = own_role(server, inquiry.site.port)
    ports = [inquiry.site.port]
    if server.command is not None and started.ready:
        # What it speaks is not known yet.
        started.ready.tcp, started.ready.udp = ([], ports) if udp else (ports, [])
        started.ready.elsewhere_ns = None if server.ready else ELSEWHERE_NS
    scout = Role(name="client", host="client", kind="main", command=command, env={}, timeout_ns=_TIMEOUT_NS)
    ends = (End(host="client", address=CLIENT_ADDRESS), End(host="server", address=SERVER_ADDRESS))
    return Trial(
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
