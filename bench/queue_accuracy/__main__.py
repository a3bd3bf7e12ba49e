"""Checks that the link's queues decide as Linux's do. Takes a quarter of an hour for a million packets.

    PYTHONPATH=src .venv/bin/python bench/queue_accuracy [--packets 100000] [--seed 1] [--only CoDel] [--own-draws]

Prints the table of docs/link-accuracy.md. Each scenario plays the same packets to `tc`, in a virtual kernel that has
these disciplines, and to the link's core, at the times at which that kernel got them. It compares which packets are
dropped, which leave with Congestion Experienced, and in which order they leave.

If a packet arrives in the tick of the kernel's clock in which another one leaves, either of them may be first, so both
orders are tried. The exit status is 1 if more than 1 in 100 000 decisions differ.

Where a discipline is random, both use the same random numbers, for which this kernel is edited. With `--own-draws`,
both draw their own: a kernel in which only CAKE's count of memory is edited runs `--runs` times, and the link several
times for each of these. The table compares the percentages of packets dropped and marked, and quantiles of the delay in
ms. A cell has the kernel's mean and standard deviation, then the link's mean. Below are the figures that differ
(own_draws.py says when). If there are any, the exit status is 1.

Needs Rust (cargo) and iproute2, and for the first run what `h123 install virtual-kernel` needs. H123_KERNEL names
another kernel to use: the virtual kernel that h123 installs has FIFO, TBF and FQ-CoDel.
"""

import argparse
import bisect
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from h123.base.paths import project_root
from h123.base.terminal.steps import Steps
from h123.virtual import install_kernel

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "link_accuracy"))

import paths  # noqa: E402
from own_draws import LINK_RUNS, QUANTILES, Figure, differing, figures, summary  # noqa: E402
from scenarios import CE, SCENARIOS, Packet, Scenario  # noqa: E402
from witness import OWN_DRAWS, WITNESS  # noqa: E402

BAR = 1e-5
PATIENCE_NS = 3600 * 10**9
GUARD_NS, BETWEEN_NS = 6_000, 2_000
"""The minimum time between an arrival and another packet's departure, and between two arrivals. The player needs 1.5
microseconds."""
MOST_MOVES = 40
TICK_NS = 10_000_000
"""Of the kernel's timers."""
CANDIDATES = 20
"""The number of ties before a difference that are tried as the reason for it."""


@dataclass(frozen=True)
class Outcome:
    """The fate of each packet, by its number."""

    made: tuple[int, int]
    """Two times between which the kernel's disciplines were made, in ns. Of the link, its time zero."""
    came: list[int]
    """When each packet came, in ns."""
    left: list[int]
    """When each packet left, in ns. 0: it was dropped, or the kernel did not say."""
    places: list[int | None]
    """The place of each packet among those that left. None: it was dropped."""
    experienced: list[bool]
    """Whether each packet left with Congestion Experienced."""

    def departures(self) -> list[tuple[int, bool]]:
        """Return the packets that left, in order, and whether each had Congestion Experienced."""
        left = [(place, number) for number, place in enumerate(self.places) if place is not None]
        return [(number, self.experienced[number]) for _, number in sorted(left)]

    def marked(self, packets: list[Packet]) -> list[bool]:
        """Return whether each packet got Congestion Experienced here."""
        return [marked and packet[3] != CE for marked, packet in zip(self.experienced, packets, strict=True)]

    def delays(self) -> list[float | None]:
        """Return how long each packet waited, in ms. None: it was dropped."""
        return [(left - came) / 1e6 if left else None for came, left in zip(self.came, self.left, strict=True)]


@dataclass(frozen=True)
class Link:
    """The link's core with a scenario's queue."""

    program: Path
    scenario: Scenario
    seed: int

    def play(self, packets: list[Packet], arrivals: list[int], zero: int = 0) -> Outcome:
        """Play the packets to the link's core at these times, and return their fate. `zero` is its time zero."""
        lines = self._run(packets, [at - zero for at in arrivals])
        places = [None if place == "-" else int(place) for place, *_ in lines]
        left = [int(at) and int(at) + zero for _, _, at, _ in lines]
        return Outcome((zero, zero), arrivals, left, places, [marked == "1" for _, marked, *_ in lines])

    def draws(self, packets: list[Packet]) -> list[int]:
        """Return what the queue draws for each packet."""
        return [int(draw) for *_, draw in self._run(packets, [offset for offset, *_ in packets])]

    def _run(self, packets: list[Packet], arrivals: list[int]) -> list[list[str]]:
        lines = [json.dumps(self.scenario.direction()), str(self.seed)]
        step, hosts = self.scenario.step, self.scenario.hosts
        for (_, size, flow, ecn), came in zip(packets, arrivals, strict=True):
            lines.append(f"{came} {size} {flow * step} {ecn} {flow % hosts}")
        done = subprocess.run([self.program], input="\n".join(lines), capture_output=True, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--packets", type=int, default=100_000, help="packets in each scenario")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--own-draws", action="store_true", help="compare runs in which both draw")
    parser.add_argument("--runs", type=int, default=6, help="runs of the kernel with own draws (at least 2)")
    arguments = parser.parse_args()
    if "H123_KERNEL" not in os.environ:
        with Steps(Console(stderr=True)) as steps:
            os.environ["H123_KERNEL"] = str(install_kernel(steps, OWN_DRAWS if arguments.own_draws else WITNESS).path)
    replay = _build_replay()
    chosen = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    if arguments.own_draws:
        return _compare_figures(replay, chosen, arguments)
    return _compare_decisions(replay, chosen, arguments.packets, arguments.seed)


