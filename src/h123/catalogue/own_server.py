"""Handles servers that a study describes itself, without the catalogue. h123 starts such a server without changes, or
sends requests to one that is already running."""

import ipaddress
import os
import re
import shlex
import shutil
import socket
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from h123.base.errors import UserError
from h123.base.paths import real
from h123.base.roots import is_mounted
from h123.base.strict import Strict
from h123.base.units import parse_duration
from h123.catalogue.manifest import Install, OneOrMore, Protocol, Server
from h123.catalogue.openings import QUIC
from h123.catalogue.subject import Subject

HTTPS = 443
_NETWORK = ("--network", "--net")
"""Podman's options that choose a container's network."""
_PROCESSES = ("--pid",)
"""Podman's option that chooses a container's process namespace."""
_HOST = r"^[A-Za-z0-9_:]([A-Za-z0-9._:-]*[A-Za-z0-9_:])?$"
"""Matches a host name or an IP address. Colons occur in IPv6 addresses."""
_PORT = re.compile(r"tcp:([0-9]{1,9})")
"""Matches a value of `ready` that names a port rather than a string in the output."""


def _words(command: str) -> str:
    try:
        if not shlex.split(command):
            raise ValueError("is empty; write a program and its arguments")
    except ValueError as error:
        raise ValueError(f"{command!r} is not a valid command line: {error}") from None
    return command


def _awaited(ready: str) -> str:
    if (port := _PORT.fullmatch(ready)) and not 1 <= int(port[1]) <= 65535:
        raise ValueError(f"{ready!r}: ports are from 1 to 65535")
    return ready


def _ip(address: str) -> str:
    return str(ipaddress.ip_address(address))


def _is_here(address: str) -> bool:
    """Return whether an address belongs to this machine, so that a socket can bind to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as attempt:
        try:
            attempt.bind((address, 0))
        except OSError:
            return False
    return True


class OwnServer(Strict):
    """The description of a server in a study: how to start it, and how clients reach it."""

    command: Annotated[str, AfterValidator(_words)] | None = Field(default=None, exclude_if=lambda words: words is None)
    """A program and its arguments, quoted as in a shell. No shell runs it, so it cannot use variables, patterns or
    redirections."""
    subject: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The subject whose installation the command uses. With this and the folder `/`, other machines can run the server
    too."""
    address: Annotated[str, AfterValidator(_ip)] | None = Field(default=None, exclude_if=lambda ip: ip is None)
    """The IP address, as seen from this machine, of a server that is already running. It replaces the command. The
    server uses the study's port."""
    allow_remote_load: bool = Field(default=False, exclude_if=lambda may: not may)
    """Confirms that load may be sent to a server that runs on another machine."""
    folder: str = Field(default=".", min_length=1)
    """The working directory, relative to the study's folder."""
    environment: dict[str, str] = Field(default={})
    """Environment variables in addition to h123's own."""
    host: Annotated[str, Field(pattern=_HOST, max_length=255)]
    """The host in the URLs of requests."""
    sni: Annotated[str, Field(pattern=_HOST, max_length=255)] | None = None
    """The server name in TLS. Absent: the host."""
    protocols: OneOrMore[Protocol]
    http3_port: Annotated[int, Field(strict=True, ge=1, le=65_535)] | None = Field(
        default=None, exclude_if=lambda port: port is None
    )
    """The UDP port for HTTP/3. Absent: the study's port."""
    ready: Annotated[str, AfterValidator(_awaited)] | None = None
    """What shows that the server is ready, in addition to its open ports: a string in its output, or another open TCP
    port (`tcp:8080`)."""
    starts_within: Annotated[int, BeforeValidator(parse_duration), Field(gt=0)] = 30 * 10**9
    """The longest time that the server may take to become ready."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.address is None):
            raise ValueError("it needs either a `command` that starts it or the `address` at which it runs")
        if self.address is not None and (self.environment or self.ready):
            raise ValueError("a server with an `address` is not started: leave out `environment` and `ready`")
        if self.http3_port is not None and QUIC not in self.protocols:
            raise ValueError("`http3_port` requires a server that speaks h3")
        return self

    @field_validator("folder")
    @classmethod
    def _absolute(cls, folder: str, info: ValidationInfo) -> str:
        """Make the folder absolute. A campaign can be moved, but the programs that it starts stay where they are."""
        return str(real(info.context / folder)) if isinstance(info.context, Path) else folder

    @field_serializer("starts_within")
    def _with_unit(self, starts_within: int) -> str:
        return f"{starts_within}ns"

    @property
    def words(self) -> list[str]:
        """The command line that starts the server in its own folder. The lab starts each role in a folder of the
        trial."""
        words = shlex.split(self.command or "")
        # `env` takes a program whose path contains = for a variable.
        started = ["sh", "-c", 'exec "$@"', "h123"] if words and "=" in words[0] else []
        return ["env", "-C", self.folder, "--", *started, *words]

    @property
    def writes(self) -> list[str]:
        """The folders in which changes are kept after a trial: the server's working directory, unless that is the
        user's home or contains it."""
        users = ("~", f"~{os.environ.get('SUDO_USER', '')}")
        # A user without a home folder stays as written.
        homes = [Path(os.path.expanduser(user)) for user in users]  # noqa: PTH111
        holds_a_home = any(real(home).is_relative_to(self.folder) for home in homes if home.is_absolute())
        return [] if holds_a_home else [self.folder]

    @property
    def travels(self) -> bool:
        """Whether other machines can run the server, because h123 installs its program there."""
        return self.subject is not None and self.folder == "/"

    @property
    def label(self) -> str:
        return self.command or f"a server at {self.address}"

    @property
    def tcp(self) -> bool:
        """Whether the server listens on TCP. A user's server listens for all its protocols in every trial."""
        return any(protocol != QUIC for protocol in self.protocols)

    @property
    def udp(self) -> bool:
        return QUIC in self.protocols

    def port_of(self, protocol: str | None, port: int) -> int:
        """Return the port on which the server speaks a protocol. `port` is the study's port."""
        return (protocol == QUIC and self.http3_port) or port

    @property
    def ready_port(self) -> int | None:
        """The TCP port to wait for: once it accepts connections at any address, the server is ready. None if the study
        names no such port."""
        match = _PORT.fullmatch(self.ready or "")
        return int(match[1]) if match else None

    @property
    def ready_line(self) -> str | None:
        """The text to wait for: once the server's output contains it, the server is ready. None if the study names no
        such text."""
        return None if self.ready_port else self.ready

    def authority(self, port: int) -> str:
        """Return the authority for the URLs of requests: the host, and the port unless it is 443."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if port == HTTPS else f"{host}:{port}"

    def check(self) -> None:
        """Raise UserError if the server cannot be started, or if load must not be sent to it."""
        if self.command is None:
            self._check_consent()
            return
        words = shlex.split(self.command)
        folder, program = Path(self.folder), words[0]
        if is_mounted(program):
            return  # a subject's program, which the lab mounts
        if not folder.is_dir():
            raise UserError(f"the server's folder {folder} does not exist", remedy="name another one")
        own = folder / program if "/" in program else None
        path = self.environment.get("PATH", os.environ.get("PATH"))
        on_path = own is None and shutil.which(program, path=path) is not None
        check_container(words, on_path or (own is not None and own.is_file()))
        if own is None and not on_path:
            near = f"; write ./{program} for the one in {folder}" if (folder / program).exists() else ""
            raise UserError(
                f"there is no program {program} on PATH", remedy=f"name the server's program by its path{near}"
            )
        if own is not None and not own.is_file():
            raise UserError(
                f"there is no program {own}",
                remedy="build it first, or give its folder: --cwd DIR (in a study, `folder`)",
            )
        if own is not None and not os.access(own, os.X_OK):
            raise UserError(
                f"{own} is not executable", remedy=f"chmod +x {shlex.quote(str(own))}, or give the program that runs it"
            )

    def _check_consent(self) -> None:
        if not self.allow_remote_load and not _is_here(self.address or ""):
            raise UserError(
                f"the server at {self.address} is not on this machine: thousands of requests would load it, and might "
                "look like an attack",
                remedy="if it is yours or its owner agrees: --allow-remote-load (in a study `allow_remote_load: true`)",
            )


class OwnSubject(Subject):
    """The user's server as a subject, for use in trials."""

    own: OwnServer

    def _check_quic_controllers(self) -> None:
        """Accept a server without a list of congestion controllers, because those of a user's server are unknown."""


