"""Models the parts of a subject.toml: how to install and start a subject, and which features it declares."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationInfo,
    field_validator,
)

from h123.base.complaints import choose, excerpt
from h123.base.strict import Strict
from h123.base.transport import SETTINGS
from h123.base.units import parse_duration, parse_size
from h123.catalogue.openings import OPENINGS, QUIC, Resumption

PROTOCOLS = ("h1", "h2", "h3")
CONTROLLERS = ("cubic", "reno", "bbr")
FIXED = "fixed"
"""The value for a sender whose window is limited by something other than a congestion controller, so that losses do not
change it."""
PLACEHOLDER = re.compile(r"\{(\w+)\}", re.ASCII)
Item = TypeVar("Item")
Ability = Literal["ttfb", "cold", "process"]
"""An optional ability of a client that a metric may need."""
Tls = Literal["1.2", "1.3"]
NEWEST_TLS: Tls = "1.3"
"""The only TLS version that QUIC uses."""
KeyShare = Literal["X25519", "X25519MLKEM768"]
USUAL_SHARE: KeyShare = "X25519"
LEAST_IDLE_NS = 60 * 10**9
"""The shortest idle time, in ns, after which the contract allows a server to close a connection, unless the server
declares a shorter one."""


def _check_word(word: str, allowed: Sequence[str]) -> str:
    if word not in allowed:
        raise ValueError(f"{word!r} is not allowed; {choose(word, allowed)}")
    return word


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # for example a name that no folder can have
        return False


def _once_each(items: list[Item]) -> list[Item]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"{item!r} is listed twice")
    return items


def _controllers(value: Any) -> Any:
    """Check a word or a list. Raises one error that covers both forms, instead of pydantic's separate errors."""
    if value == "kernel":
        return value
    if not isinstance(value, list) or not value:
        raise ValueError(f'{value!r} is not valid; write "kernel", or a list of {", ".join(CONTROLLERS)}')
    if FIXED in value and len(value) > 1:
        raise ValueError(f"{FIXED} must be the only entry: such a subject has no controller to choose")
    return _once_each([_check_word(name, (*CONTROLLERS, FIXED)) for name in value])


Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Command = Annotated[list[str], Field(min_length=1)]
Protocol = Annotated[str, AfterValidator(lambda name: _check_word(name, PROTOCOLS))]
Multiplexed = Annotated[str, AfterValidator(lambda name: _check_word(name, PROTOCOLS[1:]))]
"""A protocol that carries several requests on a connection at the same time."""
OneOrMore = Annotated[list[Item], Field(min_length=1), AfterValidator(_once_each)]
Controllers = Annotated[Literal["kernel"] | list[str], BeforeValidator(_controllers)]


def _check_placeholders(allowed: set[str]) -> AfterValidator:
    def check(command: list[str]) -> list[str]:
        for name in PLACEHOLDER.findall(" ".join(command)):
            if name not in allowed:
                names = ", ".join(f"{{{each}}}" for each in sorted(allowed))
                raise ValueError(f"unknown placeholder {{{name}}}; the choices are {names}")
        return command

    return AfterValidator(check)


class Install(Strict):
    """The instructions for installing the subject into the cache."""

    needs: list[str] = Field(default=[])
    """Commands that must be on PATH."""
    needs_help: str = ""
    """How to get the needed commands."""
    build: Annotated[Command, _check_placeholders({"prefix"})]
    """The build command, which runs in the subject's folder. `{prefix}` is the folder for the result."""
    part_of: Name | None = None
    """The subject whose build also builds this one. With this key, `install` may have no other key."""
    embedded: StrictBool = False
    """Whether the subject is part of h123 itself and cannot be removed."""
    sources: list[str] = Field(default=[])
    """Other folders that the subject is built from, relative to the subject's folder. If they change, the subject is
    built again."""

    @field_validator("sources")
    @classmethod
    def _are_there(cls, sources: list[str], info: ValidationInfo) -> list[str]:
        folder = info.context
        assert isinstance(folder, Path)
        for source in sources:
            if not _is_folder(folder / source):
                raise ValueError(
                    f'there is no folder {excerpt(source)} next to the subject\'s own; write it as "../NAME"'
                )
        return sources


