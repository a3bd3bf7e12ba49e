"""The kind `mix`: requests of several sorts, each as often as its weight says, in an order that a seed decides.

A client is told the order itself, over and over, so that no client needs random numbers: the requests of all users,
counted one user after another, take its entries in turn.
"""

import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from h123.base.files import sizes
from h123.base.roots import mounted
from h123.base.strict import Strict, fault_at
from h123.base.terminal.redaction import hidden
from h123.base.units import format_bytes, format_share
from h123.study.quantities import RESOLVED, Duration, Size
from h123.study.workload.client_file import Target, WorkloadFile
from h123.study.workload.headers import MOST_HEADERS, Header, WrittenHeader, once_each, written_headers
from h123.study.workload.kind import WorkloadKind
from h123.study.workload.load import OK, Count, Exchange, Load, Method, Upload

MOST_ENTRIES = 100
MOST_WEIGHT = 10_000
"""Of all entries together: so long a turn is at most."""
LEAST_ORDER = 1000
"""Entries after which an order may repeat itself, if a turn is shorter."""
ANY = 0
"""A success's status, for clients: any from 200 to 299."""
LONGEST_NAME = 255
"""Of a file, in bytes: Linux has no longer ones."""
_UPLOAD, _BYTES = "/upload", re.compile(r"/bytes/([0-9]{1,12})")


class MixEntry(Strict):
    """`{method: GET, size: 2kB, weight: 90, think: 50ms}`, `{method: POST, path: /orders, body: 20kB, status: 201}`."""

    method: Method = "GET"
    path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=2000)] | None = None
    size: Annotated[Size, Field(ge=1)] | None = None
    """Of a download, instead of a path: `/bytes/<size>`."""
    body: Annotated[Size, Field(ge=1)] | None = None
    """Bytes of an upload."""
    file: str | None = None
    """What is uploaded, instead of made-up bytes: named relative to the study's folder; `body` is then its size."""
    answer: Annotated[Size, Field(ge=0)] | None = None
    """Body bytes that the answer must have; of `size`, and of the path /bytes/<n>, they are known."""
    status: Annotated[Count, Field(ge=200, le=599)] | None = Field(
        default=None, exclude_if=lambda status: status is None
    )
    """That the answer must have; None: any from 200 to 299."""
    weight: Annotated[Count, Field(ge=1, le=MOST_WEIGHT)] = 1
    """How often it is made, relative to the others."""
    think: Duration = 0
    """How long its user waits before it."""
    headers: Annotated[tuple[Header, ...], Field(max_length=MOST_HEADERS), AfterValidator(once_each)] = ()
    """Besides those of the workload, or instead of those of the same name."""

    @model_validator(mode="before")
    @classmethod
    def _with_the_file(cls, value: Any, info: ValidationInfo) -> Any:
        """A file's size is kept, so that no other is sent later."""
        if info.context == RESOLVED or not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if value.get("body") is not None:
            raise fault_at(["file"], "write either `body`, a size, or `file`")
        folder = info.context if isinstance(info.context, Path) else Path()
        path = folder / value["file"]
        if len(Upload(value["file"], 0).name) > LONGEST_NAME:
            raise fault_at(["file"], "the file's path is too long; move it nearer to the study, or rename it")
        if not path.is_file() or path.stat().st_size == 0:
            raise fault_at(["file"], f"there is no file {value['file']}, or it is empty")
        if path.stat().st_size > sizes.UPLOAD:
            raise fault_at(
                ["file"], f"{value['file']} is larger than {format_bytes(sizes.UPLOAD)}; name a smaller file"
            )
        return {**value, "body": path.stat().st_size}

    @model_validator(mode="after")
    def _makes_sense(self) -> "MixEntry":
        if self.method == "GET":
            if self.body is not None:
                raise fault_at(["body" if self.file is None else "file"], "a GET has no body; write `method: POST`")
            if (self.path is None) == (self.size is None):
                raise ValueError("a GET needs either a `path` or a `size`")
        elif self.body is None:
            raise ValueError("a POST needs a `body`, such as 20kB, or a `file`")
        elif self.size is not None:
            raise fault_at(["size"], "a POST has no `size`; write `body`")
        return self

    @property
    def target(self) -> str:
        """The path that is asked for."""
        return self.path or (_UPLOAD if self.method == "POST" else f"/bytes/{self.size}")

    @property
    def down(self) -> int | None:
        """Body bytes of the answer, as far as they are known."""
        return self.served if self.answer is None else self.answer

    @property
    def served(self) -> int | None:
        """Those that the path names."""
        match = _BYTES.fullmatch(self.target) if self.method == "GET" and self.status in (None, OK) else None
        return int(match[1]) if match else None

    @property
    def upload(self) -> Upload | None:
        """The file, where there is one."""
        return Upload(self.file, self.body or 0) if self.file else None

    @property
    def name(self) -> str:
        """`GET 2 kB`, `POST /orders 20 kB`."""
        size = self.body if self.method == "POST" else self.down
        path = None if self.target == _UPLOAD or self.served is not None else hidden(self.target)
        return " ".join(word for word in (self.method, path, format_bytes(size) if size else None) if word)


