"""Measures how evenly servers put packets on the link: gaps between packets, and packet trains.

    PYTHONPATH=src .venv/bin/python bench/packet_trains.py CAMPAIGN...

A train is a sequence of packets of one connection with gaps below 0.1 ms, as in the artefacts of arXiv 2505.09222
(analysis/02_plotting.py). As there, packets count: a train of ten counts ten times. Times are those of arrival at the
link, before its queue. The Markdown table has a row for each kind of trial, over the packets of its valid trials.

Under the virtual clock, packets that a program sends before it waits arrive at the same time, with or without GSO, and
timers are never late: trains show what a stack intends.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from late_acknowledgements import valid_trials
from numpy.typing import NDArray

from h123.packets.capture import DOWN, packets_file, read_packets

BOUND_NS = 100_000
COLUMNS = ("at_ns", "payload", "destination", "way")
PERCENTILES = (50, 90, 99)
LENGTHS = (1, 5, 20)
Numbers = NDArray[np.int64]


def main(arguments: list[str]) -> int:
    """Print the table and return the exit status."""
    rows: dict[tuple[Any, ...], list[tuple[Numbers, Numbers]]] = defaultdict(list)
    for folder in map(Path, arguments):
        for cell, trial in valid_trials(folder):
            if packets_file(trial).is_file():
                rows[tuple(cell.values())].append(gaps_and_trains(trial))
    heads = [
        *("of trials with", "trials", "packets"),
        *(f"{one}th percentile of gaps, ms" for one in PERCENTILES),
        *(f"packets in trains of at most {one}" for one in LENGTHS),
        "longest train",
    ]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for levels, trials in sorted(rows.items()):
        gaps, trains = (np.concatenate(part) for part in zip(*trials, strict=True))
        if not len(gaps):
            continue
        spread = (f"{one:.3f}" for one in np.percentile(gaps, PERCENTILES) / 1e6)
        shares = (f"{100 * np.mean(trains <= one):.0f} %" for one in LENGTHS)
        cells = [", ".join(map(str, levels)), str(len(trials)), str(len(trains)), *spread, *shares, str(trains.max())]
        print(f"| {' | '.join(cells)} |")
    return 0


def gaps_and_trains(trial: Path) -> tuple[Numbers, Numbers]:
    """Return the gaps between the server's packets with data, connection by connection, in ns, and for each packet the
    length of its train."""
    packets = read_packets(trial, columns=COLUMNS)
    data = packets[(packets["way"] == DOWN) & (packets["payload"] > 0)]
    gaps, trains = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for port in np.unique(data["destination"]):
        times = np.sort(data["at_ns"][data["destination"] == port])
        gaps.append(np.diff(times))
        lengths = np.diff([0, *np.flatnonzero(gaps[-1] >= BOUND_NS) + 1, len(times)])
        trains.append(np.repeat(lengths, lengths))
    return np.concatenate(gaps), np.concatenate(trains)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