def _idle(value: object) -> int:
    """Return the declared idle time in ns. It must be at least a second, and less than a minute, because a server
    without a declaration keeps idle connections for a minute or more. Raises ValueError."""
    if not 10**9 <= (span := parse_duration(value)) < LEAST_IDLE_NS:
        raise ValueError(
            f"{excerpt(value)} is not valid; write 1s or more, but less than a minute, which is the default"
        )
    return span


class Limits(Strict):
    """The limits of a server that no option can raise."""

    streams: dict[Multiplexed, Annotated[StrictInt, Field(ge=1)]] = Field(default={})
    """For each protocol, the largest number of simultaneous requests that the server accepts on a connection. Absent:
    100 or more."""
    idle: dict[Protocol, Annotated[int, BeforeValidator(_idle)]] = Field(default={})
    """For each protocol, the idle time after which the server closes a connection. Absent: a minute or more."""


class Server(Strict):
    """The subject as a server."""

    command: Annotated[
        Command,
        _check_placeholders(
            {"prefix", "address", "port", "protocol", "cert", "key", "congestion", *SETTINGS, "qlog", "tls"}
            | {"store", "backend", "seed_bytes", "block", "files", "documents", "upstream", "alt_svc", "key_share"}
            | {"certificate_wait", "instant_ack"}
        ),
    ]
    """A program and its arguments, with placeholders."""
    protocols: OneOrMore[Protocol]
    methods: OneOrMore[Literal["GET", "POST"]] = Field(default=["GET"])
    listens: dict[Protocol, OneOrMore[Literal["tcp", "udp"]]]
    """For each protocol, the sockets that must be listening before the client starts."""
    in_turn: Annotated[list[Literal["h2", "h3"]], AfterValidator(_once_each)] = Field(default=[])
    """The protocols over which the server sends responses one after another, so that an unread response blocks later
    ones."""
    stores: OneOrMore[Literal["memory", "gcs"]] = Field(default=["memory"])
    """Where the server can store the bodies."""
    edge: StrictBool = False
    """Whether the server forwards all requests if `{files}` is empty. A server whose command contains `{upstream}` but
    not `{files}` always forwards them."""
    limits: Limits = Limits()

    @field_validator("limits")
    @classmethod
    def _limit_its_protocols(cls, limits: Limits, info: ValidationInfo) -> Limits:
        cls._is_about_its_protocols({**limits.streams, **limits.idle}, info)
        return limits

    @field_validator("listens")
    @classmethod
    def _check_listening(cls, listens: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        protocols = info.data.get("protocols", [])
        if silent := [protocol for protocol in protocols if protocol not in listens]:
            raise ValueError(f"does not say whether {', '.join(silent)} listens on tcp or udp")
        for protocol, sockets in listens.items():
            needed = "udp" if protocol == "h3" else "tcp"
            if needed not in sockets:
                raise ValueError(f'{protocol} runs over {needed}: write {protocol} = ["{needed}"]')
        return listens

    @field_validator("listens", "in_turn")
    @classmethod
    def _is_about_its_protocols(cls, value: Any, info: ValidationInfo) -> Any:
        if idle := [protocol for protocol in value if protocol not in info.data.get("protocols", [])]:
            raise ValueError(f"{idle[0]} is not one of the server's protocols")
        return value


class Backend(Strict):
    """The subject as a backend, which stores objects for servers. It listens on TCP."""

    command: Annotated[Command, _check_placeholders({"prefix", "address", "port"})]
    stores: OneOrMore[Literal["gcs"]]
    """The storage protocols that the backend supports."""


class Origin(Strict):
    """The subject as the origin of servers that only forward requests. The origin must respond to every request that
    the contract requires servers to answer, over HTTP/1.1 without TLS."""

    command: Annotated[Command, _check_placeholders({"prefix", "address", "port", "documents"})]


class Probe(Strict):
    """The subject as a probe, which tests whether servers do everything that the contract requires
    (docs/contracts/verifications.md)."""

    command: Annotated[Command, _check_placeholders({"prefix", "plan", "checks"})]


class Scout(Strict):
    """The subject as a scout, which examines unknown servers (docs/contracts/scout.md)."""

    command: Annotated[Command, _check_placeholders({"prefix", "plan", "found"})]


class Spoiler(Strict):
    """The subject as a server whose bodies have the right size but wrong bytes. Clients must notice this."""

    command: Annotated[Command, _check_placeholders({"prefix", "body", "address", "port", "protocol", "cert", "key"})]


class Reach(Strict):
    """The limits of a client that no option can raise."""

    streams: dict[Literal["h3"], Annotated[StrictInt, Field(ge=1)]] = Field(default={})
    """The largest number of simultaneous requests that the client has on a connection; further requests wait. Absent:
    no limit."""
    windows: dict[Literal["h3"], Annotated[int, BeforeValidator(parse_size)]] = Field(default={})
    """The largest flow-control window, in bytes, that the client grants for a download: how far the server may be ahead
    of what the client has read. Absent: unknown."""
    certificate: dict[Protocol, Annotated[int, BeforeValidator(parse_size)]] = Field(default={})
    """The largest certificates, in bytes, that the client accepts. Absent: no limit."""


class Client(Strict):
    """The subject as a client."""

    command: Annotated[
        Command, _check_placeholders({"prefix", "workload", "samples", "facts", "congestion", *SETTINGS})
    ]
    protocols: OneOrMore[Protocol]
    methods: OneOrMore[Literal["GET", "POST"]] = Field(default=["GET"])
    kinds: OneOrMore[str] = Field(default=["requests"])
    """The kinds of workloads that the client can carry out."""
    documents: StrictBool = False
    """Whether the client loads pages like a browser, which finds out from documents what to request. Such pages need
    real documents."""
    headers: StrictBool = False
    """Whether the client sends the request headers that a workload names."""
    ttfb: StrictBool = False
    """Whether the client records when the first byte of each response arrived (`first_byte_ns`)."""
    open_loop: StrictBool = False
    """Whether the client can send at a given rate."""
    arrivals: StrictBool = False
    """Whether the client sends each request at the time that the workload sets for it (`gaps_ns`)."""
    per_connection: StrictBool = False
    """Whether the client also sends each request on the connection that the workload assigns to it (`dealt_to`)."""
    abandons: StrictBool = False
    """Whether the client cancels the requests that the workload names (`abandoned`), and no others."""
    retries: StrictBool = False
    """Whether the client retries requests as the workload says (`retry_ns`), and records the number of tries
    (`tries`)."""
    compares: StrictBool = False
    """Whether the client compares every byte of a download with the block. Otherwise it only counts bytes."""
    cold: StrictBool = True
    """Whether the client can first make a cold request on each connection, and record when the connection was ready."""
    process: StrictBool = False
    """Whether the client lets a separate program make the requests, and records when that program started and ended."""
    at_once: dict[Protocol, Annotated[StrictInt, Field(ge=1)]] = Field(default={})
    """For each protocol, the maximum number of simultaneous users. Absent: no limit."""
    reopens: StrictBool = False
    """Whether the client closes HTTP/1.1 connections that are idle for a moment and opens new ones, so that the server
    sees more connections than are open at the same time."""
    any_server: StrictBool = False
    """Whether the client can send requests to servers that are not subjects, with their own names, certificates and
    responses."""
    limits: Reach = Reach()
    sessions: dict[Resumption, OneOrMore[Protocol]] = Field(default={})
    """Maps each way of opening connections for cold requests (resumed sessions, resumed sessions with TCP Fast Open, or
    early data) to the protocols for which the client supports it. Absent: every handshake is a full one."""
    false_start: StrictBool = False
    """Whether, over TLS 1.2, the client sends its first request without waiting for the end of the server's handshake
    (RFC 7918)."""
    fallback: StrictBool = False
    """Whether the client falls back from HTTP/3 to HTTP/2 at the same address if UDP is blocked."""
    remembers: StrictBool = False
    """Whether the client remembers HTTP/3 and TLS sessions for later visits to a page. It discovers HTTP/3 through the
    DNS (HTTPS records), or through the Alt-Svc header in the responses of a server that it first reached over TCP."""
    connections: OneOrMore[Literal["shared", "per-user", "number"]] = Field(default=["shared", "per-user", "number"])
    """The ways in which the client can distribute users over connections."""
    verified_with: Name = "go"
    """The server with which the client is verified, if the built-in one is not suitable."""

    @field_validator("at_once")
    @classmethod
    def _limits_its_protocols(cls, at_once: dict[str, int], info: ValidationInfo) -> dict[str, int]:
        if idle := [protocol for protocol in at_once if protocol not in info.data.get("protocols", [])]:
            raise ValueError(f"{idle[0]} is not one of the client's protocols")
        return at_once

    @field_validator("per_connection")
    @classmethod
    def _check_arrivals(cls, per_connection: bool, info: ValidationInfo) -> bool:
        if per_connection and not info.data.get("arrivals"):
            raise ValueError(
                "arrivals is false: a client that accepts requests' connections must also accept their times"
            )
        return per_connection

    @field_validator("sessions")
    @classmethod
    def _resumes_what_it_speaks(
        cls, tickets: dict[Resumption, list[str]], info: ValidationInfo
    ) -> dict[Resumption, list[str]]:
        spoken = info.data.get("protocols", [])
        if idle := [protocol for protocols in tickets.values() for protocol in protocols if protocol not in spoken]:
            raise ValueError(f"{idle[0]} is not one of the client's protocols")
        for way, protocols in tickets.items():
            if hasty := [protocol for protocol in protocols if protocol not in tickets.get("resumed", [])]:
                raise ValueError(f"{hasty[0]} is {way} but not resumed: only a resumed session allows that")
            if without := [protocol for protocol in protocols if protocol not in OPENINGS[way].protocols]:
                raise ValueError(f"{without[0]} is {way}, but has no {OPENINGS[way].title}")
        return tickets

    @field_validator("fallback")
    @classmethod
    def _has_both(cls, fallback: bool, info: ValidationInfo) -> bool:
        if fallback and not {QUIC, "h2"} <= {*info.data.get("protocols", [])}:
            raise ValueError("a fallback is from h3 to h2: the client must list both among its protocols")
        return fallback

    @field_validator("remembers")
    @classmethod
    def _visits_over_both(cls, remembers: bool, info: ValidationInfo) -> bool:
        able = {*info.data.get("protocols", []), *info.data.get("kinds", [])}
        if remembers and not {QUIC, "h2", "page"} <= able:
            raise ValueError("only visits show what a client remembers of HTTP/3: it needs the kind page, h2 and h3")
        return remembers


class Features(Strict):
    """The optional features that the subject declares."""

    congestion: dict[Protocol, Controllers] = Field(default={})
    """The congestion control by protocol: "kernel" (whatever the lab sets), the controllers that the subject offers
    with its default first, or only "fixed" if losses do not change the window. Absent: "kernel"; over h3, a sender of
    bodies must list them."""
    initial_window: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the subject, as a sender, accepts an initial window in packets. For TCP, the lab sets
    the window."""
    pacing: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the subject, as a sender, can switch off pacing."""
    max_datagram: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the subject, as a sender, accepts a packet size and then does not probe for a larger
    one."""
    clocks: OneOrMore[Literal["wall", "virtual"]] = Field(default=["wall"])
    """The clocks under which the subject runs. A program that polls instead of waiting stops the virtual clock."""
    tls: OneOrMore[Tls] = Field(default=["1.3"])
    """The TLS versions that the subject can be limited to; 1.2 only over h1 and h2."""
    key_shares: OneOrMore[KeyShare] = Field(default=[USUAL_SHARE])
    """The key exchanges of TLS 1.3 that the subject can be limited to."""
    certificate_wait: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the server can wait for its certificate, before or after it acknowledges the client's
    first message."""
    resumption: Annotated[list[Protocol], AfterValidator(_once_each)] = Field(default=[])
    """The protocols over which the server resumes TLS sessions."""
    zero_rtt: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the server accepts a request in the first flight of a resumed session. This is not
    tested over TCP."""
    qlog: list[Literal["h3"]] = Field(default=[], max_length=1)
    """The protocols over which the server can write qlog files."""

    @field_validator("clocks")
    @classmethod
    def _have_the_wall(cls, clocks: list[str]) -> list[str]:
        if "wall" not in clocks:
            raise ValueError("wall is missing; every subject runs under it")
        return clocks


class Part(Strict):
    """Third-party code in the subject's installation."""

    name: str
    version: str
    licence: str
