"""Compares the costs of the client `load` and of other clients, for the same requests to the same server.

    PYTHONPATH=src .venv/bin/python bench/load.py [--blocks 6] [--seed N] [--protocol h2]... [--server go] [LOAD...]

Requests go over loopback to the server go or quinn. (go refuses some of 1000 simultaneous connections over HTTP/3.) In
each block, every client makes the requests once, in random order. Ratios are taken within a block, so that a busy
machine matters little.

A row shows load's processor time per request, and its ratio to that of each other client: the median over the blocks,
with the smallest and largest in brackets. With 6 blocks, this range contains the true median with 97 % confidence. The
line below shows the same for peak memory. A client whose requests fail is named and left out of the row.

The other clients are h2load-sid if it is installed, otherwise h2load, which has no HTTP/3; go; and quinn, which has
only HTTP/3, if it is installed. The bars are at most h2load's processor time and memory, and 0.4 times go's processor
time. A bar is missed if the whole interval is beyond it.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from h123.base.roots import mounted
from h123.catalogue import (
    DEFAULT_CONGESTION,
    Subject,
    catalogue,
    command_line,
    controller,
    install,
    installed,
    prefix,
    settings,
)
from h123.execution import campaign_certificate
from h123.execution.certificate import HOST_NAME
from h123.study import Parameters

LOADS = {
    "1kB-1": (1, 1500, 1000),
    "1kB-64": (64, 60, 1000),
    "1kB-1000": (1000, 4, 1000),
    "10kB-1": (1, 1500, 10_000),
    "10kB-64": (64, 60, 10_000),
    "10kB-1000": (1000, 4, 10_000),
    "1MB-1": (1, 60, 1_000_000),
    "1MB-64": (64, 3, 1_000_000),
    "1MB-1000": (1000, 1, 1_000_000),
}
"""The users, each with a separate connection; the requests of each user; and the bytes of an answer."""
BARS = {
    **{(name, what): 1.0 for name in ("h2load", "h2load-sid") for what in ("time", "memory")},
    ("go", "time"): 0.4,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", metavar="LOAD", nargs="*", help=f"of {', '.join(LOADS)} [default: all]")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--protocol", action="append", choices=["h1", "h2", "h3"])
    parser.add_argument("--server", choices=["go", "quinn"], default="go")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.loads if name not in LOADS]:
        parser.error(f"there is no load {unknown[0]}; choose among {', '.join(LOADS)}")
    known = catalogue()
    h2load = known["h2load-sid"] if installed(known["h2load-sid"]) else known["h2load"]
    server = known[asked.server]
    for subject in {one.name: one for one in (known["go"], known["load"], h2load, server)}.values():
        install(subject, print)
    others = [h2load, known["go"], *([known["quinn"]] if installed(known["quinn"]) else [])]
    chance, missed = random.Random(asked.seed), []
    print(f"{asked.blocks} blocks, seed {asked.seed}, server {server.name}")
    for protocol in asked.protocol or ["h1", "h2", "h3"]:
        able = [one for one in others if one.client and protocol in one.client.protocols]
        with Place(protocol, server) as place:
            for name in asked.loads or LOADS:
                missed += place.row(name, [known["load"], *able], asked.blocks, chance)
    print("\n".join(["missed:", *missed]) if missed else "all bars are met")
    return 1 if missed else 0


@dataclass(frozen=True)
class Cost:
    """The cost of running a client."""

    time: float
    """The processor time of all its processes, in seconds."""
    memory: float
    """The peak memory in bytes of its largest process. Processes that only start others do not count."""


def _watch(running: "subprocess.Popen[bytes]") -> Cost:
    """Wait for a program to end, and return its cost. The peak memory from wait4 is not used: for a small program it is
    that of this process, whose memory its child shared before it became the program."""
    most: dict[int, int] = {}
    while not (ended := os.wait4(running.pid, os.WNOHANG))[0]:
        most |= _most_memory(running.pid)
        time.sleep(0.01)
    running.returncode = os.waitstatus_to_exitcode(ended[1])
    return Cost(ended[2].ru_utime + ended[2].ru_stime, max(most.values(), default=0))


def _most_memory(pid: int) -> dict[int, int]:
    """Return the peak memory in bytes so far of a process and its descendants, by process. It is 0 for a process that
    has started others."""
    try:
        below = (Path("/proc") / f"{pid}/task/{pid}/children").read_text().split()
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:  # it has ended meanwhile
        return {}
    if below:
        return {pid: 0} | {other: most for child in below for other, most in _most_memory(int(child)).items()}
    return {pid: int(found[1]) * 1024} if found else {}


def _spread(found: list[float]) -> str:
    return f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def _free_port() -> int:
    """Return a TCP port on loopback that is free. The UDP port is free too, because nothing else runs there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class Place:
    """A running server, and a folder for the files of its clients."""

    def __init__(self, protocol: str, server: Subject) -> None:
        self._protocol, self._subject, self._scratch = protocol, server, tempfile.TemporaryDirectory()
        self._folder = Path(self._scratch.name)
        self._tls = campaign_certificate(self._folder / "tls", ["127.0.0.1"])
        self._port = _free_port()

    def __enter__(self) -> "Place":
        p = self._parameters("load")  # whoever asks, the server is the same
        command = command_line(
            self._subject,
            "server",
            address="127.0.0.1",
            port=self._port,
            protocol=self._protocol,
            congestion=controller(self._subject, p),
            tls="1.3",
            **dict.fromkeys(("alt_svc", "documents", "qlog"), ""),
            cert=self._tls.cert,
            key=self._tls.key,
            **settings(p),
        )
        self._server = subprocess.Popen(self._here(command, self._subject), stderr=subprocess.DEVNULL)
        try:
            self._wait()
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def _wait(self) -> None:
        """Wait until the server listens."""
        table = Path("/proc/net/udp" if self._protocol == "h3" else "/proc/net/tcp")
        until = time.monotonic() + 10
        while f":{self._port:04X} " not in table.read_text():
            if self._server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server {self._subject.name} does not listen on port {self._port}")
            time.sleep(0.01)

    def _parameters(self, client: str) -> Parameters:
        ends = {"server": self._subject.name, "client": client, "protocol": self._protocol}
        return Parameters.model_validate({**ends, "network": "lan", "size": 1, "congestion": DEFAULT_CONGESTION})

    @staticmethod
    def _here(command: list[str], subject: Subject) -> list[str]:
        """Return the command with the paths that subjects have outside a lab, in the cache."""
        return [word.replace(mounted("subjects"), str(prefix(subject).parent)) for word in command]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server."""
        self._server.send_signal(number)

    def leave(self, processors: set[int]) -> None:
        """Keep the server off these processors, if there are others."""
        for thread in Path(f"/proc/{self._server.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), (os.sched_getaffinity(0) - processors) or processors)

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()
        self._scratch.cleanup()

    def row(self, load: str, clients: list[Subject], blocks: int, chance: random.Random) -> list[str]:
        """Print the row of a load, and return the bars that it misses."""
        users, requests, size = LOADS[load]
        (self._folder / "workload.json").write_text(json.dumps(self.workload(users, requests, size)))
        made = [{one.name: self._cost(one) for one in chance.sample(clients, len(clients))} for _ in range(blocks)]
        failed = {name: cost for block in made for name, cost in block.items() if isinstance(cost, str)}
        for name, why in failed.items():
            print(f"{self._protocol} {load}: {name} is left out: {why}")
        if "load" in failed:
            return [f"{self._protocol} {load}: load failed"]
        costs = [{name: cost for name, cost in block.items() if isinstance(cost, Cost)} for block in made]
        others = [one.name for one in clients[1:] if one.name not in failed]
        ratios = {
            (name, what): [getattr(block["load"], what) / getattr(block[name], what) for block in costs]
            for name in others
            for what in ("time", "memory")
        }
        each = median(block["load"].time for block in costs) / (users * (requests + 1)) * 1e6
        most = median(block["load"].memory for block in costs) / 1e6
        times, memories = (
            ", ".join(f"/ {name} {_spread(ratios[name, what])}" for name in others) for what in ("time", "memory")
        )
        print(f"{self._protocol} {load:<9} {each:7.1f} µs a request; load {times}")
        print(f"{'':<13}{most:7.1f} MB; load {memories}", flush=True)
        return [
            f"{self._protocol} {load}, {what}: load / {name} is {_spread(ratios[name, what])}, the bar {bar}"
            for (name, what), bar in BARS.items()
            if name in others and min(ratios[name, what]) > bar
        ]

    def _cost(self, client: Subject) -> "Cost | str":
        """Run a client and return its cost, or the reason if a request failed."""
        assert client.client
        p = self._parameters(client.name)
        places = {"workload": "workload.json", "samples": os.devnull, "facts": os.devnull}
        command = command_line(client, "client", **places, congestion=controller(client, p), **settings(p))
        command = self._here(command, client)
        with (self._folder / "said").open("w+") as said:
            running = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=said)
            cost = _watch(running)
            said.seek(0)
            words = said.read()
        return words.strip()[-200:] if running.returncode or "failed" in words else cost

    def workload(self, users: int, requests: int, size: int) -> dict[str, object]:
        """Return the workload of these users in the form that clients read."""
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
