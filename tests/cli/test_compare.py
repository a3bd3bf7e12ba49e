"""`h123 compare` as a person runs it on a server of their own."""

import datetime as dt
import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cli.conftest import Tool
from h123.base.paths import cache_folder
from h123.execution import campaign_certificate

GO = cache_folder().resolve() / "subjects/go/h123-go"
URL = "https://localhost:8443/bytes/2000"
FEW = ("--networks", "home", "--load", "1x2", "--max-blocks", "8")


@pytest.fixture
def own(own: Path) -> Path:
    """A folder with a server's program and certificate."""
    shutil.copy(Path(__file__).with_name("own_server.py"), own)
    return own


def script(folder: Path, name: str, *protocols: str) -> str:
    """A program that serves these protocols on port 8443, one process each."""
    empty = ("qlog", "alt-svc", "documents", "initial-window", "pacing", "max-datagram")
    options = " ".join(["--tls=1.3 --cert cert.pem --key key.pem", *(f"--{name}=" for name in empty)])
    lines = [
        f"{shlex.quote(str(GO))} serve --address 0.0.0.0 --port 8443 --protocol {protocol} {options} &"
        for protocol in protocols
    ]
    (folder / name).write_text("\n".join(["#!/bin/sh", *lines, "wait", ""]))
    (folder / name).chmod(0o755)
    return f"./{name}"


ONE = "--server base='...' --server new='...'"


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("fault", "said", "remedy"),
    [
        ("", "speaks only HTTP/1.1", ONE),
        pytest.param("late", "speaks only HTTP/1.1", ONE, marks=pytest.mark.heavy),
        pytest.param("first", "speaks only HTTP/1.1", ONE, marks=pytest.mark.heavy),
        pytest.param(
            "compress",
            "Responses to /orders are compressed (gzip), which no request asked for",
            ONE,
            marks=pytest.mark.heavy,
        ),
        ("500", "HTTP/1.1: the request for /orders was answered with 500", "the server's log says why"),
        pytest.param("429", "was answered with 429", "it limits the rate of requests", marks=pytest.mark.heavy),
        ("redirect", "leads elsewhere: 302 to https://login.example.org/", "give the final URL"),
        pytest.param(
            "password",
            'was refused with 401 (Basic realm="orders")',
            "--header 'Authorization: ...'",
            marks=pytest.mark.heavy,
        ),
        pytest.param("forbidden", "was refused with 403", "be unable to read its own files", marks=pytest.mark.heavy),
        ("endless", "did not end within 3 s", "an endless stream has no latency"),
        ("die", "cannot read my configuration", "check that it runs by hand"),
        ("daemon", "ended with exit status 0", "went into the background"),
        pytest.param("plain", "without TLS", "a self-signed certificate is enough", marks=pytest.mark.heavy),
        pytest.param("localhost", "TCP 127.0.0.1:8443", "listen on all addresses", marks=pytest.mark.heavy),
        ("socket", "listens on the Unix socket", "make it listen on a TCP port"),
    ],
)
def test_a_server_that_cannot_be_compared_is_told_so(h123: Tool, fault: str, said: str, remedy: str) -> None:
    command = f"{shlex.quote(sys.executable)} own_server.py {fault}".strip()
    refusal = h123.refusal("compare", "--server", command, "--url", "https://localhost:8443/orders")
    assert said in refusal
    assert remedy in refusal
    assert not (h123.folder / "campaigns").exists()


def test_a_certificate_that_has_run_out_is_told(h123: Tool, own: Path) -> None:
    run_out(own)
    command = f"{shlex.quote(sys.executable)} own_server.py"
    asked = ("compare", "--server", command, "--url", "https://localhost:8443/orders")
    assert "Its certificate expired on 2020-01-02" in h123(*asked).stderr
    assert "certificate has expired or is not yet valid" in h123.refusal(*asked, "--cacert", "cert.pem")


def run_out(folder: Path) -> None:
    """The server's certificate, signed by itself, was for one day of 2020."""
    key = serialization.load_pem_private_key((folder / "key.pem").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    day = dt.datetime(2020, 1, 1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), day, day + dt.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cacert", "tls/ca.pem", "--sni", "h123.test"], "Its certificate is trusted by tls/ca.pem"),
        pytest.param(
            ["--cacert", "tls/ca.pem"],
            "certificate is valid for h123.test, not localhost",
            marks=pytest.mark.heavy,
        ),
        (["--cacert", "other/ca.pem", "--sni", "h123.test"], "certificate signed by unknown authority"),
    ],
)
def test_a_certificate_is_checked_where_that_is_asked(h123: Tool, own: Path, options: list[str], said: str) -> None:
    campaign_certificate(own / "other", ["127.0.0.1"], seed=1)
    refusal = h123.refusal("compare", "--server", script(own, "server", "h2"), "--url", URL, *options)
    assert said in refusal
    assert ("speaks only HTTP/2" in refusal) == ("trusted" in said)  # there is one protocol alone


