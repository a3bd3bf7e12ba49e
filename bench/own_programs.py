"""Compares the results of `h123 compare` for real programs with a study of the same stack as a subject.

    PYTHONPATH=src:tests .venv/bin/python bench/own_programs.py [--programs nginx,caddy] [--networks cellular]
                                                                [--clock virtual] [--keep DIR]

The programs are in tests/cli/programs: nginx with a static site, Caddy as a reverse proxy in front of an application, a
Go service, a Node service without HTTP/3, and an ASGI application. For each program, it prints how long the command
took, and for each network and pair the ratio of latencies of the program and of the subject.

The exit status is 1 if a command took longer than three minutes, or if two results contradict each other. They do if
the nearest ends of their intervals are further apart than the margin.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cli.own_programs import PROGRAMS, Latency, asked_once, beside, lacking, latencies, lay_out

LONGEST_S = 180.0


def h123(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "h123", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"h123 {' '.join(arguments)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def ratio(latency: Latency) -> str:
    return f"{latency.ratio:.3f} ({latency.low:.3f} to {latency.high:.3f})"


def hold(name: str, folder: Path, networks: str, clock: str) -> bool:
    """Measure one program, print the results, and return whether all is well."""
    lay_out(name, folder)
    began = time.monotonic()
    asked_once(name, folder, h123, networks, clock)
    seconds = time.monotonic() - began
    beside(name, folder, h123)
    own, subject = latencies(folder / "own"), latencies(folder / "subject")
    print(f"{name}: {seconds:.0f} s, {clock} clock", flush=True)
    for place, mine in own.items():
        theirs = subject[place]
        word = "contradict" if mine.contradicts(theirs) else "agree"
        print(f"  {' '.join(place)}: {ratio(mine)}, {PROGRAMS[name].subject} {ratio(theirs)}: {word}", flush=True)
    return seconds <= LONGEST_S and not any(mine.contradicts(subject[place]) for place, mine in own.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=lambda text: text.split(","), default=list(PROGRAMS))
    parser.add_argument("--networks", default="lan,cellular")
    parser.add_argument("--clock", default="wall")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the campaigns go")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors", flush=True)
    well = True
    with tempfile.TemporaryDirectory() as scratch:
        for name in asked.programs:
            if missing := lacking(PROGRAMS[name]):
                print(f"{name}: left out, this machine has no {', '.join(missing)}")
                continue
            folder = (asked.keep or Path(scratch)).resolve() / name
            folder.mkdir(parents=True)
            well &= hold(name, folder, asked.networks, asked.clock)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