def _compare_decisions(replay: Path, chosen: list[Scenario], number: int, seed: int) -> int:
    """Print whether each packet has the same fate if both use the same random numbers. Return the exit status."""
    print("| scenario | packets | dropped | marked | ties | decisions that differ | order |")
    print("|---|---|---|---|---|---|---|")
    total = differing = 0
    for scenario in chosen:
        link = Link(replay, scenario, seed)
        packets = _apart(link, scenario.packets(number, seed))
        with tempfile.TemporaryDirectory() as folder:
            kernel = _play(Path(folder) / "witness", scenario, packets, link.draws(packets))
        outcome, ties = _settle_ties(link, packets, kernel)
        pairs = list(zip(kernel.places, kernel.experienced, outcome.places, outcome.experienced, strict=True))
        differ = sum((a is None, x) != (b is None, y) for a, x, b, y in pairs)
        order = "same" if kernel.places == outcome.places else "**differs**"
        dropped = kernel.places.count(None)
        marked = sum(kernel.marked(packets))
        differing += max(differ, order != "same")
        total += len(packets)
        print(f"| {scenario.name} | {len(packets)} | {dropped} | {marked} | {ties} | {differ} | {order} |", flush=True)
        if kernel.departures() != outcome.departures():
            print(_describe_difference(packets, kernel, outcome), file=sys.stderr, flush=True)
    print(f"{differing} of {total} decisions differ (bar: 1 in {round(1 / BAR)})")
    return 0 if total and differing <= BAR * total else 1


def _compare_figures(replay: Path, chosen: list[Scenario], arguments: argparse.Namespace) -> int:
    """Print whether shares and delays agree if both draw their own random numbers. Return the exit status."""
    names = ["dropped %", "marked %", *(f"p{100 * q:g}" for q in QUANTILES)]
    print(f"| scenario | packets | {' | '.join(names)} |")
    print("|---|---|---|---|---|---|---|")
    compared: list[Figure] = []
    for scenario in chosen:
        if not scenario.random or scenario.needs_edits:
            continue
        packets = scenario.packets(arguments.packets, arguments.seed)
        play = partial(_play_both, replay, scenario, packets)
        seeds = range(arguments.seed, arguments.seed + arguments.runs * LINK_RUNS, LINK_RUNS)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = list(pool.map(play, seeds))
        kernel = zip(*(run for run, _ in runs), strict=True)
        link = zip(*(run for _, some in runs for run in some), strict=True)
        columns = [Figure(f"{scenario.name}, {name}", *both) for name, *both in zip(names, kernel, link, strict=True)]
        compared += columns
        print(f"| {scenario.name} | {len(packets)} | {' | '.join(map(str, columns))} |", flush=True)
    if not compared:
        return 1
    for figure in differing(compared):
        print(f"{figure.name}: {figure} (p = {figure.p:.2g})")
    print(summary(compared))
    return 1 if differing(compared) else 0


def _play_both(
    replay: Path, scenario: Scenario, packets: list[Packet], seed: int
) -> tuple[list[float], list[list[float]]]:
    """Return the figures of a run of the kernel, and of `LINK_RUNS` runs of the link with seeds from this one on."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = _play(Path(folder) / "witness", scenario, packets, [])
    begun, _ = kernel.made
    zero = begun if scenario.timer_ns is None else begun // TICK_NS * TICK_NS + scenario.timer_ns
    links = [Link(replay, scenario, seed + run).play(packets, kernel.came, zero) for run in range(LINK_RUNS)]
    of_kernel, *of_links = (figures(outcome.delays(), outcome.marked(packets)) for outcome in (kernel, *links))
    return of_kernel, of_links


def _build_replay() -> Path:
    lab = project_root() / "lab"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "h123-link", "--example", "replay"]
    subprocess.run(command, cwd=lab, check=True)
    return lab / "target/release/examples/replay"


def _apart(link: Link, packets: list[Packet]) -> list[Packet]:
    """Move packets that would arrive when another packet leaves or a timer comes, because the player's work may make
    the kernel's timers late."""
    offsets, moved = [offset for offset, *_ in packets], True
    period = link.scenario.ticks_ns or (None if link.scenario.timer_ns is None else TICK_NS)
    for _ in range(MOST_MOVES):
        for number in range(1, len(offsets)):
            offsets[number] = max(offsets[number], offsets[number - 1] + BETWEEN_NS)
        moved = False
        departures = sorted(filter(None, link.play(packets, offsets).left))
        for number, offset in enumerate(offsets):
            place = bisect.bisect_left(departures, offset - GUARD_NS)
            at_departure = place < len(departures) and departures[place] <= offset + GUARD_NS
            at_tick = period is not None and (offset + GUARD_NS) % period <= 2 * GUARD_NS
            if (at_departure and departures[place] != offset) or at_tick:
                offsets[number] += 2 * GUARD_NS + number % 7 * 1000
                moved = True
        if not moved:
            break
    return [(offset, *rest) for offset, (_, *rest) in zip(offsets, packets, strict=True)]  # type: ignore[misc]


