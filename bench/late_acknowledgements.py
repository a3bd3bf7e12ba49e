"""How late clients acknowledge: the table of docs/results/page-browsers.md, of campaigns with a record of packets.

    PYTHONPATH=src .venv/bin/python bench/late_acknowledgements.py CAMPAIGN...

Of each packet with data that reaches the client: how long it is until the client sends anything, from which the server
can first know. TCP is acknowledged by the kernel, QUIC by the client's own program, when that has the time. A Markdown
table: a row for each kind of trial, of its valid trials the median of their 50th, 90th and 99th percentiles, in ms.
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
    """Print the table."""
    rows: dict[tuple[Any, ...], list[list[float]]] = defaultdict(list)
    for folder in map(Path, arguments):
        for cell, trial in _valid(folder):
            if packets_file(trial).is_file():
                rows[tuple(cell.values())].append(late_ms(trial))
    heads = ["of trials with", "trials", *(f"{one}th percentile, ms" for one in PERCENTILES)]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for levels, late in sorted(rows.items()):
        middles = (f"{one:.2f}" for one in np.median(late, axis=0))
        print(f"| {', '.join(map(str, levels))} | {len(late)} | {' | '.join(middles)} |")
    return 0


def _valid(campaign: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The cell and the folder of each attempt that counts."""
    for line in (campaign / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and event["valid"]:
            yield event["cell"], campaign / "trials" / f"{event['trial']}~{event['attempt']}"


def late_ms(trial: Path) -> list[float]:
    """The percentiles, ms."""
    packets = read_packets(trial, columns=COLUMNS)
    data = (packets["way"] == DOWN) & (packets["fate"] == DELIVERED) & (packets["payload"] > 0)
    came, sent = np.sort(packets["left_ns"][data]), np.sort(packets["at_ns"][packets["way"] == UP])
    after = np.searchsorted(sent, came)
    known = after < len(sent)
    return list(np.percentile((sent[after[known]] - came[known]) / 1e6, PERCENTILES))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
