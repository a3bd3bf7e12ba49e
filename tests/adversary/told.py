"""What a trial of a campaign tells of a server with a fault: what would change its result must not go by in silence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adversary.zoo import Fault, write_faulty
from h123.catalogue import catalogue, make_bodies
from h123.execution import Pool
from h123.execution.certificate import Certificate
from h123.study import Parameters
from h123.study.workload import OK
from h123.verification.client_networks import PLAIN
from h123.verification.trial import Trials
from stored import stored_rows

USUAL: Mapping[str, Any] = {
    "client": "go",
    "network": PLAIN.name,
    "congestion": "default",
    "method": "GET",
    "size": 100_000,
    "users": 2,
    "requests": 4,
    "connections": 1,
    "timeout": "2s",
    "trial_timeout": "60s",
}
_UPLOAD: Mapping[str, Any] = {"method": "POST"}
_MANY: Mapping[str, Any] = {"users": 1, "size": 1, "requests": 5200, "timeout": "30s"}


@dataclass(frozen=True)
class Tale:
    """What a trial tells of a fault; nothing: `why`."""

    words: frozenset[str] = frozenset()
    """The reasons for which it is not valid, how requests failed (an error or a status), its warnings: one of them."""
    why: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """Its parameters, where they are not the usual ones."""


def _tells(*words: str, **asked: Any) -> Tale:
    return Tale(frozenset(words), "", asked)


_SPEED = Tale(why="speed is what h123 measures")
_NOT_ASKED = Tale(why="a trial makes no such request")
_AS_IT_IS = Tale(why="the requests wait or connect again, which shows in their times and connections")
_HARMLESS = Tale(why="it changes no request")
_AUDITED = "the audit `sessions-wrong` finds it, over all trials"
_UNREAD = Tale(why="clients check downloads but do not read the answers to uploads", asked=_UPLOAD)

TALES: Mapping[str, Tale] = {
    "none": Tale(why="there is nothing to show"),
    "zeros": _tells("wrong-bytes"),
    "late-byte": _tells("wrong-bytes", size=10_000_000, users=1, requests=1, timeout="30s"),
    "far-byte": _tells("wrong-bytes", size=100_000_000, users=1, requests=1, timeout="60s"),
    "whole-blocks": _tells("wrong-bytes", size=65_536),
    "round-sizes": _tells("wrong-bytes", size=65_537),
    "second-body": _tells("wrong-bytes", size=50_000),
    "short": _tells("wrong-size"),
    "cut": _tells("reset", "protocol", "other"),
    "stall": _tells("timeout", size=10_000_000, users=1, requests=1),
    "no-length": Tale(why="the bytes arrive and are correct"),
    "gzip": Tale(why="the client does not accept compression"),
    "always-200": _NOT_ASKED,
    "partial": _tells("206"),
    "errors": _tells("500", **_MANY),
    "limited": _tells("429", **_MANY),
    "no-head": _NOT_ASKED,
    "head-unsized": _NOT_ASKED,
    "no-health": _NOT_ASKED,
    "one-host": _NOT_ASKED,
    "busy": _SPEED,
    "dribble": _SPEED,
    "delay": _SPEED,
    "early-answer": Tale(
        why="the count is right; the fault shows only if a client pauses in the middle of a body", asked=_UPLOAD
    ),
    "miscounted": _UNREAD,
    "thanks": _UNREAD,
    "upload-limit": _tells("413", **_UPLOAD, size=2_000_000),
    "no-upload": _tells("405", **_UPLOAD),
    "one-upload": _SPEED,
    "one-worker": _SPEED,
    "streams": _AS_IT_IS,
    "requests": _AS_IT_IS,
    "no-keep-alive": _AS_IT_IS,
    "idle-2s": _AS_IT_IS,
    "idle-20s": _AS_IT_IS,
    "announced-idle": _HARMLESS,
    "windows": _SPEED,
    "stream-window": _SPEED,
    "receive-window": _SPEED,
    "other-protocol": _NOT_ASKED,
    "other-alpn": _NOT_ASKED,
    "no-alpn": _tells("protocol", "tls", "other"),
    "tls12": _tells("tls"),
    "no-tickets": _tells("client-failed", sessions="resumed"),
    "own-tickets": Tale(why=_AUDITED, asked={"sessions": "resumed"}),
    "no-early-data": Tale(why=_AUDITED, asked={"sessions": "early"}),
    "other-curve": _tells("tls"),
    "hybrid-only": _tells("tls"),
    "no-reserved": _NOT_ASKED,
    "no-versions": _NOT_ASKED,
    "retry": _AS_IT_IS,
    "dies": _tells("server-exited", **_MANY),
    "falls": _tells("server-exited", "server-not-ready"),
    "unready": _tells("server-not-ready"),
    "deaf": _tells("killed"),
    "slow-end": _tells("killed"),
    "sorry": _HARMLESS,
    "status-143": _HARMLESS,
    "child": _tells("left-behind"),
    "log-lines": _SPEED,
    "log-flood": _tells("log-cut"),
    "overflow": _SPEED,
    "files": _HARMLESS,
}
"""Of each fault, by its name."""


def told(fault: Fault, folder: Path, certificate: Certificate, pool: Pool) -> set[str]:
    """The words of a trial with this server."""
    server = write_faulty(folder / "faulty", fault)
    asked = {**USUAL, **TALES[fault.name].asked, "server": server.name, "protocol": fault.protocol}
    parameters = Parameters.model_validate(asked)
    make_bodies({parameters.size})
    trials = Trials({**catalogue(), server.name: server}, certificate, pool)
    trial = trials.carry_out(folder / "trial", parameters, PLAIN)
    path = trial.folder / "samples.parquet"
    rows = stored_rows(path) if path.is_file() and not trial.reasons else []
    failed = {_failure(row) for row in rows} - {""}
    return failed | {reason["code"] for reason in [*trial.faults, *trial.report.warnings]}


def _failure(row: Mapping[str, Any]) -> str:
    """How the request failed, in a word; empty: it did not."""
    return str(row["status"]) if row["status"] not in (0, OK) else row["error"].partition(":")[0]