def _of_measure(entries: tuple[MixEntry, ...]) -> tuple[MixEntry, ...]:
    if sum(_parts(entries)) > MOST_WEIGHT:
        raise ValueError(f"the weights add up to more than {MOST_WEIGHT}; write smaller ones")
    return entries


def _parts(entries: Sequence[MixEntry]) -> list[int]:
    """How often each is made in a turn: the weights, made as small as they can be."""
    common = math.gcd(*(entry.weight for entry in entries))
    return [entry.weight // common for entry in entries]


class MixParameters(Load):
    """What a study says of it."""

    mix: Annotated[tuple[MixEntry, ...], Field(max_length=MOST_ENTRIES), AfterValidator(_of_measure)] = ()
    """Its requests; there is at least one if the workload is of this kind."""


class WrittenMixEntry(BaseModel):
    """One of the requests in workload.json."""

    model_config = ConfigDict(strict=True, defer_build=True)

    method: Method
    path: str
    headers: list[WrittenHeader]
    body_bytes: int
    body_file: str | None
    """Below a root, as all paths of a trial's files."""
    status: int
    think_ns: int


class MixFile(WorkloadFile):
    """workload.json."""

    kind: Literal["mix"]
    mix: list[WrittenMixEntry]
    order: list[int]
    """Whose turn it is, over and over."""


@dataclass(frozen=True)
class Mix(WorkloadKind):
    """What it answers."""

    load: MixParameters

    def exchanges(self) -> Sequence[Exchange]:
        parts = _parts(self.load.mix)
        return [
            Exchange(
                entry.method,
                up=entry.body,
                down=entry.down,
                status=entry.status or OK,
                share=part / sum(parts),
                pause_ns=entry.think,
            )
            for entry, part in zip(self.load.mix, parts, strict=True)
        ]

    def fault(self) -> str | None:
        if not self.load.mix:
            return "a workload of the kind mix needs `mix`, the list of its requests"
        if self.open_loop and any(entry.think for entry in self.load.mix):
            return "requests at a `rate` wait for no user, so none can `think`: leave out one of the two"
        return super().fault()

    def label(self, _: Collection[str] = (), /) -> str:
        if len(self.load.mix) == 1:
            return self.load.mix[0].name
        shares = zip(self.load.mix, self.exchanges(), strict=True)
        return ", ".join(f"{format_share(exchange.share)} {entry.name}" for entry, exchange in shares)

    def served(self) -> Sequence[int]:
        return [entry.served for entry in self.load.mix if entry.served is not None]

    def uploads(self) -> Sequence[Upload]:
        return list(dict.fromkeys(entry.upload for entry in self.load.mix if entry.upload))

    @property
    def has_headers(self) -> bool:
        return super().has_headers or any(entry.headers for entry in self.load.mix)

    def resource(self, number: int, seed: int) -> int:
        turns = order(_parts(self.load.mix), seed)
        return turns[number % len(turns)]

    def file(self, target: Target) -> WorkloadFile:
        return MixFile(
            **{**self.common(target), "headers": []},
            kind="mix",
            mix=[self._entry(entry) for entry in self.load.mix],
            order=order(_parts(self.load.mix), target.seed),
        )

    def _entry(self, entry: MixEntry) -> WrittenMixEntry:
        by_name: Mapping[str, Header] = {header.name: header for header in (*self.load.headers, *entry.headers)}
        return WrittenMixEntry(
            method=entry.method,
            path=entry.target,
            headers=list(written_headers(by_name.values())),
            body_bytes=entry.body or 0,
            body_file=mounted("uploads", entry.upload.name) if entry.upload else None,
            status=entry.status or ANY,
            think_ns=entry.think,
        )


def example(methods: Collection[str], _documents: bool = False, /) -> dict[str, object]:
    """Parameters of a small one, for whoever wants to see a client carry one out with these methods."""
    entries = [
        {"method": "GET", "size": 1000, "weight": 3},
        {"method": "POST", "body": 20_000, "weight": 2},
        {"method": "GET", "path": "/nothing-here", "status": 404, "think": "20ms"},
    ]
    return {"mix": [entry for entry in entries if entry["method"] in methods]}


def order(parts: Sequence[int], seed: int) -> list[int]:
    """Turns one after another, each of which has every index as often as its part says, shuffled by SHA-256."""
    turn = [index for index, part in enumerate(parts) for _ in range(part)]
    turns = -(-LEAST_ORDER // len(turn))
    return [index for number in range(turns) for index in _shuffled(turn, f"{seed} {number}")]


def _shuffled(turn: Sequence[int], seed: str) -> list[int]:
    draws = [hashlib.sha256(f"h123 mix {seed} {place}".encode()).digest() for place in range(len(turn))]
    return [turn[place] for place in sorted(range(len(turn)), key=draws.__getitem__)]
