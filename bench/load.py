"""What the client load costs beside others, for the same requests of the same server.

    PYTHONPATH=src .venv/bin/python bench/load.py [--blocks 6] [--seed N] [--protocol h2]... [LOAD...]

Over loopback, against the server go. In each block every client makes the requests once, in random order; the ratios of
processor time are taken within the block, so that a busy machine matters little. A row has load's processor time for a
request, and its ratio to each other client's: the median over the blocks, and in brackets the least and the most, which
hold the median of all blocks with 97 % confidence where there are 6. h2load of Debian 12 has no HTTP/3; quinn's client
has nothing else, and takes part if it is installed. Bars: as much as h2load at most, 0.4 of go; one is missed where the
whole interval is beyond it.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from h123.catalogue import OWN, Subject, catalogue, client_command, controller, install, installed, prefix, settings
from h123.roots import mounted
from h123.study import Parameters
from h123.trial import campaign_certificate
from h123.trial.certificate import HOST_NAME

LOADS = {
    "1kB-1": (1, 1500, 1000),
    "1kB-64": (64, 60, 1000),
    "10kB-64": (64, 60, 10_000),
    "1MB-1": (1, 60, 1_000_000),
    "1MB-64": (64, 3, 1_000_000),
}
"""Users, each with a connection of its own; requests of each; bytes of an answer."""
BARS = {"h2load": 1.0, "go": 0.4}
SETTINGS = [part for name in ("initial-window", "pacing", "max-datagram") for part in (f"--{name}", "")]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", metavar="LOAD", nargs="*", help=f"of {', '.join(LOADS)} [default: all]")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--protocol", action="append", choices=["h1", "h2", "h3"])
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.loads if name not in LOADS]:
        parser.error(f"there is no load {unknown[0]}; choose among {', '.join(LOADS)}")
    known = catalogue()
    for name in ("go", "load", "h2load"):
        install(known[name], print)
    others = [known["h2load"], known["go"], *([known["quinn"]] if installed(known["quinn"]) else [])]
    chance, missed = random.Random(asked.seed), []
    print(f"{asked.blocks} blocks, seed {asked.seed}")
    for protocol in asked.protocol or ["h1", "h2", "h3"]:
        able = [one for one in others if one.client and protocol in one.client.protocols]
        with Place(protocol) as place:
            for name in asked.loads or LOADS:
                missed += place.row(name, [known["load"], *able], asked.blocks, chance)
    print("\n".join(["missed:", *missed]) if missed else "all bars are met")
    return 1 if missed else 0


class Place:
    """A server, and a folder for what its clients read and write."""

    def __init__(self, protocol: str) -> None:
        self._protocol, self._scratch = protocol, tempfile.TemporaryDirectory()
        self._folder = Path(self._scratch.name)
        self._tls = campaign_certificate(self._folder / "tls", ["127.0.0.1"])

    def __enter__(self) -> "Place":
        go = str(prefix(catalogue()["go"]) / "h123-go")
        served = [
            "--address",
            "127.0.0.1",
            "--port",
            "0",
            "--protocol",
            self._protocol,
            "--tls",
            "1.3",
            "--documents",
            "",
            "--qlog",
            "",
        ]
        files = ["--cert", str(self._tls.cert), "--key", str(self._tls.key)]
        self._server = subprocess.Popen([go, "serve", *served, *files, *SETTINGS], stderr=subprocess.PIPE, text=True)
        assert self._server.stderr
        self._port = int(self._server.stderr.readline().rsplit(":", 1)[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()
        self._scratch.cleanup()

    def row(self, load: str, clients: list[Subject], blocks: int, chance: random.Random) -> list[str]:
        """Prints what the load costs; returns the bars that are missed."""
        users, requests, size = LOADS[load]
        (self._folder / "workload.json").write_text(json.dumps(self._workload(users, requests, size)))
        ours, ratios = [], {one.name: list[float]() for one in clients[1:]}
        for _ in range(blocks):
            spent = {one.name: self._cpu_seconds(one) for one in chance.sample(clients, len(clients))}
            ours.append(spent["load"])
            for name, found in ratios.items():
                found.append(spent["load"] / spent[name])
        each = median(ours) / (users * (requests + 1)) * 1e6
        told = [f"{name} {median(found):.2f} ({min(found):.2f} to {max(found):.2f})" for name, found in ratios.items()]
        print(f"{self._protocol} {load:<8} {each:7.1f} µs a request; load / {', / '.join(told)}", flush=True)
        return [
            f"{self._protocol} {load}: load / {name} is {median(ratios[name]):.2f}, the bar {bar}"
            for name, bar in BARS.items()
            if name in ratios and min(ratios[name]) > bar
        ]

    def _cpu_seconds(self, client: Subject) -> float:
        """Of all its processes; no request may fail."""
        assert client.client
        usual = {"server": "go", "client": client.name, "network": "lan", "protocol": self._protocol, "size": 1}
        p = Parameters.model_validate({**usual, "congestion": OWN})
        places = {"workload": "workload.json", "samples": os.devnull, "facts": os.devnull}
        command = client_command(client, **places, congestion=controller(client, p), **settings(p))
        # Outside of a lab the subjects are where the cache has them.
        command = [word.replace(mounted("subjects"), str(prefix(client).parent)) for word in command]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode or "failed" in done.stderr:
            raise SystemExit(f"{client.name}: {done.stderr}")
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def _workload(self, users: int, requests: int, size: int) -> dict[str, object]:
        return {
            "h123": "workload/2",
            "kind": "requests",
            "protocol": self._protocol,
            "host": HOST_NAME,
            "address": "127.0.0.1",
            "port": self._port,
            "ca": str(self._tls.ca),
            "method": "GET",
            "path": f"/bytes/{size}",
            "upload_bytes": 0,
            "users": users,
            "requests": requests,
            "rate": None,
            "connections": "per-user",
            "cold": False,
            "warmup": 1,
            "timeout_ns": 60 * 10**9,
            "seed": 1,
            "headers": [],
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
