"""Checks whether the lab's link is accurate, and prints the table of docs/link-accuracy.md. Takes 15 to 30 minutes.

    PYTHONPATH=src .venv/bin/python bench/link_accuracy
    PYTHONPATH=src .venv/bin/python bench/link_accuracy --users

The lab's link and the kernel's netem emulate the same paths in the same virtual kernel, and the same programs use both.
The exit status is 1 if a bar is missed. With --users, it measures the link in real time, as root and in a user
namespace.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import udp
import users
from chance import loss_interval
from goodput import Transfers, equivalent, ratio
from paths import Kind, Profile, require_tools

from h123.base.errors import UserError

MEDIUM = Profile(delay_ns=15_000_000, bps=20_000_000, queue_packets=66)
POOR = Profile(delay_ns=25_000_000, bps=10_000_000, queue_packets=66)
LOSSES: list[float | tuple[float, float]] = [0.005, 0.02, (0.005, 0.25)]
DELAY_BAR_NS = 5_000
LOSS_CONFIDENCE = 0.999
SEED = 1
KINDS: tuple[Kind, Kind] = ("link", "netem")


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    what: str
    link: str
    netem: str
    bar: str
    met: bool


def main() -> int:
    require_tools()
    rows = []
    print("| figure | link | netem | requirement | met |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in figures(Path(folder)):
            rows.append(row)
            met = "yes" if row.met else "**no**"
            print(f"| {row.what} | {row.link} | {row.netem} | {row.bar} | {met} |", flush=True)
    return 0 if all(row.met for row in rows) else 1


def figures(folder: Path) -> Iterator[Row]:
    """Yield all rows, one after the other."""
    yield from delays(folder)
    for number, loss in enumerate(LOSSES):
        yield losses(folder / f"loss{number}", replace(MEDIUM, loss=loss))
    yield rate(folder / "rate", MEDIUM)
    yield burst(folder / "burst", MEDIUM)
    yield drop_sets(folder / "drops", replace(MEDIUM, loss=0.02))
    yield from goodputs(folder)


def delays(folder: Path) -> Iterator[Row]:
    """Yield the delays of packets of all sizes, sent far enough apart not to wait for each other."""
    for name, profile in (("medium", MEDIUM), ("poor", POOR)):
        plan = udp.sparse(5000, 5_000_000, SEED)
        errors = [udp.send(folder / f"{name}-{kind}", kind, profile, plan).delay_errors_ns(profile) for kind in KINDS]
        complete = all(len(found) == len(plan) for found in errors)
        within = all(abs(error) <= DELAY_BAR_NS for found in errors for error in found)
        yield Row(
            f"one-way delay in excess of {profile.delay_ns / 1e6:.0f} ms and the time to send at "
            f"{profile.bps / 1e6:.0f} Mbit/s; {len(plan)} packets: min, median, p99, max in µs",
            *(_quantiles(found) for found in errors),
            f"each within ±{DELAY_BAR_NS // 1000}",
            complete and within,
        )


def losses(folder: Path, profile: Profile) -> Row:
    """Return the number of lost packets, next to the interval that the loss model allows."""
    plan = udp.sparse(20_000, 1_000_000, SEED)
    lost = [len(udp.send(folder / kind, kind, profile, plan).lost()) for kind in KINDS]
    return _loss_row(profile, len(plan), lost)


def _loss_row(profile: Profile, sent: int, lost: list[int]) -> Row:
    low, high = loss_interval(profile.loss, sent, LOSS_CONFIDENCE)
    match profile.loss:
        case (p, r):
            name = f"Gilbert loss, p {p:.1%}, r {r:.0%}"
        case share:
            name = f"random loss {share:.1%}"
    return Row(
        f"packets lost out of {sent}, {name}",
        *map(str, lost),
        f"{low} to {high} (exact {LOSS_CONFIDENCE:.1%} interval)",
        all(low <= count <= high for count in lost),
    )


def rate(folder: Path, profile: Profile) -> Row:
    """Return the rate received, from the first arrival to the last, when 1.2 times the link's rate is sent."""
    plan = udp.overload(profile, 1.2, 2000)
    rates = []
    for kind in KINDS:
        arrivals = udp.send(folder / kind, kind, profile, plan).arrivals
        span = arrivals[-1].received_ns - arrivals[0].received_ns
        rates.append((len(arrivals) - 1) * plan[0][1] * 8e9 / span)
    return Row(
        f"rate received when {1.2 * profile.bps / 1e6:.0f} Mbit/s is sent over {profile.bps / 1e6:.0f} Mbit/s, Mbit/s",
        *(f"{found / 1e6:.6f}" for found in rates),
        f"within 0.01 % of {profile.bps / 1e6:.0f}",
        all(abs(found / profile.bps - 1) <= 1e-4 for found in rates),
    )


