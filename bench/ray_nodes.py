"""Measures how much faster a virtual campaign runs on two Ray nodes of one processor each than on one node.

    PYTHONPATH=src:tests .venv/bin/python bench/ray_nodes.py [--rounds 3] [--nodes 2]

The nodes are on this machine, each in its own network and mount namespaces (needs root). One node and several nodes
take turns. The result is the ratio of the median durations of the campaigns, according to their journals. If there are
several nodes, each of them also runs one trial a second time, to compare the bytes. This is a fixed cost, which matters
less with more blocks.
"""

import argparse
import datetime as dt
import json
import statistics
import sys
import tempfile
from pathlib import Path

from campaign.ray_nodes import ADDRESS, Cluster, ray_library

BAR = 1.8
STUDY = """\
h123: study/1
name: nodes
question: How long does a campaign take?
factors:
  protocol: [h2, h3]
  network: [poor]
settings: {server: go, client: go, congestion: cubic, method: GET, size: 100kB, users: 2, requests: 20, clock: virtual}
compare: {factor: protocol, pairs: [h3/h2], twin: h2, margin: 5%}
blocks: 24
seed: 7
"""


def main() -> int:
    """Measure and print the durations. Return exit status 1 if the bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=2)
    arguments = parser.parse_args()
    library, seconds = ray_library(), dict[int, list[float]]()
    for number in range(arguments.rounds):
        for nodes in (1, arguments.nodes) if number % 2 == 0 else (arguments.nodes, 1):
            seconds.setdefault(nodes, []).append(taken := _seconds(library, nodes))
            print(f"{nodes} nodes: {taken:.1f} s", flush=True)
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[arguments.nodes])
    print(f"{arguments.nodes} nodes are {ratio:.2f} times as fast as one (bar {BAR} for two)")
    return 0 if ratio >= BAR else 1


def _seconds(library: Path, nodes: int) -> float:
    """Run a campaign, and return the seconds from its first event to its last."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nodes.yaml").write_text(STUDY)
        with Cluster(library, folder, nodes) as cluster:
            run = cluster.h123(
                ["run", folder / "nodes.yaml", "--engine", "ray", "--address", ADDRESS, "--out", folder / "out"]
            )
            output, _ = run.communicate(timeout=1800)
            if run.returncode:
                sys.exit(output)
        events = [json.loads(line) for line in (folder / "out/journal.jsonl").read_text().splitlines()]
    times = [dt.datetime.fromisoformat(event["time"]) for event in events]
    return (times[-1] - times[0]).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
