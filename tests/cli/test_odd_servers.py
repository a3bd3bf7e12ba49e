"""`h123 compare` on servers that are as they are: each is measured, or refused with a sentence that says what to do."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from cli.conftest import CACHE, ROOT, Tool

FEW = ("--networks", "us-us", "--load", "2x4", "--max-blocks", "8", "--out", "c")
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
LOAD = pytest.mark.skipif(not (CACHE / "load").is_dir(), reason="load is not installed")
NGINX = CACHE / "nginx-sid/run"


def _said(h123: Tool, server: str) -> str:
    """What a server that cannot be measured is answered with, on one line."""
    return h123.refusal("compare", "--server", server, "--url", "https://localhost:8443/", *FEW)


def _measured(h123: Tool, server: str, *more: str) -> str:
    """What is said of a server that is measured, of which nothing may fail."""
    done = h123.succeed("compare", "--server", server, "--url", "https://localhost:8443/", *FEW, *more)
    found = h123.verdicts("c")
    assert found["trials"]["valid"] == found["trials"]["planned"]
    assert not [one for one in found["audits"] if one["audit"] == "requests-failed" and one["passed"] is False]
    return " ".join(done.stderr.split())


@NODE
@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("client", ["go", pytest.param("load", marks=[pytest.mark.heavy, LOAD])])
def test_connections_that_end_with_each_answer(h123: Tool, client: str) -> None:
    script = (ROOT / "tests/catalogue/ending.mjs").read_text()
    (h123.folder / "ending.mjs").write_text(script.replace('listen(0, "127.0.0.1"', 'listen(8443, "0.0.0.0"'))
    said = _measured(h123, "node ending.mjs rotate cert.pem key.pem", "--client", client)
    assert "Over HTTP/1.1 it closes each connection after one response" in said


SERVE = """
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
CERTIFICATES = {
    "node": "import { readFileSync } from 'node:fs'; import { createSecureServer } from 'node:http2';"
    "const cert = readFileSync('cert.pem'), key = readFileSync('key.pem');"
    "createSecureServer({ cert, key, ca: cert, requestCert: true, rejectUnauthorized: true, allowHTTP1: true },"
    " (q, r) => r.end('x')).listen(8443);",
    "python": """
import http.server, ssl
server = http.server.ThreadingHTTPServer(("0.0.0.0", 8443), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_verify_locations("cert.pem")
context.verify_mode = ssl.CERT_REQUIRED
"""
    + SERVE,
}


@pytest.mark.parametrize(
    "program",
    [pytest.param("node", marks=[NODE, pytest.mark.heavy]), "python"],
)
def test_a_server_that_asks_for_certificates(h123: Tool, own: Path, program: str) -> None:
    name, run = ("server.mjs", "node") if program == "node" else ("server.py", shlex.quote(sys.executable))
    (own / name).write_text(CERTIFICATES[program])
    said = _said(h123, f"{run} {name}")
    assert "the server requires a client certificate" in said
    assert "h123's clients have no certificate" in said


IPV6 = f"""
import http.server, socket, ssl
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()
server = Server(("::", 8443), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
{SERVE}"""


@pytest.mark.parametrize("program", ["python", pytest.param("node", marks=[NODE, pytest.mark.heavy])])
def test_a_server_that_listens_for_ipv6_alone(h123: Tool, own: Path, program: str) -> None:
    (own / "server.py").write_text(IPV6)
    (own / "server.mjs").write_text(
        "import { readFileSync } from 'node:fs'; import { createServer } from 'node:https';"
        "createServer({ cert: readFileSync('cert.pem'), key: readFileSync('key.pem') }, (q, r) => r.end('x'))"
        ".listen({ host: '::', port: 8443, ipv6Only: true });"
    )
    said = _said(h123, "node server.mjs" if program == "node" else f"{shlex.quote(sys.executable)} server.py")
    assert "it listens on TCP [::]:8443" in said
    assert "it listens only on IPv6" in said
    assert "--ready" not in said


@pytest.mark.parametrize(
    "line",
    [
        "connection to server at 127.0.0.1, port 5432 failed: Connection refused",
        pytest.param("getaddrinfo ENOTFOUND db", marks=pytest.mark.heavy),
    ],
)
def test_a_server_that_misses_its_database(h123: Tool, own: Path, line: str) -> None:
    (own / "server.py").write_text(f"import sys\nsys.exit({line!r})\n")
    said = _said(h123, f"{shlex.quote(sys.executable)} server.py")
    assert "in the lab a server cannot reach anything outside" in said
    assert "--url https://localhost:8443/ measures it there" in said


def test_what_the_lab_isolates_is_said_before(h123: Tool) -> None:
    assert "cannot reach anything outside" in " ".join(h123("compare", "--help").stdout.replace("│", " ").split())


NGINX_CONF = """
daemon off; user root; pid own.pid; error_log stderr; worker_processes 2; events {}
http { access_log off; http2 on;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  ssl_certificate cert.pem; ssl_certificate_key key.pem;
  server { %s location / { return 200 "%s"; } } }
"""
BOTH = "listen 8443 ssl; listen 8443 quic reuseport; "


@pytest.mark.heavy
@pytest.mark.skipif(not NGINX.is_file(), reason="nginx-sid is not installed")
@pytest.mark.parametrize(
    ("more", "measured", "said"),
    [
        (BOTH + "keepalive_requests 20;", False, "It speaks HTTP/1.1, HTTP/2 and HTTP/3"),
        ("listen 8443 ssl; keepalive_timeout 0;", True, "Over HTTP/1.1 it closes each connection after one response"),
        (
            "listen 8443 ssl; listen 8444 quic reuseport; add_header Alt-Svc 'h3=\":8444\"; ma=86400';",
            True,
            "Its HTTP/3 is on UDP port 8444, as its Alt-Svc says, and is measured there",
        ),
        (
            "listen [::]:8443 ssl ipv6only=on; listen [::]:8443 quic reuseport ipv6only=on;",
            False,
            "it listens only on IPv6",
        ),
        (
            "listen 8443 ssl; ssl_verify_client on; ssl_client_certificate cert.pem;",
            False,
            "answered with 400: the server requires a client certificate",
        ),
    ],
    ids=["limit", "closing", "other port", "IPv6", "certificates"],
)
def test_nginx(h123: Tool, own: Path, more: str, measured: bool, said: str) -> None:
    (own / "tmp").mkdir()
    (own / "nginx.conf").write_text(NGINX_CONF % (more, "x" * 1000))
    server = f"{NGINX} usr/sbin/nginx -p {own} -e stderr -c nginx.conf"
    if measured:
        assert said in _measured(h123, server)
    else:
        done = h123("compare", "--server", server, "--url", "https://localhost:8443/", *FEW)
        assert said in " ".join(done.stderr.split())
        if done.returncode == 0:  # requests that the server did not take are made again: over HTTP/2 none fails
            failed = json.loads((own / "c/verdicts.json").read_text())["failures"]
            assert [one for one in failed if "h3" not in (one["a"], one["b"])] == []
