"""Servers that keep the contract but for one fault (`peer/faults.go`), and servers and clients that take time for a
reason that was chosen (`peer/made.go`, `peer/ask.go`), as subjects."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adversary.trial import listed, peer
from catalogue.small import built_already
from h123.catalogue import Subject, catalogue, install, read_subject
from h123.execution import Pool
from h123.verification.result import Result
from h123.verification.server import verify_server
from h123.verification.server_cases import LARGE

Program = Literal["go", "node"]
"""What a made server is written in."""
_MANIFEST = (
    built_already("NAME", "Keeps the contract, but for one fault")
    + """\
[server]
command = [WORDS, "--protocol", "{protocol}", "--address", "{address}", "--port", "{port}",
           "--cert", "{cert}", "--key", "{key}"]
protocols = ["PROTOCOL"]
methods = ["GET", "POST"]
listens = {PROTOCOL = ["LISTENS"]}

[features]
congestion = {PROTOCOL = CONGESTION}
clocks = CLOCKS
resumption = ["PROTOCOL"]
"""
)

_CLIENT = (
    built_already("NAME", "TITLE")
    + """\
[client]
command = [WORDS, "--workload", "{workload}", "--samples", "{samples}", "--facts", "{facts}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET"]

[features]
congestion = {h1 = "kernel", h2 = "kernel", h3 = ["cubic"]}
clocks = ["wall", "virtual"]
"""
)


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
    return _write_server(folder, [str(peer()), "keep", "--but", fault.name], fault.protocol, fault.virtual)


def write_made(folder: Path, protocol: str, reasons: Sequence[str], program: Program = "go") -> Subject:
    """A server whose answers take time for these reasons, options of `h123-hostile made`, in a new folder. On Node.js
    it has some of them, over TCP."""
    words = {"go": [str(peer()), "made"], "node": ["node", str(Path(__file__).parent / "peer" / "made.mjs")]}[program]
    version = [] if protocol == "h3" else ["--tls", "{tls}"]
    return _write_server(folder, [*words, *version, *reasons], protocol, virtual=True)


def _write_server(folder: Path, words: Sequence[str], protocol: str, virtual: bool) -> Subject:
    over_quic = protocol == "h3"
    values = {
        "WORDS": ", ".join(map(json.dumps, words)),
        "LISTENS": "udp" if over_quic else "tcp",
        "PROTOCOL": protocol,
        "CONGESTION": '["cubic"]' if over_quic else '"kernel"',
        "CLOCKS": '["wall", "virtual"]' if virtual else '["wall"]',
    }
    more = 'zero_rtt = ["h3"]\n' if over_quic else ""
    if "{tls}" in words:
        more += 'tls = ["1.3", "1.2"]\n'
    return _write(folder, _MANIFEST + more, values)


def findings(fault: Fault, folder: Path, pool: Pool) -> Iterator[Result]:
    """What the contract test finds wrong with the server, one after another, up to what it is to find. What comes after
    it, of controllers, is left out."""
    install(catalogue()["go"], print)
    last = f"GET {LARGE}"
    for result in verify_server(write_faulty(folder / "faulty", fault), pool):
        if result.verdict == "failed":
            yield result
            if result.check == fault.found:
                return
        if result.check == last:
            return


def write_falling_back(folder: Path) -> Subject:
    """The client that tries HTTP/3 first, in a new folder."""
    return _write_client(folder, ["fallback"], "Tries HTTP/3 first, in vain")


def write_asking(folder: Path, ways: Sequence[str]) -> Subject:
    """A client that takes answers in these ways, options of `h123-hostile ask`, in a new folder."""
    return _write_client(folder, ["ask", *ways], "Takes little at once, or slowly")


def _write_client(folder: Path, words: Sequence[str], title: str) -> Subject:
    return _write(folder, _CLIENT, {"WORDS": ", ".join(map(json.dumps, [str(peer()), *words])), "TITLE": title})


def _write(folder: Path, manifest: str, values: Mapping[str, str]) -> Subject:
    for word, text in {"NAME": folder.name, **values}.items():
        manifest = manifest.replace(word, text)
    folder.mkdir(parents=True)
    (folder / "subject.toml").write_text(manifest)
    return read_subject(folder)
