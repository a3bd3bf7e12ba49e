"""Writes the records of networks that were generated from published figures: networks/*.csv.

The figures and their sources are in the comments of the networks' files. `python tools/network_records.py`
"""

import math
import random
import statistics
from pathlib import Path

NETWORKS = Path(__file__).resolve().parents[1] / "networks"
STEP_S, ROWS = 2, 60
RATES = {
    "5g-driving": (15.9, 1.44, 0.59),
    "5g-static": (29.8, 1.61, 0.63),
    "5g-walking": (103, 0.45, 0.8),
    "lte": (11.9, 0.65, 0.6),
}
"""Mbit/s at the median, the standard deviation of its logarithm, and the correlation of consecutive rows."""
SLOTS, SLOT_S, HANDOVER_S, HANDOVER_MS, LEAST_MS, MOST_MS = 8, 15, 0.5, 15, 15, 25
"""Starlink: one-way delays."""


def main() -> None:
    """Write all records."""
    for name, text in records().items():
        (NETWORKS / f"{name}.csv").write_text(text)


def records() -> dict[str, str]:
    """Return the texts of the records, by the name of their network."""
    return {**{name: _rates(name) for name in RATES}, "starlink": _starlink()}


def _rates(name: str) -> str:
    """A lognormal rate that changes as a first-order autoregression, with exactly this median and spread."""
    (median, spread, correlation), draw = RATES[name], random.Random(name)
    levels = [draw.gauss(0, 1)]
    while len(levels) < ROWS:
        levels.append(correlation * levels[-1] + math.sqrt(1 - correlation**2) * draw.gauss(0, 1))
    middle, width = statistics.median(levels), statistics.pstdev(levels)
    scaled = [median * math.exp(spread * (level - middle) / width) for level in levels]
    return _text("rate_mbit_s", [(row * STEP_S, rate) for row, rate in enumerate(scaled)])


def _starlink() -> str:
    draw, rows = random.Random("starlink"), []
    for slot in range(SLOTS):
        delay = draw.uniform(LEAST_MS, MOST_MS)
        rows += [(slot * SLOT_S, delay + HANDOVER_MS), (slot * SLOT_S + HANDOVER_S, delay)]
    return _text("delay_ms", rows)


def _text(column: str, rows: list[tuple[float, float]]) -> str:
    return "".join([f"time_s,{column}\n", *(f"{time:g},{value:.3g}\n" for time, value in rows)])


if __name__ == "__main__":
    main()
