"""A subject: an implementation under test, as its subject.toml describes it."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Command = Annotated[list[str], Field(min_length=1)]
Protocol = str
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
INSTALL_PLACEHOLDERS = {"prefix"}
SERVER_PLACEHOLDERS = {"prefix", "address", "port", "protocol", "cert", "key", "congestion"}
CLIENT_PLACEHOLDERS = {"prefix", "workload", "samples", "facts", "congestion"}


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Install(_Manifest):
    """How the subject gets into the cache."""

    needs: list[str] = []
    """Commands that must be on PATH."""
    needs_help: str = ""
    """How to get them."""
    build: Command
    """Run in the subject's folder; `{prefix}` is where the result belongs."""
    embedded: StrictBool = False
    """Part of the project itself."""


class Server(_Manifest):
    """The subject as a server."""

    command: Command
    protocols: Annotated[list[Protocol], Field(min_length=1)]
    methods: list[Literal["GET", "POST"]] = ["GET"]
    listens: dict[Protocol, list[Literal["tcp", "udp"]]]
    """By protocol, the sockets that must be listening before the client starts."""

    @model_validator(mode="after")
    def _says_what_ready_means(self) -> "Server":
        silent = [protocol for protocol in self.protocols if not self.listens.get(protocol)]
        if silent:
            raise ValueError(f"`listens` does not say what {', '.join(silent)} listens on: tcp or udp")
        return self


class Client(_Manifest):
    """The subject as a client."""

    command: Command
    protocols: Annotated[list[Protocol], Field(min_length=1)]
    methods: list[Literal["GET", "POST"]] = ["GET"]
    ttfb: StrictBool = False
    """Writes first_byte_ns."""
    open_loop: StrictBool = False
    """Can send at a given rate."""


class Features(_Manifest):
    """What else can be chosen."""

    congestion: dict[Protocol, Literal["kernel"] | list[str]] = {}
    """By protocol: "kernel", whatever the lab sets, or those that the subject itself offers. Absent: not known."""


class Subject(_Manifest):
    """One folder below subjects/."""

    name: Name
    title: str
    stack: str
    language: str
    version: str
    home: str
    licence: str
    install: Install
    server: Server | None = None
    client: Client | None = None
    features: Features = Features()
    folder: Path = Field(exclude=True)
    """Where its sources are."""

    @model_validator(mode="after")
    def _is_usable(self) -> "Subject":
        if self.server is None and self.client is None:
            raise ValueError("a subject needs a [server] or a [client] section, or both")
        commands = [("install.build", self.install.build, INSTALL_PLACEHOLDERS)]
        if self.server:
            commands.append(("server.command", self.server.command, SERVER_PLACEHOLDERS))
        if self.client:
            commands.append(("client.command", self.client.command, CLIENT_PLACEHOLDERS))
        for where, command, allowed in commands:
            for unknown in set(PLACEHOLDER.findall(" ".join(command))) - allowed:
                known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
                raise ValueError(f"{where}: unknown placeholder {{{unknown}}}; allowed: {known}")
        return self
