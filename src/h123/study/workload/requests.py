"""Defines the `requests` kind: all requests of a workload are downloads, or uploads, of one size."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from h123.base.units import format_bytes
from h123.catalogue import FULL, QUIC, Resumption, Sessions
from h123.study.quantities import Size
from h123.study.workload.client_file import Target, WorkloadFile
from h123.study.workload.kind import WorkloadKind
from h123.study.workload.load import Exchange, Load, Method


class RequestsParameters(Load):
    """The parameters of the `requests` kind."""

    method: Method = "GET"
    size: Annotated[Size, Field(ge=1)] = 100_000
    """The size of the body that each request sends (POST) or receives (GET)."""
    sessions: Sessions = FULL
    """full: every handshake is a full one. resumed: each connection resumes the session of an earlier connection, which
    no sample records. fast-open: in addition, TLS starts in TCP's first packet. early: the first request is sent before
    the handshake is complete."""
    fallback: StrictBool = False
    """Whether the server also supports HTTP/2 at the same address, and the client, which prefers HTTP/3, may use it."""


class RequestsFile(WorkloadFile):
    """The content of workload.json for the `requests` kind, and for version 1, which had only this kind."""

    kind: Literal["requests"] = "requests"
    method: Method
    path: str
    upload_bytes: int
    """The size of a POST's body."""
    sessions: Resumption | None = None
    """The way in which connections are opened. Present only if handshakes are not full."""


@dataclass(frozen=True)
class Requests(WorkloadKind):
    """A workload of the `requests` kind."""

    load: RequestsParameters

    @property
    def sessions(self) -> str:
        return self.load.sessions or FULL

    @property
    def _resumes(self) -> bool:
        return self.sessions != FULL

    def fault(self) -> str | None:
        if self._resumes and not self.load.cold:
            return f"`sessions: {self.load.sessions}` needs cold requests: leave out `cold: false`"
        if self.load.protocol not in self.opening.protocols:
            return self.opening.refusal
        if self.early and self.load.method != "GET":
            return "early data can be replayed, so it may only contain a GET: leave out `method`, or `sessions: early`"
        if self.load.fallback and self.load.protocol != QUIC:
            return f"`fallback` is from HTTP/3 to HTTP/2: leave it out for {self.load.protocol}"
        if self.load.fallback and self._resumes:
            return "a connection that falls back makes a full handshake: leave out `sessions`, or `fallback`"
        return super().fault()

    @property
    def fallback(self) -> Literal["h2"] | None:
        return "h2" if self.load.fallback else None

    def connections_uncounted(self) -> int:
        return int(self._resumes)

    def exchanges(self) -> Sequence[Exchange]:
        method, size = self.load.method, self.load.size
        return [Exchange(method, up=size) if method == "POST" else Exchange(method, down=size)]

    def label(self, unknown: Collection[str] = (), /) -> str:
        facts = {
            "method": self.load.method,
            "size": self.load.size and format_bytes(self.load.size),
            "sessions": self._resumes and f"({self.load.sessions} sessions)",
            "fallback": self.load.fallback and "(or over HTTP/2)",
        }
        return " ".join(str(word) for name, word in facts.items() if word and name not in unknown) or "requests"

    def served(self) -> Sequence[int]:
        return [self.load.size] if self.load.method == "GET" else []

    def file(self, target: Target) -> WorkloadFile:
        get, size = self.load.method == "GET", self.load.size
        return RequestsFile(
            **self.common(target)
            | ({"sessions": self.load.sessions} if self._resumes else {})
            | {"protocol": "-or-".join(self.protocols())},
            kind="requests",
            method=self.load.method,
            path=f"/bytes/{size}" if get else "/upload",
            upload_bytes=0 if get else size,
        )
