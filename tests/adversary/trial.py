"""Trials in which one side is hostile: what clients make of attacks, and servers of assaults (`peer/`)."""

import functools
import hashlib
import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Literal

from catalogue.small import built_already
from h123.base.paths import cache_folder
from h123.catalogue import Subject, catalogue, make_bodies, read_subject
from h123.documents import Reason
from h123.execution import LocalPool
from h123.execution.certificate import Certificate
from h123.study import Parameters
from h123.verification.client_networks import PLAIN
from h123.verification.trial import Trials
from stored import stored_rows

HOSTILE = "hostile"
USERS, REQUESTS = 2, 2
AT_ONCE = 3
"""Trials: most of them wait for a timeout."""
TIMEOUT_S, LONG_S = 1, 10
"""Of a request, and of an assault; the long one shows whether what a client takes grows with time."""
GROWN_BYTES = 24 << 20
"""Above a client's usual memory: what it takes within the short timeout may then be more within a longer one."""
LATE_S = 5
"""By which a request may overrun its timeout on a busy machine; what knows no timeout overruns it by far more."""
TRIAL_S = 60
"""After which the lab ends the client: far more than its requests may take one after another."""
CONSISTENT = {"half", "length-too-small", "length-twice"}
"""Attacks in which nothing but the request tells a client that the answer is not whole."""
MOST_BYTES = 512 << 20
"""Of memory, for a client. What a server takes, the study's metrics tell."""

_MANIFEST = (
    built_already("SUBJECT", "Attacks the other side")
    + """\
[server]
command = ["PEER", "serve", "--attack", "ATTACK", "--protocol", "{protocol}", "--address", "{address}",
           "--port", "{port}", "--cert", "{cert}", "--key", "{key}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET", "POST"]
listens = {h1 = ["tcp"], h2 = ["tcp"], h3 = ["udp"]}

[client]
command = ["PEER", "drive", "--assault", "ATTACK", "--workload", "{workload}", "--samples", "{samples}",
           "--facts", "{facts}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET"]

[features]
congestion = {h1 = "kernel", h2 = "kernel", h3 = ["cubic"]}
"""
)


@dataclass(frozen=True)
class Attack:
    """What the hostile side does, over one protocol. Of a client's it is an assault."""

    name: str
    does: str
    protocol: str
    upload: bool = False
    """It is made on requests that bring a body."""
    answers: bool = False
    """A client that bears with it is given what it asked for, so it may call the request a success."""

    def __str__(self) -> str:
        return f"{self.name}-{self.protocol}"


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    ended: str
    """In a word or two: the errors of the requests, or why the trial is not valid."""
    seconds: float
    """That the client ran."""
    memory: int
    """The most that the side had which was attacked, in bytes."""
    faults: list[str]
    """What must not be, in words."""


Outcomes = dict[Attack, Outcome]


@functools.cache
def peer() -> Path:
    """The hostile side, built. Checkouts that share a cache may differ, so its source is part of its name."""
    source = Path(__file__).parent / "peer"
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(source.iterdir()))).hexdigest()[:16]
    program = cache_folder().resolve() / "hostile" / f"h123-hostile-{digest}"
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        built = program.with_name(f"{program.name}.{os.getpid()}")
        subprocess.run(["go", "build", "-trimpath", "-o", str(built), "."], cwd=source, check=True)
        built.replace(program)
    return program


@functools.cache
def listed() -> dict[str, Any]:
    done = subprocess.run([str(peer()), "list"], capture_output=True, check=True)
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def attacks_on(client: Subject) -> list[Attack]:
    """All that the hostile server can do to it."""
    assert client.client is not None
    return [
        Attack(one["name"], one["does"], protocol, one["upload"], one["answers"])
        for one in listed()["attacks"]
        for protocol in one["protocols"]
        if protocol in client.client.protocols and (not one["upload"] or "POST" in client.client.methods)
    ]


def assaults_on(server: Subject) -> list[Attack]:
    """All that the hostile client can do to it."""
    assert server.server is not None
    return [
        Attack(one["name"], one["does"], protocol)
        for one in listed()["assaults"]
        for protocol in one["protocols"]
        if protocol in server.server.protocols
    ]


def attacked(client: Subject, chosen: Sequence[Attack], folder: Path, certificate: Certificate) -> Outcomes:
    """What the client makes of attacks by its server. Where it took much memory, its requests get more time."""

    def one(attack: Attack, timeout_s: int = TIMEOUT_S) -> Outcome:
        parameters = _parameters(attack, client=client.name, server=HOSTILE, timeout_s=timeout_s)
        place = folder / f"{attack}-{timeout_s}"
        return _carried_out("client", attack, parameters, {client.name: client}, place, certificate)

    outcomes = _each(one, chosen)
    usual = median(outcome.memory for outcome in outcomes.values())
    grown = [
        attack
        for attack, outcome in outcomes.items()
        if "timeout" in outcome.ended and outcome.memory > usual + GROWN_BYTES
    ]
    return outcomes | _each(partial(one, timeout_s=LONG_S), grown)


