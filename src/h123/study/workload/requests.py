"""The kind `requests`: all requests of a workload are the same one, a download or an upload of one size."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from h123.study.quantities import Size
from h123.study.workload.kind import Exchange, Kind, Load, Method, Target, WorkloadFile
from h123.units import format_bytes


class RequestsParameters(Load):
    """What a study says of it."""

    method: Method = "GET"
    size: Annotated[Size, Field(ge=1)] = 100_000
    """Body bytes of one request (POST: sent, GET: received)."""


class RequestsFile(WorkloadFile):
    """workload.json; of its version 1, too, which knew no other kind."""

    kind: Literal["requests"] = "requests"
    method: Method
    path: str
    upload_bytes: int


@dataclass(frozen=True)
class Requests(Kind):
    """What it answers."""

    load: RequestsParameters

    def exchanges(self) -> Sequence[Exchange]:
        method, size = self.load.method, self.load.size
        return [Exchange(method, up=size) if method == "POST" else Exchange(method, down=size)]

    def label(self, unknown: Collection[str] = (), /) -> str:
        known = {"method": self.load.method, "size": self.load.size and format_bytes(self.load.size)}
        return " ".join(str(word) for name, word in known.items() if word and name not in unknown) or "requests"

    def served(self) -> Sequence[int]:
        return [self.load.size] if self.load.method == "GET" else []

    def file(self, target: Target) -> WorkloadFile:
        get, size = self.load.method == "GET", self.load.size
        return RequestsFile(
            **self.common(target),
            kind="requests",
            method=self.load.method,
            path=f"/bytes/{size}" if get else "/upload",
            upload_bytes=0 if get else size,
        )
