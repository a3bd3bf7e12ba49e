"""Puts campaigns of `studies/atlas.yaml` into docs/results/atlas.csv.xz. Rows of servers that they lack stay.

    PYTHONPATH=src .venv/bin/python bench/atlas_saved.py CAMPAIGN...

There is a row for each server, workload, network and pair of HTTP versions: the two medians in ms, their ratio with its
interval, and the verdict. Where requests fail too often for a verdict, there is no ratio.
"""

import csv
import io
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

SAVED = Path(__file__).resolve().parents[1] / "docs/results/atlas.csv.xz"
HEAD = ["workload", "network", "server", "versions", "first", "second", "ratio", "low", "high", "verdict"]
WORKLOADS = {("page", "page_complete"): "page", ("api", "cold_latency"): "first", ("api", "latency"): "api"}
WORKLOADS |= {(name, "latency"): name for name in ("download", "upload")}
"""The atlas's workloads, by the study's workload and metric."""
VERDICTS = {"equivalent": "equal", "inconclusive": "undecided"}


def main(campaigns: list[str]) -> int:
    if not campaigns:
        sys.exit(__doc__)
    new = [row for path in campaigns for row in _rows(Path(path))]
    server = HEAD.index("server")
    measured = {row[server] for row in new}
    [_, *old] = csv.reader(lzma.decompress(SAVED.read_bytes()).decode().splitlines())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(sorted([*(row for row in old if row[server] not in measured), *new]))
    SAVED.write_bytes(lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    return 0


def _rows(campaign: Path) -> Iterator[list[str]]:
    verdicts = json.loads((campaign / "verdicts.json").read_text())
    for one in verdicts["comparisons"]:
        workload = WORKLOADS.get((one["cell"]["workload"], one["metric"]))
        judged = not one["withheld"]
        if one["twin"] or not workload or (judged and one["ratio"] is None):
            continue
        (server, first), (_, second) = (one[side].rsplit("-", 1) for side in "ab")
        times = [f"{1000 * one[f'{side}_median']:.3g}" if judged else "" for side in "ab"]
        ratios = [f"{one[key]:.3g}" if judged else "" for key in ("ratio", "low", "high")]
        verdict = VERDICTS.get(one["verdict"], one["verdict"]) if judged else "not judged"
        yield [workload, one["cell"]["network"], server, f"{first}/{second}", *times, *ratios, verdict]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
