"""`h123 compare --url` on a server that runs already: here, a process of this machine that h123 did not start."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, Tool
from h123.catalogue import catalogue, install, prefix
from h123.execution import Certificate, campaign_certificate

FEW = ("--networks", "home", "--load", "1x2", "--max-blocks", "8")


@pytest.fixture
def certificate(h123: Tool) -> Certificate:
    return campaign_certificate(h123.folder / "tls", ["127.0.0.1"])


@pytest.fixture
def port(certificate: Certificate) -> Iterator[int]:
    """Of a server on the machine's loopback, over HTTP/2 and HTTP/3."""
    go = catalogue()["go"]
    install(go, print)
    program = [
        str(prefix(go) / "h123-go"),
        "serve",
        "--address",
        "127.0.0.1",
        "--alt-svc=",
        "--documents=",
        "--tls=1.3",
        "--qlog=",
        "--initial-window=",
    ]
    files = ["--cert", str(certificate.cert), "--key", str(certificate.key), "--pacing=", "--max-datagram="]
    with ExitStack() as running:
        chosen = 0
        for protocol in ("h2", "h3"):
            command = [*program, *files, "--port", str(chosen), "--protocol", protocol]
            server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            running.callback(server.wait)
            running.callback(server.kill)
            assert server.stderr
            chosen = int(server.stderr.readline().rsplit(":", 1)[1])
        yield chosen


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_one_command_answers_for_a_server_that_runs(h123: Tool, port: int) -> None:
    url = f"https://localhost:{port}/bytes/40000"
    done = h123.succeed("compare", "--url", url, "--insecure", *FEW, "--out", "c", "--save", "mine.yaml")
    assert "localhost is 127.0.0.1 here" in done.stderr
    assert "It speaks HTTP/2 and HTTP/3" in done.stderr
    details = h123("analyse", "c", "--details")
    assert "TCP ends at the gateway" in " ".join(details.stdout.split())
    found = h123.verdicts("c")
    assert (found["trials"]["valid"], found["blocks"]["complete"]) == (24, 8)
    [way] = found["elsewhere"]
    assert (way["server"], way["address"], way["trials"]) == ("server", f"127.0.0.1:{port}", 24)
    assert way["beyond_ns"] > 0
    assert "latency" in {one["metric"] for one in found["comparisons"]}
    assert {one["metric"] for one in found["comparisons"]} & {"cpu", "cpu_server"} == set()
    h123.succeed("plan", "mine.yaml")


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_nothing_of_the_way_is_left_when_all_is_killed(h123: Tool, port: int) -> None:
    process = h123.start("compare", "--url", f"https://localhost:{port}/bytes/40000", "--insecure", *FEW, "--out", "c")
    deadline = time.monotonic() + PATIENCE_S
    while not list((h123.folder / "c/trials").glob("*/gateway.json")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_certificate_is_checked_unless_told_otherwise(h123: Tool, port: int, certificate: Certificate) -> None:
    url = f"https://localhost:{port}/bytes/40000"
    assert "signed by unknown authority" in h123.refusal("compare", "--url", url, "--sni", "h123.test")
    known = ("--cacert", str(certificate.ca), "--sni", "h123.test")
    not_spoken = ("--fail-if", "latency h1/h2 > 1")  # seen later
    assert "Its certificate is trusted by" in h123.refusal("compare", "--url", url, *known, *not_spoken)


def unused() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_who_is_not_there_is_told_so(h123: Tool) -> None:
    port = unused()
    said = h123.refusal("compare", "--url", f"https://127.0.0.1:{port}/", "--insecure")
    assert f"nothing listens at 127.0.0.1:{port}, over TCP or UDP" in said
    assert f"the server at 127.0.0.1:{port} cannot be reached" in said
    assert "gateway" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", "https://192.0.2.1/"], "192.0.2.1 is not on this machine"),
        (["--url", "https://127.0.0.1/", "--clock", "virtual"], "already running uses real time"),
        (["--url", "https://127.0.0.1/", "--fail-if", "cpu h3/h2 > 1"], "cannot be measured"),
        (["--url", "https://127.0.0.1/", "--env", "A=B"], "for servers that h123 starts"),
        (["--url", f"https://{'n' * 64}.example/"], "has no address here"),
        (["--url", "https://127.0.0.1/", "--insecure", "--cacert", "tls/ca.pem"], "cannot be combined"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_asked(h123: Tool, arguments: list[str], said: str) -> None:
    refusal = h123.refusal("compare", *arguments)
    assert said in refusal
    assert "Finding out" not in refusal


def test_a_study_asks_nobody_elsewhere_without_consent(h123: Tool) -> None:
    server = "{address: 192.0.2.1, host: www.example.org, protocols: [h1, h2]}"
    text = f"""\
h123: study/1
name: away
question: Who?
servers: {{theirs: {server}}}
factors: {{protocol: [h1, h2]}}
settings: {{server: theirs, client: go, port: 443, network: lan, size: 1kB, users: 1, requests: 1}}
compare: {{factor: protocol, pairs: [h2/h1], twin: h1}}
blocks: 1
"""
    Path(h123.folder / "away.yaml").write_text(text)
    assert "allow_remote_load: true" in h123.refusal("run", "away.yaml", "--out", "c")
    assert not (h123.folder / "c").exists()