def test_one_command_answers_and_keeps_its_study(h123: Tool, own: Path) -> None:
    server = script(own, "server", "h2", "h3")
    done = h123.succeed("compare", "--server", server, "--url", URL, *FEW, "--out", "c", "--save", "mine.yaml")
    assert "It speaks HTTP/2 and HTTP/3" in done.stderr
    assert "GET /bytes/2000: 200, 2 kB" in done.stderr
    assert (own / "c/report.html").exists()
    found = json.loads((own / "c/verdicts.json").read_text())
    assert (found["trials"]["valid"], found["blocks"]["complete"]) == (24, 8)
    (latency,) = [one for one in found["comparisons"] if one["metric"] == "latency" and not one["twin"]]
    for limit, status, word in (("> 100", 0, "passed"), ("< 100", 99, "failed")):
        if latency["withheld"]:  # on a busy machine
            status, word = 98, "undecided"
        gate = h123("gate", "c", "--fail-if", f"latency h3/h2 {limit}")
        assert (gate.returncode, json.loads((own / "c/gate.json").read_text())["verdict"]) == (status, word)
    assert "8 blocks, 24 trials" in h123.succeed("plan", "mine.yaml").stdout


def recorded(folder: Path, *paths: str) -> None:
    """A page of which the first path asks for all others, as a browser records it."""
    entries = [
        {
            "startedDateTime": f"2026-05-01T10:00:00.{number:03}Z",
            "time": 1,
            "request": {"method": "GET", "url": path if "//" in path else f"https://www.example.org{path}"},
            "response": {"status": 200, "content": {"size": 1, "mimeType": "text/html"}, "bodySize": 1},
            "_initiator": {"type": "parser", "url": f"https://www.example.org{paths[0]}"},
        }
        for number, path in enumerate(paths)
    ]
    (folder / "page.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))


def test_a_recorded_page_is_loaded_from_it(h123: Tool, own: Path) -> None:
    recorded(own, "/bytes/9000", "/bytes/20000", "/nothing", "/bytes/3000?v=2", "https://cdn.example.net/x.js")
    server = script(own, "server", "h2", "h3")
    options = ["--har", "page.har", "--url", "https://localhost:8443/", *FEW, "--out", "c", "--save", "mine.yaml"]
    done = h123.succeed("compare", "--server", server, *options)
    for said in (
        "GET /bytes/9000: 200, 9 kB",
        "Left out: 1 request of other hosts",
        "Left out: /nothing, was answered with 404",
        "The page: 3 requests, 32 kB, 1 deep",
    ):
        assert said in done.stderr
    found = json.loads((own / "c/verdicts.json").read_text())
    assert (found["trials"]["valid"], found["blocks"]["complete"]) == (24, 8)
    asked = {one["metric"]: one for one in found["comparisons"] if not one["twin"]}
    assert asked["page_complete"]["family"] == "answer/home"
    assert asked["page_complete"]["ratio"]
    assert asked["page_complete"]["workload"] == "page page, 3 requests, 32 kB"
    h123.succeed("plan", "mine.yaml")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", URL], "with --har, it gives only the address of the server"),
        (["--url", "https://localhost:1/", "--url", "https://localhost:2/"], "give a single --url"),
        (["--method", "POST", "--data", "own_server.py"], "cannot be combined with --method POST or --data"),
        (["--har", "own_server.py"], "not JSON, so not a HAR"),
    ],
)
def test_a_page_that_cannot_be_loaded(h123: Tool, arguments: list[str], said: str) -> None:
    recorded(h123.folder, "/")
    refusal = h123.refusal("compare", "--server", "true", "--har", "page.har", *arguments)
    assert said in refusal
    assert "Finding out" not in refusal


