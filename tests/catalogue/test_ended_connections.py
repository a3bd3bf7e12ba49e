"""Servers that end connections in good order: what they have not taken is made again, and nothing fails.

Real servers of several kinds, over loopback, and the project's clients as programs.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from catalogue.test_c_clients import WORKLOAD
from h123.base.paths import cache_folder
from h123.execution import Certificate, campaign_certificate

HERE = Path(__file__).parent
SUBJECTS = cache_folder().resolve() / "subjects"
PROGRAMS = {
    "go": (["h123-go", "drive"], ["--initial-window", "", "--pacing", "", "--max-datagram", ""]),
    "load": (["h123-load"], ["--congestion", "cubic", "--max-datagram", ""]),
    "curl-openssl": (["run", "{prefix}/h123-curl"], ["--quic-congestion", "reno"]),
}
CLIENTS = [pytest.param(name, marks=[] if name == "go" else pytest.mark.heavy) for name in PROGRAMS]
ASKED = {**WORKLOAD, "address": "127.0.0.1", "path": "/", "users": 8, "requests": 20, "seed": 7}
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
NGINX = SUBJECTS / "nginx-sid/run"
LIMIT = "keepalive_requests 30;"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """For h123.test."""
    return campaign_certificate(tmp_path_factory.mktemp("tls"), ["127.0.0.1"])


@contextmanager
def _started(*command: object) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A server, and the first line that it prints."""
    server = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout
    try:
        yield server, server.stdout.readline().strip()
    finally:
        server.terminate()  # nginx's processes end with their master then, and not if it is killed
        server.wait(10)
        server.stdout.close()


def _rows(client: str, folder: Path, certificate: Certificate, port: int, **asked: Any) -> list[dict[str, str]]:
    """Of the client's samples."""
    prefix = SUBJECTS / client
    if not prefix.is_dir():
        pytest.skip(f"{client} is not installed")
    program, options = PROGRAMS[client]
    workload = {**ASKED, "port": port, "ca": str(certificate.ca), **asked}
    (folder / "workload.json").write_text(json.dumps(workload))
    words = [program[0] if program[0].startswith("/") else str(prefix / program[0])]
    words += [word.format(prefix=prefix) for word in program[1:]]
    words += ["--workload", "workload.json", "--samples", "samples.csv", "--facts", "client.json", *options]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    with (folder / "samples.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _failed(rows: list[dict[str, str]]) -> list[str]:
    return [row["error"] for row in rows if row["error"] or row["status"] != "200"]


@NODE
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("protocol", "how"), [("h1", "close"), ("h2", "rotate")])
def test_node(client: str, protocol: str, how: str, tmp_path: Path, certificate: Certificate) -> None:
    with _started("node", HERE / "ending.mjs", how, certificate.cert, certificate.key) as (_, port):
        rows = _rows(client, tmp_path, certificate, int(port), protocol=protocol)
    assert _failed(rows) == []
    taken = [sum(row["connection"] == index for row in rows) for index in {row["connection"] for row in rows}]
    assert len(rows) == (168 if protocol == "h1" else 161)
    assert max(taken) <= (1 if how == "close" else 20)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("how", ["silent", "old"])
def test_python(client: str, how: str, tmp_path: Path, certificate: Certificate) -> None:
    with _started(sys.executable, HERE / "ending.py", how, certificate.cert, certificate.key) as (_, port):
        rows = _rows(client, tmp_path, certificate, int(port), protocol="h1", requests=6)
    assert (_failed(rows), len(rows)) == ([], 56)


@contextmanager
def _nginx(folder: Path, certificate: Certificate, more: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    if not NGINX.is_file():
        pytest.skip("nginx-sid is not installed")
    port = 20_000 + os.getpid() % 20_000
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text("x" * 1000)
    stored = "".join(f"{kind}_temp_path tmp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; user root; pid own.pid; error_log stderr notice; worker_processes 1; events {{}} http {{ "
        f"access_log off; http2 on; {stored} "
        f"ssl_certificate {certificate.cert}; ssl_certificate_key {certificate.key}; "
        f"server {{ listen 127.0.0.1:{port} ssl; listen 127.0.0.1:{port} quic reuseport; root site; {more} }} }}"
    )
    words = [NGINX, "usr/sbin/nginx", "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    with _started(*words) as (server, _):
        time.sleep(0.5)
        yield server, port


@pytest.mark.heavy
@pytest.mark.parametrize("client", [*PROGRAMS])
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize("reloaded", [False, True])
def test_nginx(client: str, protocol: str, reloaded: bool, tmp_path: Path, certificate: Certificate) -> None:
    """With a limit of requests, or reloaded again and again in mid-course."""
    with _nginx(tmp_path, certificate, "" if reloaded else LIMIT) as (server, port):
        reload = f"kill -{signal.SIGHUP:d} $(cat {tmp_path}/own.pid)"
        reloads = ["sh", "-c", f"for n in 1 2 3 4; do sleep 0.4; {reload}; done"]
        with subprocess.Popen(reloads if reloaded else ["true"]):
            rows = _rows(client, tmp_path, certificate, port, protocol=protocol, rate=100.0)
        assert server.poll() is None
    failed = _failed(rows)
    if protocol == "h3" and client == "go":
        # quic-go does not tell which requests a GOAWAY left out: those are lost with the connection.
        assert {*failed} <= {"reset"}
        assert len(failed) < (len(rows) if reloaded else len(rows) / 4)  # reloads take longer on a busy machine
    elif protocol == "h3" and client == "curl-openssl":
        assert len(failed) < len(rows)  # libcurl 8.14 with OpenSSL's QUIC makes none again
    elif protocol == "h3" and reloaded:
        # On a busy machine, nginx's new worker can receive the datagrams of the old worker's connections.
        assert {*failed} <= {"reset", "timeout"}
        assert len(failed) < len(rows)
    else:
        assert failed == []