def burst(folder: Path, profile: Profile) -> Row:
    """Return how many packets a queue admits from a burst that is a quarter larger than the queue."""
    plan = udp.burst(profile.queue_packets * 5 // 4)
    lost = [udp.send(folder / kind, kind, profile, plan).lost() for kind in KINDS]
    delivered = [str(len(plan) - len(each)) for each in lost]
    met = lost[0] == lost[1] == set(range(profile.queue_packets, len(plan)))
    return Row(
        f"packets delivered out of a burst of {len(plan)}, with a queue of {profile.queue_packets}",
        *delivered,
        f"the first {profile.queue_packets}",
        met,
    )


def drop_sets(folder: Path, profile: Profile) -> Row:
    """Return whether one seed drops the same packets in two boots of the virtual kernel and under the wall clock."""
    plan = udp.sparse(5000, 500_000, SEED)
    boots = [udp.send(folder / f"boot{n}", "link", profile, plan) for n in (1, 2)]
    wall = udp.send(folder / "wall", "link", profile, plan, clock="wall")
    runs = (*boots, wall)
    same = len({frozenset(run.lost()) for run in runs}) == len({run.drop_set() for run in runs}) == 1
    other = udp.send(folder / "other", "link", profile, plan, seed=SEED + 1)
    return Row(
        f"packets lost out of {len(plan)}: seed {SEED} in two boots and under the wall clock; seed {SEED + 1}",
        f"{', '.join(str(len(run.lost())) for run in runs)}; {len(other.lost())}",
        "-",
        "same seed, same set; different seed, different set",
        same and other.lost() != boots[0].lost(),
    )


def goodputs(folder: Path) -> Iterator[Row]:
    """Yield the goodputs of downloads with and without random losses."""
    transfers = Transfers(folder)
    for path, profile in (("clean", MEDIUM), ("lossy", replace(POOR, loss=0.02))):
        for protocol, stack in (("h2", "TCP"), ("h3", "quic-go")):
            found = {kind: transfers.goodputs_bps(protocol, path, kind, profile) for kind in KINDS}
            yield _goodput_row(f"{stack}, {profile.bps / 1e6:.0f} Mbit/s, {profile.loss:.0%} loss", found)


def _goodput_row(what: str, found: dict[Kind, list[float]]) -> Row:
    compared = ratio(found["link"], found["netem"])
    return Row(
        f"goodput of {what}, {len(found['link'])} downloads each: median (min to max), Mbit/s",
        *(_spread(found[kind]) for kind in KINDS),
        f"ratio within 10 %: {compared.centre:.3f} ({compared.low:.3f} to {compared.high:.3f})",
        equivalent(compared),
    )


def _quantiles(sorted_ns: list[int]) -> str:
    at = [sorted_ns[round(share * (len(sorted_ns) - 1))] / 1e3 for share in (0, 0.5, 0.99, 1)]
    return ", ".join(f"{value:.3f}" for value in at)


def _spread(values: list[float]) -> str:
    ordered = sorted(value / 1e6 for value in values)
    return f"{ordered[len(ordered) // 2]:.2f} ({ordered[0]:.2f} to {ordered[-1]:.2f})"


if __name__ == "__main__":
    try:
        sys.exit(users.main() if "--users" in sys.argv[1:] else main())
    except UserError as error:
        print(f"{error.message}\n  -> {error.remedy}" if error.remedy else error.message, file=sys.stderr)
        sys.exit(error.status)
