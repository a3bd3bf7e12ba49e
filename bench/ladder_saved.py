"""Prints the table of docs/results/ladder.md from campaigns of `studies/ladder.yaml`.

    PYTHONPATH=src .venv/bin/python bench/ladder_saved.py CAMPAIGN...

The table is in Markdown. It has a row for each size and network, with the factor of the whole and those of the steps,
and their intervals. A factor is bold if its verdict is a difference. A line below the table gives the largest deviation
of the product of the factors from the whole.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

METRIC = "cold_latency"
_HEADS = {
    "h2-window": "initial window 32",
    "h2-timer": "minimum RTO 25 ms",
    "h2-apart": "connection per user",
    "h3-bare": "bare QUIC",
    "h3-paced": "quic-go's pacing",
    "h3-apart": "quic-go's packet sizes",
    "h3": "shared connection",
}


def main(arguments: list[str]) -> int:
    campaigns = [json.loads((Path(folder) / "verdicts.json").read_text()) for folder in arguments]
    rows = [row for campaign in campaigns for row in campaign["ladder"] if row["metric"] == METRIC]
    heads = ["size, network", "all steps: HTTP/3 / HTTP/2", *(_HEADS[step["a"]] for step in rows[0]["steps"])]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for row in rows:
        cells = [_cell(step) for step in (row["whole"], *row["steps"])]
        print(f"| {row['cell']['size']}, {row['cell']['network']} | {' | '.join(cells)} |")
    print(f"\nA product is at most {max(_off(row) for row in rows):.1e} off its whole, as a share.")
    return 0


def _cell(step: dict[str, Any]) -> str:
    if step["factor"] is None:
        return "no factor: a side failed in a block"
    factor = f"{step['factor']:.2f}"
    low, high = f"{step['low']:.2f}", f"{step['high']:.2f}"
    interval = "" if low == high == factor else f" ({low}–{high})"
    shown = f"**{factor}**" if step["verdict"] not in ("equivalent", "inconclusive") else factor
    return shown + interval


def _off(row: dict[str, Any]) -> float:
    factors = [step["factor"] for step in row["steps"]]
    return 0.0 if None in factors else abs(math.prod(factors) / row["whole"]["factor"] - 1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
