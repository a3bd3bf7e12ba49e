"""Prints the absolute figures of docs/results/node-rps.md from a campaign of `studies/node-rps.yaml`.

    PYTHONPATH=src .venv/bin/python bench/node_rps.py CAMPAIGN

For every stack, it prints requests per second as the median over the blocks. It also prints the cost of crossing into
JavaScript: the server's processor time per request of quiche behind Node-API minus that of quiche alone, paired within
blocks. For large bodies, it prints this cost per MB and per packet too.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

RATE, COST = "rps", "cpu_server"
BEHIND, ALONE = "node-quiche", "quiche"
LOADS = {"small": 1e3, "large": 1e7}
"""The bytes of a body in each load."""
PACKET = 1350
"""The bytes of a QUIC packet, according to the article."""
Cell = tuple[str, str, str]


def main(arguments: Sequence[str]) -> int:
    [folder] = arguments
    values = json.loads((Path(folder) / "verdicts.json").read_text())["values"]
    rates, costs = (_by_block(values, metric) for metric in (RATE, COST))
    places = sorted({(load, network) for load, network, _ in rates}, key=lambda place: (-LOADS[place[0]], place[1]))
    for load, network in places:
        print(f"{load}, {network}: requests a second")
        for stack in sorted(stack for *place, stack in rates if place == [load, network]):
            print(f"  {stack:<20}{median(rates[load, network, stack].values()):>10,.4g}")
        print("\n".join(_crossing(load, costs[load, network, BEHIND], costs[load, network, ALONE])), end="\n\n")
    return 0


def _by_block(values: Sequence[Mapping[str, Any]], metric: str) -> Mapping[Cell, dict[int, float]]:
    """Return the values by load, network and stack, without twins, and by block."""
    found: defaultdict[Cell, dict[int, float]] = defaultdict(dict)
    for one in values:
        if not one["twin"] and one["metrics"][metric] is not None:
            cell = one["cell"]
            found[cell["load"], cell["network"], cell["stack"]][one["block"]] = one["metrics"][metric]
    return found


def _crossing(load: str, behind: Mapping[int, float], alone: Mapping[int, float]) -> list[str]:
    more = [behind[block] - alone[block] for block in behind.keys() & alone.keys()]
    told = f"  {BEHIND} - {ALONE}: {_micro(median(more))} a request ({_micro(min(more))} to {_micro(max(more))})"
    if load != "large":
        return [told]
    a_byte = median(more) / LOADS[load]
    return [told, f"  that is {_micro(a_byte * 1e6)} a MB, {_micro(a_byte * PACKET)} a packet"]


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