def _play(folder: Path, scenario: Scenario, packets: list[Packet], draws: list[int]) -> Outcome:
    """Play the packets to the kernel, and return their fate."""
    folder.mkdir(parents=True)
    handle = 0x20 if scenario.flows > 1 else 0
    script = {
        "setup": scenario.setup("w0"),
        "handle": handle,
        "step": scenario.step,
        "hosts": scenario.hosts,
        "packets": packets,
        "draws": draws,
    }
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    player: dict[str, Any] = {
        "name": "client",
        "host": "client",
        "kind": "main",
        "command": [sys.executable, str(HERE / "player.py"), "script.json", "result"],
        "env": {},
        "timeout_ns": PATIENCE_NS,
    }
    ends = {"a": {"host": "client", "address": paths.CLIENT}, "b": {"host": "server", "address": paths.SERVER}}
    trial = {
        "h123": "trial/1",
        "id": "witness",
        "seed": 1,
        "clock": "virtual",
        "congestion": "cubic",
        "check": False,
        "hosts": ["client", "server"],
        "links": [{"name": "access", "kind": "veth", **ends}],
        "roles": [player],
    }
    paths.run(trial, folder)
    made, *lines = [line.split() for line in (folder / "result").read_text(encoding="ascii").splitlines()]
    begun, done = map(int, made)
    return Outcome(
        (begun, done),
        [int(came) for came, *_ in lines],
        [int(left) for *_, left in lines],
        [None if place == "-" else int(place) for _, place, *_ in lines],
        [marked == "1" for _, _, marked, _ in lines],
    )


def _settle_ties(link: Link, packets: list[Packet], kernel: Outcome) -> tuple[Outcome, int]:
    """Play the packets to the link's core. Return the outcome, and how many packets came before one that left in the
    same tick.

    The core lets a packet leave before another packet arrives at the same time. If that explains the first difference
    from the kernel, the arrival is taken to have come first. The link's timers come as those of a discipline that was
    made at one of the ticks of the kernel's setup: the one with which the two agree longest.
    """
    ties, expected = 0, kernel.departures()

    def agreed(outcome: Outcome) -> float:
        number = _agreement(expected, outcome.departures())
        return math.inf if number is None else number

    timer = link.scenario.timer_ns
    begun, done = (at // TICK_NS for at in kernel.made)
    zeros = [0] if timer is None else [tick * TICK_NS + timer for tick in range(begun, done + 1)]
    outcome = max((link.play(packets, kernel.came, zero) for zero in zeros), key=agreed)
    zero, came = outcome.made[0], list(kernel.came)
    while (until_number := _agreement(expected, departures := outcome.departures())) is not None:
        left = set(outcome.left)
        until = outcome.left[departures[min(until_number, len(departures) - 1)][0]]
        tied = [number for number, at in enumerate(came) if at in left and at <= until]
        for number in tied[: -CANDIDATES - 1 : -1]:
            came[number] -= 1
            other = link.play(packets, came, zero)
            if agreed(other) > until_number:
                outcome, ties = other, ties + 1
                break
            came[number] += 1
        else:
            break
    return outcome, ties


def _describe_difference(packets: list[Packet], kernel: Outcome, link: Outcome) -> str:
    """Return where the first difference is, for a look at the kernel's arithmetic."""
    both = kernel.departures(), link.departures()
    number = _agreement(*both) or 0
    ends = [[(packet, marked, packets[packet]) for packet, marked in one[number : number + 1]] for one in both]
    return f"The first {number} departures agree. The next one, in the kernel and the link: {ends}"


def _agreement(one: list[tuple[int, bool]], other: list[tuple[int, bool]]) -> int | None:
    """Return how many departures agree before the first that does not, or None if all agree."""
    if one == other:
        return None
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


if __name__ == "__main__":
    sys.exit(main())
