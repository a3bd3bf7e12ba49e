"""Servers that keep the contract but for one fault (`peer/faults.go`), as subjects to be verified."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adversary.trial import listed, peer
from h123.catalogue import Subject, catalogue, install, read_subject
from h123.trial import LocalEngine
from h123.verification.question import LARGE
from h123.verification.result import Result
from h123.verification.server import verify_server

_MANIFEST = """\
h123 = "subject/1"
name = "NAME"
title = "Keeps the contract, but for one fault"
stack = "quic-go"
language = "Go"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"

[install]
build = ["true"]

[server]
command = ["PEER", "keep", "--but", "FAULT", "--protocol", "{protocol}", "--address", "{address}", "--port", "{port}",
           "--cert", "{cert}", "--key", "{key}"]
protocols = ["PROTOCOL"]
methods = ["GET", "POST"]
listens = {PROTOCOL = ["LISTENS"]}

[features]
congestion = {PROTOCOL = CONGESTION}
clocks = CLOCKS
resumption = ["PROTOCOL"]
"""

_FALLBACK = """\
h123 = "subject/1"
name = "NAME"
title = "Tries HTTP/3 first, in vain"
stack = "quic-go"
language = "Go"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"

[install]
build = ["true"]

[client]
command = ["PEER", "fallback", "--workload", "{workload}", "--samples", "{samples}", "--facts", "{facts}"]
protocols = ["h1", "h2"]
methods = ["GET"]

[features]
congestion = {h1 = "kernel", h2 = "kernel"}
clocks = ["wall", "virtual"]
"""


@dataclass(frozen=True)
class Fault:
    """What one of the servers does wrong, over one protocol."""

    name: str
    does: str
    protocol: str
    found: str
    """The check that fails; empty: none does."""
    unasked: str
    """Why no check finds it; empty: one does."""
    virtual: bool
    """It shows under the virtual clock alone."""

    def __str__(self) -> str:
        return f"{self.name}-{self.protocol}"


def faults() -> list[Fault]:
    """All that there are."""
    return [
        Fault(one["name"], one["does"], protocol, one["found"], one["unasked"], one["virtual"])
        for one in listed()["faults"]
        for protocol in one["protocols"]
    ]


def write_faulty(folder: Path, fault: Fault) -> Subject:
    """The subject with this fault, in a new folder."""
    over_quic = fault.protocol == "h3"
    words = {
        "NAME": folder.name,
        "PEER": str(peer()),
        "FAULT": fault.name,
        "PROTOCOL": fault.protocol,
        "LISTENS": "udp" if over_quic else "tcp",
        "CONGESTION": '["cubic"]' if over_quic else '"kernel"',
        "CLOCKS": '["wall", "virtual"]' if fault.virtual else '["wall"]',
    }
    manifest = _MANIFEST + ('zero_rtt = ["h3"]\n' if over_quic else "")
    for word, text in words.items():
        manifest = manifest.replace(word, text)
    folder.mkdir(parents=True)
    (folder / "subject.toml").write_text(manifest)
    return read_subject(folder)


def findings(fault: Fault, folder: Path, engine: LocalEngine) -> Iterator[Result]:
    """What the contract test finds wrong with the server, one after another, up to what it is to find. What comes after
    it, of controllers, is left out."""
    install(catalogue()["go"], print)
    last = f"GET {LARGE}"
    for result in verify_server(write_faulty(folder / "faulty", fault), engine):
        if result.verdict == "failed":
            yield result
            if result.check == fault.found:
                return
        if result.check == last:
            return


def write_falling_back(folder: Path) -> Subject:
    """The client that tries HTTP/3 first, in a new folder."""
    folder.mkdir(parents=True)
    manifest = _FALLBACK.replace("NAME", folder.name).replace("PEER", str(peer()))
    (folder / "subject.toml").write_text(manifest)
    return read_subject(folder)
