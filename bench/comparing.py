"""Measures what the embedded client spends on comparing every downloaded byte with the expected content.

    PYTHONPATH=src python bench/comparing.py [PAIRS]

Downloads 10 MB over loopback with and without the comparison, in turn. A path with a query gets the same answer, but
the client does not compare it. The ratio of the client's processor time is taken within each pair.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

from h123.catalogue import catalogue, install, prefix
from h123.execution import campaign_certificate

PATH, WITHOUT = "/bytes/10000000", "/bytes/10000000?not-compared"
REQUESTS = 20
SETTINGS = [part for name in ("initial-window", "pacing", "max-datagram") for part in (f"--{name}", "")]


def cpu_seconds(go: str, workload: Path) -> float:
    """Return the client's processor time for all requests, in seconds. End the program if a request fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    files = ["--workload", str(workload), "--samples", os.devnull, "--facts", os.devnull]
    done = subprocess.run([go, "drive", *files, *SETTINGS], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "failed" in done.stderr:
        raise SystemExit(done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(go: str, protocol: str, pairs: int, folder: Path) -> str:
    tls = campaign_certificate(folder / protocol, ["127.0.0.1"])
    served = [
        "--address",
        "127.0.0.1",
        "--port",
        "0",
        "--protocol",
        protocol,
        "--tls",
        "1.3",
        "--qlog",
        "",
        "--alt-svc",
        "",
        "--documents",
        "",
    ]
    files = ["--cert", str(tls.cert), "--key", str(tls.key)]
    server = subprocess.Popen([go, "serve", *served, *files, *SETTINGS], stderr=subprocess.PIPE, text=True)
    assert server.stderr
    port = int(server.stderr.readline().rsplit(":", 1)[1])
    ways = {}
    for path in (PATH, WITHOUT):
        ways[path] = folder / f"{protocol}-{len(ways)}.json"
        ways[path].write_text(json.dumps(workload(protocol, port, str(tls.ca), path)))
    try:
        ratios = []
        for number in range(pairs):
            order = (PATH, WITHOUT) if number % 2 else (WITHOUT, PATH)
            spent = {path: cpu_seconds(go, ways[path]) for path in order}
            ratios.append(spent[PATH] / spent[WITHOUT])
    finally:
        server.terminate()
        server.wait()
    low, _, high = quantiles(ratios, n=4)
    return (
        f"{protocol}: {median(ratios):.3f} times the processor time, quartiles {low:.3f} to {high:.3f}, {pairs} pairs"
    )


def workload(protocol: str, port: int, ca: str, path: str) -> dict[str, object]:
    asked = {"method": "GET", "path": path, "headers": [], "body_bytes": 0, "body_file": None}
    target = {"protocol": protocol, "host": "h123.test", "address": "127.0.0.1", "port": port, "ca": ca, "seed": 1}
    loop = {"users": 1, "requests": REQUESTS, "rate": None, "connections": "shared", "cold": False, "warmup": 0}
    mixed = {"mix": [{**asked, "status": 200, "think_ns": 0}], "order": [0], "headers": []}  # of any length
    return {"h123": "workload/2", "kind": "mix", "timeout_ns": 60 * 10**9, **target, **loop, **mixed}


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    go = catalogue()["go"]
    install(go, print)
    with tempfile.TemporaryDirectory() as folder:
        for protocol in ("h2", "h3"):
            print(compare(str(prefix(go) / "h123-go"), protocol, pairs, Path(folder).resolve()), flush=True)


if __name__ == "__main__":
    main()