@pytest.mark.heavy
def test_a_build_is_no_slower_than_itself(h123: Tool, own: Path) -> None:
    """Under the virtual clock, so however busy the machine is: a build is no slower than itself, and as it is not
    faster either, a gate that asks for that fails."""
    base, new = script(own, "old", "h3"), script(own, "young", "h3")
    limits = ["--fail-if", "latency new/base > 1.05"]
    servers = ["--server", f"base={base}", "--server", f"new={new}"]
    options = ["--protocols", "h3", *FEW, "--clock", "virtual", *limits, "--out", "same"]
    done = h123.succeed("compare", *servers, "--url", URL, *options)
    assert "Required, latency new/base <= 1.05: passed" in done.stdout
    failed = h123("gate", "same", "--fail-if", "latency new/base > 0.95")
    assert failed.returncode == 99, failed.stderr
    assert json.loads((own / "same/gate.json").read_text())["verdict"] == "failed"


STARTED = ("--server", "true", "--url", URL)
NETWORK = "h123: network/1\nname: {name}\ntitle: 40 ms\nboth: {{delay: 20ms, rate: 100Mbit/s, queue: 500kB}}\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("far.yaml", ""),
        ("./far.yaml", ""),
        ("@/far.yaml", ""),
        ("networks/near.yaml,far.yaml,lan", ""),
        ("nowhere/far.yaml", "nowhere/far.yaml"),
        ("far.yaml,networks/far.yaml", "two different networks are named 'far'"),
    ],
)
def test_networks_are_files_too(h123: Tool, own: Path, given: str, said: str) -> None:
    """A path that leads to none is refused before the server is started, which here ends at once."""
    (own / "networks").mkdir()
    (own / "far.yaml").write_text(NETWORK.format(name="far"))
    (own / "networks/near.yaml").write_text(NETWORK.format(name="near"))
    (own / "networks/far.yaml").write_text(NETWORK.format(name="far").replace("20ms", "30ms"))
    networks = given.replace("@", str(own))
    refusal = h123.refusal("compare", "--server", "false", "--url", URL, "--networks", networks)
    assert ("Finding out" in refusal) == (not said)
    assert said in refusal


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--server", "./nothing", "--url", URL], "there is no program"),
        (["--server", "true", "--url", "http://localhost:8443/"], "with TLS"),
        (["--server", "true", "--url", "unix:/run/x.sock"], "Unix socket"),
        (["--server", "true", "--url", "https://localhost:0/"], "no server listens on port 0"),
        (["--url", "https://[::1]:0/x"], "no server listens on port 0"),
        ([*STARTED, "--ready", "tcp:0"], "ports are from 1 to 65535"),
        ([*STARTED, "--load", "x"], "--load 'x'"),
        ([*STARTED, "--networks", "moon"], "moon"),
        (["--server", "true", "--server", "false", "--url", URL], "each needs a name"),
        ([*STARTED, "--fail-if", "slow"], "cannot be read"),
        ([*STARTED, "--header", "x"], "NAME: VALUE"),
        ([*STARTED, "--method", "POST"], "are only valid together"),
        (
            [*STARTED, "--client", "curl-ngtcp2"],
            "--client curl-ngtcp2: the choices are go, load",
        ),
        ([*STARTED, "--ready", "tcp:99999"], "ports are from 1 to 65535"),
        ([*STARTED, "--protocols", "h4"], "h4"),
        (
            [*STARTED, "--protocols", "h3"],
            "--protocols h3: there is nothing to compare a single protocol with",
        ),
        ([*STARTED, "--save", "nowhere/x.yaml"], "there is no folder nowhere"),
        ([*STARTED, "--save", "own_server.py"], "own_server.py is there already"),
        ([*STARTED, "--fail-if", "page_complete h3/h2 > 1"], "measures page visits"),
        ([*STARTED, "--fail-if", "latency h3/h9 > 1"], "'h9' is not compared here"),
        ([*STARTED, "--protocols", "h1,h2", "--fail-if", "ttfb h3 > 1s"], "'h3' is not"),
        (["--server", "a=true", "--server", "b=true", "--url", URL, "--fail-if", "ttfb b/h2 > 1"], "'h2' is not"),
        ([*STARTED, "--clock", "virtual", "--fail-if", "cpu h3 > 1ms"], "cpu has no value"),
        ([*STARTED, "--load", "1x9", "--fail-if", "latency_p99 h3 > 1s"], "--load 1x300"),
        ([*STARTED, "--cacert", "nothing.pem"], "nothing.pem: cannot be read: No such file"),
        ([*STARTED, "--cacert", "own_server.py"], "there is no certificate in it"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(h123: Tool, arguments: list[str], said: str) -> None:
    refusal = h123.refusal("compare", *arguments)
    assert said in refusal
    assert "Finding out" not in refusal
