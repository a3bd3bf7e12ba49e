"""Prints the tables of docs/results/servers.md from a campaign of `studies/servers.yaml`.

    PYTHONPATH=src .venv/bin/python bench/servers_saved.py CAMPAIGN

There is a Markdown table for each network, with a row for each server. It compares the server with the study's
reference server: for each client, latency with its interval and verdict, and processor time (none under the virtual
clock); then peak memory with the first client. The fastest server with the first client is at the top. The line below
a table says how similarly the two clients rank the servers (Kendall's tau-b of the latencies).
"""

import json
import sys
from pathlib import Path
from typing import Any

from scipy.stats import kendalltau

Comparisons = dict[tuple[str, str, str], dict[str, Any]]
"""The comparisons in one network, by server, client and metric."""

_VERDICTS = {"faster": "faster", "slower": "slower", "equivalent": "equal", "inconclusive": "undecided"}


def main(arguments: list[str]) -> int:
    verdicts = json.loads((Path(arguments[0]) / "verdicts.json").read_text())
    asked = [one for one in verdicts["comparisons"] if not one["twin"]]
    for network in dict.fromkeys(one["cell"]["network"] for one in asked):
        here = {(o["a"], o["cell"]["client"], o["metric"]): o for o in asked if o["cell"]["network"] == network}
        print(f"## {network}\n")
        print("\n".join(_table(here)), end="\n\n")
    return 0


def _table(here: Comparisons) -> list[str]:
    clients = list(dict.fromkeys(client for _, client, _ in here))
    servers = {server for server, _, _ in here}
    ranked = sorted(servers, key=lambda server: here[server, clients[0], "latency"]["ratio"])
    shown = ["latency", "verdict", *(["CPU"] if any(metric == "cpu_server" for *_, metric in here) else [])]
    heads = ["server", *(f"{what}, {client}" for client in clients for what in shown), "memory"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for server in ranked:
        cells = [text for client in clients for text in _cells(here, server, client)]
        memory = f"{here[server, clients[0], 'memory_server']['ratio']:.3g}"
        lines.append(f"| {' | '.join([server, *cells, memory])} |")
    if len(clients) == 2:
        first, second = ([here[server, client, "latency"]["ratio"] for server in ranked] for client in clients)
        tau = kendalltau(first, second)[0]
        lines += ["", f"Kendall's tau-b of the latencies with {' and '.join(clients)}: {tau:.2f}"]
    return lines


def _cells(here: Comparisons, server: str, client: str) -> list[str]:
    latency, cpu = here[server, client, "latency"], here.get((server, client, "cpu_server"))
    interval = f"{latency['ratio']:.3g} ({latency['low']:.3g} to {latency['high']:.3g})"
    return [interval, _VERDICTS[latency["verdict"]], *([f"{cpu['ratio']:.2g}"] if cpu else [])]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
