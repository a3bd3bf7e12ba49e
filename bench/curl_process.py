"""Measures how long a run of the program curl takes beyond its transfers, compared with an empty run of curl.

    PYTHONPATH=src .venv/bin/python bench/curl_process.py [--blocks 10] [BACKEND...]

Runs the load serial-10KiB of studies/curl-tool.yaml with the subjects curl-tool-BACKEND (all three by default). Then it
runs each curl alone with nothing to do. A pause before each of these runs makes them start with cold processor caches,
as a trial's run does. The bar: starting and ending a run takes as long as an empty run, within a quarter. Results from
a busy machine mean nothing.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from h123.catalogue import catalogue, install, prefix
from h123.measures import load_attempts
from h123.store import CampaignFolder

BACKENDS = ("openssl", "ngtcp2", "quiche")
RUNS, BAR = 50, 0.25
PAUSE_S = 0.3
WIDTHS = (8, 8, 11, 8, 13, 11)
NOTHING = ["--disable", "--silent", "--output", "/dev/null", "file:///dev/null"]


def empty_run(backend: str) -> float:
    """Return the mean duration of the empty runs in seconds, as the shell measures it."""
    subject = catalogue()[f"curl-tool-{backend}"]
    assert subject.client
    words = [word.replace("{prefix}", str(prefix(subject))) for word in subject.client.command]
    command = [words[words.index("--run") + 1], words[words.index("--curl") + 1], *NOTHING]
    loop = f'TIMEFORMAT=%R; for i in $(seq {RUNS}); do sleep {PAUSE_S}; time "$@"; done'
    told = subprocess.run(["bash", "-c", loop, "", *command], stderr=subprocess.PIPE, text=True, check=True).stderr
    return statistics.mean(map(float, told.split()))


def serial_runs(backends: list[str], blocks: int, folder: Path) -> dict[str, list[tuple[float, float, float, float]]]:
    """Return, for each level and run, the seconds of the start, the transfers and the end, and the rate of the warm
    requests."""
    # A program alone would have nothing to be compared with.
    levels = [*backends, *(f"tool-{backend}" for backend in backends)]
    only = ["--filter", "load=serial-10KiB", "--filter", f"curl={','.join(levels)}"]
    command = [sys.executable, "-m", "h123", "run", "curl-tool", *only, "--blocks", str(blocks), "--out", str(folder)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for attempt in load_attempts(CampaignFolder.open(folder)):
        told, known = attempt.facts and attempt.facts.process, attempt.metrics
        if told:
            start, end, rate = known["process_start"], known["process_end"], known["rps"]
            assert start is not None
            assert end is not None
            assert rate is not None
            whole = (told.ended_ns - told.began_ns) / 1e9
            found.setdefault(attempt.cell["curl"], []).append((start, whole - start - end, end, rate))
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", metavar="BACKEND", nargs="*", help=f"of {', '.join(BACKENDS)} [default: all]")
    parser.add_argument("--blocks", type=int, default=10)
    asked = parser.parse_args(arguments)
    backends = asked.backends or list(BACKENDS)
    if unknown := [name for name in backends if name not in BACKENDS]:
        parser.error(f"there is no curl-tool-{unknown[0]}; choose among {', '.join(BACKENDS)}")
    for backend in backends:
        install(catalogue()[f"curl-tool-{backend}"], print)
    empty = {backend: empty_run(backend) for backend in backends}
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        runs = serial_runs(backends, asked.blocks, Path(folder) / "campaign")
    print(f"51 x 10 KiB one by one over HTTP/3, medians of {asked.blocks} runs, ms")
    heads = zip(("whole", "start", "transfers", "end", "start + end", "empty run"), WIDTHS, strict=True)
    print(" " * 14 + "".join(f"{head:>{width}}" for head, width in heads) + "  ratio  a second; with the start")
    missed = []
    for backend, alone in empty.items():
        columns = zip(*runs[f"tool-{backend}"], strict=True)
        start, transfers, end, rate = (statistics.median(column) for column in columns)
        whole, ratio = start + transfers + end, (start + end) / alone
        missed += [backend] if abs(ratio - 1) > BAR else []
        shown = zip((whole, start, transfers, end, start + end, alone), WIDTHS, strict=True)
        times = "".join(f"{seconds * 1e3:{width}.1f}" for seconds, width in shown)
        print(f"tool-{backend:<9}{times}{ratio:7.2f}  {rate:.0f}; {51 / whole:.0f}")
    if missed:
        print(f"beyond the bar of {BAR:.0%}: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
