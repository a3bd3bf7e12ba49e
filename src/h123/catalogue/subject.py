"""A subject: an implementation under test, as its subject.toml describes it."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, ValidationInfo, field_validator, model_validator

from h123.strict import Strict

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Command = Annotated[list[str], Field(min_length=1)]
Protocol = str
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def _known_placeholders(allowed: set[str]) -> AfterValidator:
    def check(command: list[str]) -> list[str]:
        for name in PLACEHOLDER.findall(" ".join(command)):
            if name not in allowed:
                known = ", ".join(f"{{{each}}}" for each in sorted(allowed))
                raise ValueError(f"unknown placeholder {{{name}}}; allowed: {known}")
        return command

    return AfterValidator(check)


class Install(Strict):
    """How the subject gets into the cache."""

    needs: list[str] = Field(default=[])
    """Commands that must be on PATH."""
    needs_help: str = ""
    """How to get them."""
    build: Annotated[Command, _known_placeholders({"prefix"})]
    """Run in the subject's folder; `{prefix}` is where the result belongs."""
    embedded: StrictBool = False
    """Part of the project itself."""
    sources: list[str] = Field(default=[])
    """Other folders that it is built from, relative to its own: a change there makes it stale too."""


class Server(Strict):
    """The subject as a server."""

    command: Annotated[
        Command,
        _known_placeholders(
            {"prefix", "address", "port", "protocol", "cert", "key", "congestion", "qlog"}
            | {"store", "backend", "seed_bytes", "block", "files", "upstream"}
        ),
    ]
    protocols: Annotated[list[Protocol], Field(min_length=1)]
    methods: list[Literal["GET", "POST"]] = Field(default=["GET"])
    listens: dict[Protocol, list[Literal["tcp", "udp"]]]
    """By protocol, the sockets that must be listening before the client starts."""
    in_turn: list[Protocol] = Field(default=[])
    """Where it sends the answers on a connection one after another: one that is not read holds up the others."""
    stores: Annotated[list[Literal["memory", "gcs"]], Field(min_length=1)] = Field(default=["memory"])
    """Where it can keep the bodies."""

    @field_validator("listens")
    @classmethod
    def _says_what_ready_means(cls, listens: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        silent = [protocol for protocol in info.data.get("protocols", []) if not listens.get(protocol)]
        if silent:
            raise ValueError(f"does not say what {', '.join(silent)} listens on: tcp or udp")
        return listens


class Backend(Strict):
    """The subject as what stands behind a server and keeps its objects. It listens on TCP."""

    command: Annotated[Command, _known_placeholders({"prefix", "address", "port"})]
    stores: Annotated[list[Literal["gcs"]], Field(min_length=1)]
    """Whose protocol it speaks."""


class Origin(Strict):
    """The subject as what stands behind a server that only passes requests on: all that servers answer, over HTTP/1.1
    without TLS."""

    command: Annotated[Command, _known_placeholders({"prefix", "address", "port"})]


class Probe(Strict):
    """The subject as what asks servers for all that the contract promises (docs/contracts.md, section 4)."""

    command: Annotated[Command, _known_placeholders({"prefix", "plan", "checks"})]


class Client(Strict):
    """The subject as a client."""

    command: Annotated[Command, _known_placeholders({"prefix", "workload", "samples", "facts", "congestion"})]
    protocols: Annotated[list[Protocol], Field(min_length=1)]
    methods: list[Literal["GET", "POST"]] = Field(default=["GET"])
    ttfb: StrictBool = False
    """Writes first_byte_ns."""
    open_loop: StrictBool = False
    """Can send at a given rate."""
    cold: StrictBool = True
    """Can make a cold request on each connection first, and tell when the connection was ready."""
    connections: Annotated[list[Literal["shared", "per-user", "number"]], Field(min_length=1)] = Field(
        default=["shared", "per-user", "number"]
    )
    """Ways in which it can spread users over connections."""
    verified_with: Name = "go"
    """The server that it is verified against, where the embedded one will not do."""


class Features(Strict):
    """What else can be chosen."""

    congestion: dict[Protocol, Literal["kernel"] | list[str]] = Field(default={})
    """By protocol: "kernel", whatever the lab sets, or those that the subject offers, first the one that it has by
    itself. Absent: "kernel"."""
    clocks: list[Literal["wall", "virtual"]] = Field(default=["wall"])
    """Under which it has been seen to run; a program that waits by spinning stops the virtual one."""
    resumption: list[Protocol] = Field(default=[])
    """Where the server resumes TLS sessions."""
    zero_rtt: list[Protocol] = Field(default=[])
    """Where the server accepts a request in the first flight of a resumed session."""
    qlog: list[Protocol] = Field(default=[])
    """Where the server can write qlog files."""


class Part(Strict):
    """Something that others made and that the installation contains."""

    name: str
    version: str
    licence: str


class Subject(Strict):
    """One folder below subjects/."""

    name: Name
    title: str
    stack: str
    language: str
    version: str
    home: str
    licence: str
    note: str = ""
    """What else a reader of the catalogue must know."""
    install: Install
    server: Server | None = None
    client: Client | None = None
    backend: Backend | None = None
    origin: Origin | None = None
    probe: Probe | None = None
    features: Features = Features()
    parts: list[Part] = Field(default=[])
    parts_note: str = ""
    """Where the parts are listed that are not named here."""
    folder: Path = Field(exclude=True)
    """Where its sources are."""

    @model_validator(mode="after")
    def _is_usable(self) -> "Subject":
        if not (self.server or self.client or self.backend or self.origin or self.probe):
            raise ValueError("a subject needs a [server], [client], [backend], [origin] or [probe] section, or several")
        return self
