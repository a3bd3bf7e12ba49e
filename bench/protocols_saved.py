"""Prints the table of docs/results/servers-protocols.md from a campaign of `studies/servers-protocols.yaml`.

    PYTHONPATH=src .venv/bin/python bench/protocols_saved.py CAMPAIGN

There is a Markdown table for each network. A row has a server's ratios HTTP/3 / HTTP/2 of latency and of processor time
per request, each with its interval, and `not known` if there is no verdict. The server with the smallest ratio of
latency for the first client is at the top.
"""

import json
import sys
from pathlib import Path
from typing import Any

METRICS = {"latency": "latency", "cpu_server": "CPU"}
Ratios = dict[tuple[str, str, str], dict[str, Any]]
"""The comparisons in one network, by server, client and metric."""


def main(arguments: list[str]) -> int:
    verdicts = json.loads((Path(arguments[0]) / "verdicts.json").read_text())
    asked = [one for one in verdicts["comparisons"] if (one["a"], one["b"], one["twin"]) == ("h3", "h2", False)]
    for network in dict.fromkeys(one["cell"]["network"] for one in asked):
        here = [one for one in asked if one["cell"]["network"] == network]
        print(f"## {network}\n")
        print("\n".join(_table({(o["cell"]["server"], o["cell"]["client"], o["metric"]): o for o in here})), end="\n\n")
    return 0


def _table(here: Ratios) -> list[str]:
    clients = list(dict.fromkeys(client for _, client, _ in here))
    ranked = sorted({server for server, _, _ in here}, key=lambda server: here[server, clients[0], "latency"]["ratio"])
    columns = [(client, metric) for client in clients for metric in METRICS]
    heads = ["server", *(f"{METRICS[metric]}, {client}" for client, metric in columns)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for server in ranked:
        cells = [_cell(here[server, client, metric]) for client, metric in columns]
        lines.append(f"| {' | '.join([server, *cells])} |")
    return lines


def _cell(one: dict[str, Any]) -> str:
    interval = f"{one['ratio']:.3g} ({one['low']:.3g} to {one['high']:.3g})"
    return f"{interval}, not known" if one["verdict"] == "inconclusive" else interval


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
