"""Prints the tables of docs/results/scorecard.md from a campaign of `studies/scorecard.yaml` or
`studies/curl-tool.yaml`.

    PYTHONPATH=src .venv/bin/python bench/scorecard_saved.py CAMPAIGN [--intervals]

There are two Markdown tables for each network and server, each with a row for each load. One has the goodput of each
curl as the median over the blocks. The other has the ratios of goodput that the study compares, in bold if there is a
verdict, and with their intervals if you give --intervals.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

METRIC = "goodput"
INTERVALS = "--intervals"
MEGA = 1e6
"""verdicts.json has goodput in bits per second."""
Row = Mapping[str, Any]


def main(arguments: list[str]) -> int:
    [folder] = [argument for argument in arguments if argument != INTERVALS]
    verdicts = json.loads((Path(folder) / "verdicts.json").read_text())
    asked = [one for one in verdicts["comparisons"] if one["metric"] == METRIC and not one["twin"]]
    for place in dict.fromkeys(_place(one) for one in asked):
        here = [one for one in asked if _place(one) == place]
        print(f"## {place}\n")
        print("\n".join(_table(_medians(here))), end="\n\n")
        print("\n".join(_table(_ratios(here, intervals=INTERVALS in arguments))), end="\n\n")
    return 0


def _place(one: Row) -> str:
    """Return the server and the network of a comparison. A factor that the campaign does not vary is left out."""
    return ", ".join(one["cell"][factor] for factor in ("server", "network") if factor in one["cell"])


def _medians(here: Iterable[Row]) -> dict[str, dict[str, str]]:
    """Return the median goodputs in Mbit/s, by load and curl."""
    found = dict[str, dict[str, str]]()
    for one in here:
        row = found.setdefault(one["cell"]["load"], {})
        for side in ("a", "b"):
            if one[f"{side}_median"] is not None:
                row[one[side]] = f"{one[f'{side}_median'] / MEGA:.0f}"
    return found


def _ratios(here: Iterable[Row], *, intervals: bool) -> dict[str, dict[str, str]]:
    found = dict[str, dict[str, str]]()
    for one in here:
        found.setdefault(one["cell"]["load"], {})[f"{one['a']}/{one['b']}"] = _ratio(one, intervals)
    return found


def _ratio(one: Row, intervals: bool) -> str:
    if one["ratio"] is None:
        return "–"
    said = f"{one['ratio']:.2f}" + (f" ({one['low']:.2f} to {one['high']:.2f})" if intervals else "")
    return said if one["verdict"] == "inconclusive" else f"**{said}**"


def _table(rows: Mapping[str, Mapping[str, str]]) -> Sequence[str]:
    heads = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = [f"| load | {' | '.join(heads)} |", "|" + "---|" * (len(heads) + 1)]
    return lines + [f"| {load} | {' | '.join(row.get(name, '–') for name in heads)} |" for load, row in rows.items()]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