def assaulted(server: Subject, chosen: Sequence[Attack], folder: Path, certificate: Certificate) -> Outcomes:
    """What the server makes of assaults by its client."""

    def one(assault: Attack) -> Outcome:
        parameters = _parameters(assault, client=HOSTILE, server=server.name)
        return _carried_out("server", assault, parameters, {server.name: server}, folder / str(assault), certificate)

    make_bodies([listed()["size"]])
    return _each(one, chosen)


def _each(one: Callable[[Attack], Outcome], chosen: Sequence[Attack]) -> Outcomes:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(chosen, pool.map(one, chosen), strict=True))


def _parameters(attack: Attack, *, client: str, server: str, timeout_s: int = TIMEOUT_S) -> Parameters:
    return Parameters(
        protocol=attack.protocol,
        server=server,
        client=client,
        network=PLAIN.name,
        congestion="default",
        method="POST" if attack.upload else "GET",
        size=listed()["size"],
        users=USERS if server == HOSTILE else 1,
        requests=REQUESTS if server == HOSTILE else 1,
        cold=False,
        timeout=f"{timeout_s}s",
        trial_timeout=f"{TRIAL_S}s",
    )


def write_hostile(place: Path, attack: str) -> Subject:
    """The subject in the folder `place` whose server, or client, makes this attack."""
    place.mkdir(parents=True, exist_ok=True)
    words = {"SUBJECT": place.name, "PEER": str(peer()), "ATTACK": attack}
    manifest = _MANIFEST
    for word, text in words.items():
        manifest = manifest.replace(word, text)
    (place / "subject.toml").write_text(manifest)
    return read_subject(place)


def _carried_out(
    victim: Literal["client", "server"],
    attack: Attack,
    parameters: Parameters,
    subjects: Mapping[str, Subject],
    folder: Path,
    certificate: Certificate,
) -> Outcome:
    hostile = write_hostile(folder / HOSTILE, attack.name)
    trials = Trials({**catalogue(), **subjects, hostile.name: hostile}, certificate, LocalPool())
    trial = trials.carry_out(folder / "trial", parameters, PLAIN)
    reasons, path = trial.faults, trial.folder / "samples.parquet"
    rows = stored_rows(path) if path.is_file() and not trial.reasons else []
    roles = {role.name: role for role in trial.report.roles}
    memory = roles[victim].max_rss_bytes or 0
    faults = _late(reasons, rows, parameters.timeout / 1e9)
    if victim == "client":
        faults += [f"{memory >> 20} MiB of memory"] if memory > MOST_BYTES else []
        faults += _invalid(attack, reasons) if reasons else _untrue(attack, rows)
    return Outcome(_ended(reasons, rows), trial.report.phases_ns["main"] / 1e9, memory, faults)


def _late(reasons: Sequence[Reason], rows: Sequence[dict[str, Any]], timeout_s: float) -> list[str]:
    faults = [reason["detail"] for reason in reasons if reason["code"] == "client-timeout"]
    longest = max((row["end_ns"] - row["start_ns"] for row in rows), default=0) / 1e9
    if longest > timeout_s + LATE_S:
        faults.append(f"a request with a timeout of {timeout_s:.0f} s ended after {longest:.1f} s")
    return faults


def _invalid(attack: Attack, reasons: Sequence[Reason]) -> list[str]:
    """Why the trial is not valid, where the client itself should have told of failed requests; or our own mistake."""
    codes = {"samples-missing", "samples-malformed", "server-exited"}
    codes |= {"wrong-size"} if attack.name not in CONSISTENT else set()
    return [reason["detail"] for reason in reasons if reason["code"] in codes]


def _untrue(attack: Attack, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A success of what cannot be one. That its size is right, `ingest` has seen to."""
    succeeded = sum(not row["error"] and row["status"] == 200 for row in rows)
    faults = [f"{succeeded} of {len(rows)} requests succeeded"] if succeeded and not attack.answers else []
    if len(rows) != USERS * REQUESTS:
        faults.append(f"{len(rows)} rows for {USERS * REQUESTS} requests")
    return faults


def _ended(reasons: Sequence[Reason], rows: Sequence[dict[str, Any]]) -> str:
    if reasons:
        return reasons[0]["code"]
    errors = Counter(row["error"].split(":")[0] or "answered" for row in rows)
    return ", ".join(error for error, _ in errors.most_common())
