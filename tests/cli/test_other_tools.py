"""curl and iperf3, which know nothing of h123, see the same servers and the same links."""

import hashlib
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Tool
from h123.base.paths import lab_binary
from h123.catalogue import catalogue, install, prefix
from h123.execution.certificate import HOST_NAME, campaign_certificate
from h123.study import load_network

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("leaves_nothing_behind")]
EMPTY = " ".join(
    f"--{flag} ''" for flag in ("alt-svc", "documents", "initial-window", "max-datagram", "pacing", "qlog")
)
"""Options of the server that this test does not use."""
SEEDED = 300_001
BACKEND_PORT, PORT = 4480, 4443


def needed(command: str) -> str:
    """The system's own `command`."""
    found = shutil.which(command)
    if found is None:
        pytest.fail(f"{command} is not on PATH: apt install {command}")
    return found


def server_script(folder: Path, protocol: str) -> str:
    """Shell: the REST study's server with its storage, both on the server's host."""
    known = catalogue()
    for name in ("go-rest", "fake-gcs"):
        install(known[name], print)
    files = campaign_certificate(folder / "tls", ["127.0.0.1"])
    storage = (
        f"{prefix(known['fake-gcs'])}/fake-gcs-server -scheme http -host 0.0.0.0 -port {BACKEND_PORT} -backend memory"
    )
    serve = (
        f"{prefix(known['go-rest'])}/h123-rest serve --address 0.0.0.0 --port {PORT} --protocol {protocol} --tls 1.3"
        f" --cert {files.cert} --key {files.key} --store gcs --emulator $H123_SERVER:{BACKEND_PORT} --bucket h123"
        f" --seed-bytes {SEEDED} {EMPTY}"
    )
    # exec passes SIGTERM on to the server; the storage goes with the lab.
    return f"{storage} -public-host $H123_SERVER:{BACKEND_PORT} & sleep 1; exec {serve}"


@pytest.mark.parametrize(("protocol", "option", "version"), [("h1", "--http1.1", "1.1"), ("h2", "--http2", "2")])
def test_curl_uploads_and_downloads_objects(h123: Tool, protocol: str, option: str, version: str) -> None:
    curl, seed = needed("curl"), 11
    body = random.Random(seed).randbytes(250_003)
    (h123.folder / "body").write_bytes(body)
    server = server_script(h123.folder, protocol)
    to_server = (
        f"{curl} -sS --fail-with-body {option} --retry 20 --retry-connrefused --retry-delay 1"
        f" --cacert {h123.folder}/tls/ca.pem --resolve {HOST_NAME}:{PORT}:$H123_SERVER"
    )
    site, api = f"https://{HOST_NAME}:{PORT}", f"http://$H123_SERVER:{BACKEND_PORT}"
    fetch = f"""set -e; cd {h123.folder}
{to_server} -w ' %{{http_version}}' --data-binary @body {site}/upload > answer
{to_server} -o served {site}/bytes/{SEEDED}
{to_server} -o /dev/null -w '%{{http_code}}' {site}/bytes/7 > missing || true
{curl} -sS --fail -o listed "{api}/storage/v1/b/h123/o?prefix=upload/"
{curl} -sS --fail -o seeded "{api}/download/storage/v1/b/h123/o/bytes%2F{SEEDED}?alt=media"
name=$(python3 -c 'import json; print(json.load(open("listed"))["items"][0]["name"].replace("/", "%2F"))')
{curl} -sS --fail -o stored "{api}/download/storage/v1/b/h123/o/$name?alt=media"
"""
    h123.succeed("lab", "exec", "--network", "medium", "--server", server, "--client", fetch)
    assert (h123.folder / "answer").read_text() == f"{len(body)} {version}"
    assert (h123.folder / "stored").read_bytes() == body, f"seed {seed}"
    served, seeded = ((h123.folder / name).read_bytes() for name in ("served", "seeded"))
    assert len(served) == SEEDED
    assert hashlib.sha256(served).digest() == hashlib.sha256(seeded).digest()
    assert (h123.folder / "missing").read_text() == "404"


def _iperf3(folder: Path) -> list[str]:
    """The system's own iperf3, or else that of Debian's archive."""
    if found := shutil.which("iperf3"):
        return [found]
    folder.mkdir()
    subprocess.run(["apt-get", "download", "iperf3", "libiperf0", "libsctp1"], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True)
    (libraries,) = {str(path.parent) for path in folder.rglob("libiperf.so.0")}
    return ["/usr/bin/env", f"LD_LIBRARY_PATH={libraries}", f"{folder}/usr/bin/iperf3"]


def test_iperf3_agrees_with_the_link_check(tmp_path: Path) -> None:
    iperf3 = _iperf3(tmp_path / "debian")
    network = tmp_path / "clean.yaml"
    network.write_text(
        "h123: network/1\nname: clean\ntitle: no loss\nboth: {delay: 15ms, rate: 20Mbit/s, queue: 100kB}\n"
    )
    ends = {"a": {"host": "client", "address": "10.1.0.1"}, "b": {"host": "server", "address": "10.1.0.2"}}
    trial = {
        "h123": "trial/1",
        "id": "iperf3",
        "seed": 3,
        "hosts": ["client", "server"],
        "links": [{"name": "access", **ends, **load_network(str(network)).link()}],
        "congestion": "cubic",
        "check": True,
        "roles": [
            {
                "name": "server", "host": "server", "kind": "service", "command": [*iperf3, "-s"], "env": {},
                "ready": {"tcp": [5201], "udp": [], "line": None, "timeout_ns": 10**10}, "stop_timeout_ns": 10**9,
            },
            {
                "name": "client", "host": "client", "kind": "main", "env": {}, "timeout_ns": 3 * 10**10,
                "command": [*iperf3, "-c", "10.1.0.2", "-J", "-O", "2", "-t", "6", "--logfile", "iperf3.json"],
            },
        ],
    }  # fmt: skip
    (tmp_path / "trial.json").write_text(json.dumps(trial))
    out = tmp_path / "out"
    out.mkdir()
    command = [str(lab_binary()), "run", str(tmp_path / "trial.json"), "--out", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    report = json.loads((out / "report.json").read_text())
    assert report["valid"], report["reasons"]
    said = json.loads((out / "iperf3.json").read_text())["end"]["sum_received"]["bits_per_second"]
    carried = said * 1500 / 1448  # iperf3 counts payload, the link whole packets
    checked = report["links"][0]["check"]["rate"]["up"]["measured_bps"]
    assert carried == pytest.approx(checked, rel=0.03)
    print(f"iperf3 {carried / 1e6:.2f} Mbit/s, link check {checked / 1e6:.2f} Mbit/s")
