"""Measures how a page suffers if its client has no time to read packets: a table of docs/results/page-browsers.md.

    PYTHONPATH=src .venv/bin/python bench/late_reader.py [--blocks 6] [--held 15ms] [--of 30ms] [OUT]

Loads the large page of page-browsers through Envoy with a round trip of 105 ms, over CUBIC and over BBR, with the fast
client `go`. One campaign runs as it is. In the other, the client's process is stopped for `--held` of every `--of`,
like a browser that is busy parsing. Meanwhile the kernel acknowledges TCP's packets, but nothing acknowledges QUIC's.

The difference between the campaigns comes from these stops. Over HTTP/2 it is the cost of reading late; over HTTP/3 it
also includes the cost of late acknowledgements. A controller that mistakes late acknowledgements for a full queue would
be slower over HTTP/3. The campaigns run in real time, so use a quiet machine. They stay in the folder OUT, if you name
one.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from h123.base.units import format_seconds, parse_duration
from h123.report import level

ROOT = Path(__file__).resolve().parents[1]
SLICE = {"client": "go", "site": "large", "network": "europe-us", "protocol": "h2,h3", "congestion": "cubic,bbr"}
AS_IS, STOPPED = "as it is", "stopped"


def main(arguments: list[str]) -> int:
    """Run both campaigns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", nargs="?", type=Path)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--held", type=parse_duration, default="15ms")
    parser.add_argument("--of", type=parse_duration, default="30ms")
    asked = parser.parse_args(arguments)
    if not 0 < asked.held < asked.of:
        parser.error("the client can be held for a part of the time only: 0 < --held < --of")
    with tempfile.TemporaryDirectory() as scratch:
        out = asked.out or Path(scratch)
        campaigns = {name: out / name.replace(" ", "-") for name in (AS_IS, STOPPED)}
        for name, held_ns in ((AS_IS, 0), (STOPPED, asked.held)):
            run(campaigns[name], asked.blocks, held_ns / 1e9, asked.of / 1e9)
        report(campaigns)
    return 0


def report(campaigns: dict[str, Path]) -> None:
    """Print the results of both campaigns."""
    table({name: completions(campaign) for name, campaign in campaigns.items()})
    for name, campaign in campaigns.items():
        share = f"{limited(campaign):.0%} of the time in which it has something to send"
        print(f"CUBIC, HTTP/2, client {name}: the server waits for the receive window for {share}")


def run(campaign: Path, blocks: int, held: float, of: float) -> None:
    """Run one campaign. Until it is over, stop its clients for `held` of every `of` seconds."""
    only = [part for factor, levels in SLICE.items() for part in ("--filter", f"{factor}={levels}")]
    command = [str(ROOT / "h123"), "run", "page-browsers", *only, "--blocks", str(blocks), "--out", str(campaign)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if held:
            _hold(list(_clients(process.pid)), held)
        time.sleep(of - held)
    if process.returncode:
        raise SystemExit(process.returncode)


def _hold(clients: list[int], seconds: float) -> None:
    for pid in clients:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in clients:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def _clients(root: int) -> Iterator[int]:
    """Yield the process IDs of the clients among the descendants of a process."""
    for pid in _children(root):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"/h123-go") and words[1:2] == [b"drive"]:
                yield pid
        yield from _clients(pid)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for listed in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, listed.read_text().split())
    return found


def completions(campaign: Path) -> dict[tuple[str, str], list[float]]:
    """Return the seconds until the page was complete, by controller and protocol."""
    values: list[dict[str, Any]] = json.loads((campaign / "verdicts.json").read_text(encoding="utf-8"))["values"]
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for value in values:
        found[value["cell"]["congestion"], value["cell"]["protocol"]].append(value["metrics"]["page_complete"])
    return found


def limited(campaign: Path) -> float:
    """Return the share of the server's sending time in which it waited for the client's receive window, on the
    connection that carried most bytes: the median over the trials with CUBIC and HTTP/2."""
    told = []
    for trial in sorted(campaign.glob("trials/*-cubic-h2*")):
        looks = duckdb.read_parquet(str(trial / "tcp.parquet")).filter("host = 'server'")
        [(share,)] = looks.aggregate("arg_max(rwnd_limited_ns / busy_ns, bytes_acked)").fetchall()
        told.append(share)
    return median(told)


def table(found: dict[str, dict[tuple[str, str], list[float]]]) -> None:
    """Print a Markdown table with a row for each controller and protocol: the median, and the range in brackets."""
    print(f"| controller, protocol | trials | client {AS_IS} | client {STOPPED} |\n|---|---|---|---|")
    for arm in sorted(found[AS_IS]):
        told = [found[name][arm] for name in (AS_IS, STOPPED)]
        cells = [
            f"{format_seconds(median(each))} ({format_seconds(min(each))} to {format_seconds(max(each))})"
            for each in told
        ]
        print(f"| {', '.join(map(level, arm))} | {' + '.join(str(len(each)) for each in told)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
