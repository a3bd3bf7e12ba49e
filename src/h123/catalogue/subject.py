"""Models a subject: an implementation under test, as its subject.toml describes it."""

from pathlib import Path
from typing import Any

from pydantic import (
    Field,
    PrivateAttr,
    model_validator,
)

from h123.base.strict import Strict, fault_at
from h123.base.transport import SETTINGS
from h123.catalogue.manifest import (
    CONTROLLERS,
    Backend,
    Client,
    Features,
    Install,
    Name,
    Origin,
    Part,
    Probe,
    Scout,
    Server,
    Spoiler,
)
from h123.catalogue.openings import QUIC


class Subject(Strict):
    """The description of a subject, from its folder below subjects/."""

    name: Name
    """The name of the subject and of its folder."""
    title: str
    stack: str
    """The subject's QUIC stack, if any."""
    language: str
    version: str
    home: str
    licence: str
    """The licence, as an SPDX expression."""
    note: str = ""
    """Further remarks for readers of the catalogue."""
    install: Install
    """How to install the subject into the cache."""
    server: Server | None = None
    """The subject as a server."""
    client: Client | None = None
    """The subject as a client."""
    backend: Backend | None = None
    """The subject as a backend, which stores objects for servers."""
    origin: Origin | None = None
    """The subject as the origin behind proxies. It uses HTTP/1.1 without TLS."""
    probe: Probe | None = None
    """The subject as a probe, which tests servers for `h123 verify`."""
    scout: Scout | None = None
    """The subject as a scout, which examines unknown servers."""
    spoiler: Spoiler | None = None
    """The subject as a spoiler, which sends wrong bodies to clients for `h123 verify`."""
    features: Features = Features()
    """The optional features that the subject declares."""
    parts: list[Part] = Field(default=[])
    """All third-party code in the installation."""
    parts_note: str = ""
    """Where to find the list of the parts that `parts` does not name."""
    _folder: Path = PrivateAttr()

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def installed_as(self) -> str:
        """The name of the subject's installation: the name of its parent subject if it has one, otherwise its own."""
        return self.install.part_of or self.name

    @property
    def workshop(self) -> Path:
        """The source folder in which the installation is built."""
        return self._folder.with_name(self.installed_as)

    def model_post_init(self, context: Any) -> None:
        """Take the subject's folder from the validation context, because the manifest does not contain it."""
        self._folder = context

    @model_validator(mode="after")
    def _is_usable(self) -> "Subject":
        if not any((self.server, self.client, self.backend, self.origin, self.probe, self.scout, self.spoiler)):
            roles = "[server], [client], [backend], [origin], [probe], [scout] or [spoiler]"
            raise ValueError(f"a subject needs a {roles} section")
        self._check_features()
        self._check_settings()
        self._check_tls()
        self._check_tcp_controllers()
        self._check_quic_controllers()
        return self

    def _check_features(self) -> None:
        """Check that the subject supports each feature's protocols in the feature's roles."""
        served = self.server.protocols if self.server else []
        spoken = [*served, *(self.client.protocols if self.client else [])]
        features = self.features
        for key, values, possible in (
            ("resumption", features.resumption, served),
            ("zero_rtt", features.zero_rtt, served),
            ("qlog", features.qlog, served),
            ("certificate_wait", features.certificate_wait, served),
            ("congestion", features.congestion, spoken),
            *((name, getattr(features, name), spoken) for name in SETTINGS),
        ):
            if idle := [protocol for protocol in values if protocol not in possible]:
                whose = "its" if possible is spoken else "the server's"
                raise fault_at(["features", key], f"features.{key}: {idle[0]} is not one of {whose} protocols")

    def _check_settings(self) -> None:
        """Check that a setting is declared if and only if a command contains its placeholder."""
        words = [word for role in (self.server, self.client) if role for word in role.command]
        for name in SETTINGS:
            takes_it = f"{{{name}}}" in " ".join(words)
            if takes_it != bool(getattr(self.features, name)):
                what = (
                    "no command uses the placeholder"
                    if not takes_it
                    else "it is missing, but a command uses the placeholder"
                )
                raise fault_at(["features", name], f"features.{name}: {what} {{{name}}}")

    def _check_tls(self) -> None:
        """Check that the server's command contains a placeholder of TLS if and only if the subject supports more than
        one value for it."""
        if self.server is None:
            return
        words, features = " ".join(self.server.command), self.features
        for feature, word, values in (
            ("tls", "{tls}", features.tls),
            ("key_shares", "{key_share}", features.key_shares),
            ("certificate_wait", "{certificate_wait}", [None, *features.certificate_wait]),
            ("certificate_wait", "{instant_ack}", [None, *features.certificate_wait]),
        ):
            takes_it = word in words
            if takes_it != (len(values) > 1):
                what = "no command uses the placeholder" if not takes_it else "there is no choice, but the command uses"
                raise fault_at(["features", feature], f"features.{feature}: {what} {word}")

    def _check_tcp_controllers(self) -> None:
        if own := [
            name for name, controllers in self.features.congestion.items() if name != QUIC and controllers != "kernel"
        ]:
            what = f'{own[0]} can only be "kernel": the lab sets TCP\'s controller on every host'
            raise fault_at(["features", "congestion"], f"features.congestion: {what}")

    def _check_quic_controllers(self) -> None:
        """Check that a subject that sends bodies over QUIC lists its own congestion controllers, because the kernel has
        none for QUIC."""
        controllers = self.features.congestion.get(QUIC)
        roles = ((self.server, "GET"), (self.client, "POST"))
        senders = [role for role, method in roles if role and method in role.methods]
        if controllers == "kernel" or (controllers is None and any(QUIC in role.protocols for role in senders)):
            what = f"{QUIC} needs a list of {', '.join(CONTROLLERS)}, its default first"
            raise fault_at(["features", "congestion"], f"features.congestion: {what}: QUIC cannot use the kernel's")
