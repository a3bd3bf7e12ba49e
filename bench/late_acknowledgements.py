"""Measures how late clients acknowledge packets: the table of docs/results/page-browsers.md.

    PYTHONPATH=src .venv/bin/python bench/late_acknowledgements.py CAMPAIGN...

For each packet with data that reaches the client, it measures the time until the client next sends anything, because
that is when the server can first learn of the arrival. The kernel acknowledges TCP; over QUIC, the client's own program
does so when it has time. The Markdown table has a row for each kind of trial, with the medians of the 50th, 90th and
99th percentiles of its valid trials, in ms. The campaigns need a record of packets.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from h123.packets.capture import DELIVERED, DOWN, UP, packets_file, read_packets

COLUMNS = ("at_ns", "left_ns", "payload", "way", "fate")
PERCENTILES = (50, 90, 99)


def main(arguments: list[str]) -> int:
    """Print the table and return the exit status."""
    rows: dict[tuple[Any, ...], list[list[float]]] = defaultdict(list)
    for folder in map(Path, arguments):
        for cell, trial in valid_trials(folder):
            if packets_file(trial).is_file():
                rows[tuple(cell.values())].append(late_ms(trial))
    heads = ["of trials with", "trials", *(f"{one}th percentile, ms" for one in PERCENTILES)]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for levels, late in sorted(rows.items()):
        middles = (f"{one:.2f}" for one in np.median(late, axis=0))
        print(f"| {', '.join(map(str, levels))} | {len(late)} | {' | '.join(middles)} |")
    return 0


def valid_trials(campaign: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield the cell and the folder of each attempt that counts."""
    for line in (campaign / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and event["valid"]:
            yield event["cell"], campaign / "trials" / f"{event['trial']}~{event['attempt']}"


def late_ms(trial: Path) -> list[float]:
    """Return the percentiles of the delays in a trial, in ms."""
    packets = read_packets(trial, columns=COLUMNS)
    data = (packets["way"] == DOWN) & (packets["fate"] == DELIVERED) & (packets["payload"] > 0)
    came, sent = np.sort(packets["left_ns"][data]), np.sort(packets["at_ns"][packets["way"] == UP])
    after = np.searchsorted(sent, came)
    known = after < len(sent)
    return list(np.percentile((sent[after[known]] - came[known]) / 1e6, PERCENTILES))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
