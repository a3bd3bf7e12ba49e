"""What people's servers waited for, as `h123 compare` and `h123 why` name it: two builds that differ by one cause."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.conftest import CACHE, Tool
from cli.own_programs import FILES
from h123.execution import campaign_certificate

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("leaves_nothing_behind")]

FAR = "h123: network/1\nname: far\ntitle: 40 ms\nboth: {delay: 20ms, rate: 100Mbit/s, queue: 500kB}\n"
UPLOAD, CHAIN = 600_000, 7_000
GUESSES = ("a fixed limit", "with nothing to send", "processing in the client")
"""What was said before the cause was known."""


@dataclass(frozen=True)
class Case:
    """Two builds of one program that differ by one cause, and what has to be said of them."""

    base: str
    new: str
    path: str
    options: tuple[str, ...]
    said: tuple[str, ...]
    needs: tuple[str, ...] = ()

    def lacking(self) -> list[str]:
        """What this machine does not have."""
        return [name for name in self.needs if not (CACHE / name).is_dir() and shutil.which(name) is None]


def _upload(client: str) -> Case:
    """In Node's own windows, and in wide ones."""
    options = ("--data", "body.bin", "--networks", "far.yaml", "--protocols", "h2", "--load", "1x3", "--client", client)
    said = ("less for flow control of a stream (a window of 65 535 bytes, ",)
    return Case("node limits.mjs", "node limits.mjs --window 8000000", "1", options, said, ("node", client))


CASES = {
    "think time, four users": Case(
        "./service -thinks 10ms",
        "./service -thinks 30ms",
        "orders",
        ("--networks", "udp-passed", "--protocols", "h2,h3", "--load", "4x10"),
        (
            "than with base: 20 ms more for waiting for the server. With protocol HTTP/3",
            "ms more for waiting for the server.",
        ),
        ("go",),
    ),
    "think time, one user, three protocols": Case(
        "./service -thinks 10ms",
        "./service -thinks 30ms",
        "orders",
        ("--networks", "udp-passed", "--load", "1x4"),
        ("than with base: 20 ms more for waiting for the server.",),
        ("go",),
    ),
    "windows of uploads, go": _upload("go"),
    "windows of uploads, load": _upload("load"),
    "few streams": Case(
        "node limits.mjs --streams 4",
        "node limits.mjs --streams 100",
        "2000",
        ("--networks", "us-us", "--protocols", "h2", "--load", "16x10"),
        ("less for waiting for a free connection (4 at a time)",),
        ("node",),
    ),
    "Nagle": Case(
        f"{sys.executable} halves.py apart",
        f"{sys.executable} halves.py together",
        "",
        ("--networks", "us-us", "--load", "1x10"),
        ("less for waiting for an acknowledgement (Nagle's algorithm)",),
    ),
    "long certificates": Case(
        "./service",
        f"./service -cert tls/chain-{CHAIN}/cert.pem -key tls/chain-{CHAIN}/key.pem",
        "orders",
        ("--networks", "far.yaml", "--protocols", "h2,h3", "--load", "1x3"),
        ("more for a round trip for certificates beyond QUIC's anti-amplification limit",),
        ("go",),
    ),
    "small TLS records": Case(
        "node limits.mjs",
        "node limits.mjs --record 4096",
        "200000",
        ("--networks", "far.yaml", "--protocols", "h2", "--load", "1x4"),
        (
            "On far, new's first byte, handshake included, is 25 % faster than base's",
            "base takes one more round trip than new to its first byte: the response had begun, and its first TLS",
        ),
        ("node",),
    ),
}


@pytest.fixture
def folder(own: Path) -> Path:
    """The programs, their certificates and what they are asked with."""
    for name in ("limits.mjs", "halves.py"):
        shutil.copy(FILES / name, own)
    (own / "far.yaml").write_text(FAR)
    (own / "body.bin").write_bytes(bytes(UPLOAD))
    campaign_certificate(own / "tls", ["127.0.0.1"], CHAIN)
    return own


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_named(h123: Tool, folder: Path, name: str) -> None:
    case = CASES[name]
    if missing := case.lacking():
        pytest.skip(f"it needs {', '.join(missing)}")
    if case.base.startswith("./service"):
        subprocess.run(["go", "build", "-o", folder / "service", "."], cwd=FILES / "go", check=True)
    builds = ("--server", f"base={case.base}", "--server", f"new={case.new}")
    asked = ("--url", f"https://localhost:8443/{case.path}", *case.options)
    h123.succeed("compare", *builds, *asked, "--clock", "virtual", "--max-blocks", "8", "--out", "c")
    found = h123.verdicts("c")
    assert found["trials"]["valid"] == found["trials"]["planned"]
    assert [one for one in found["audits"] if one["passed"] is False] == []
    why, details = h123("why", "c"), h123("analyse", "c", "--details")
    assert (why.returncode, details.returncode) == (0, 0), why.stderr + details.stderr
    answer, reasons = (" ".join(one.stdout.split()) for one in (details, why))
    assert [text for text in case.said if text not in answer + reasons] == [], answer + reasons
    assert [text for text in GUESSES if text in answer] == [], answer