def own_subjects(servers: Mapping[str, OwnServer]) -> dict[str, Subject]:
    """Return a subject for each server that a study describes, by name."""
    return {name: _subject(name, server) for name, server in servers.items()}


def _subject(name: str, server: OwnServer) -> OwnSubject:
    listens = {protocol: ["udp" if protocol == QUIC else "tcp"] for protocol in server.protocols}
    return OwnSubject(
        name=name,
        title=server.label,
        stack="not known",
        language="not known",
        version="as it is",
        home="",
        licence="",
        install=Install(build=["true"]),
        server=Server.model_validate(
            {"command": ["true"], "protocols": server.protocols, "methods": ["GET", "POST"], "listens": listens}
        ),
        features={"clocks": ["wall", *(["virtual"] if server.command else [])]},  # type: ignore[arg-type]
        own=server,
    )


def check_container(words: Sequence[str], installed: bool) -> None:
    """Raise UserError if the command starts a server with docker or podman in a way that makes it unreachable for the
    lab's clients. `installed` says whether the program is on this machine."""
    engine = PurePath(words[0]).name
    if engine == "docker":
        raise UserError(
            "docker's daemon runs its containers outside the lab, where the lab's clients cannot reach them",
            remedy="use `podman run --rm --network host --pid host IMAGE`, or start the container yourself with "
            "`docker run -p 8443:8443 -p 8443:8443/udp IMAGE` and give only --url",
        )
    if engine == "podman" and not installed:
        raise UserError(
            "podman is not on this machine",
            remedy="install it (Debian: `apt install podman`); or start the image with docker, with its port "
            "published, and give only --url; or give the server's program itself",
        )
    if engine == "podman" and "run" in words:
        remedy = "`podman run --rm --network host --pid host IMAGE`: the host is the lab's"
        if not _of_the_host(words, _NETWORK):
            raise UserError("the container would have its own network, which the lab's clients cannot reach", remedy)
        if not _of_the_host(words, _PROCESSES):
            raise UserError("the container would need its own /proc, which no program can mount in the lab", remedy)


def _of_the_host(words: Sequence[str], options: Sequence[str]) -> bool:
    apart = any(name in options and value == "host" for name, value in pairwise(words))
    return apart or any(word in [f"{name}=host" for name in options] for word in words)
