"""Checks whether two campaigns of the same study contradict each other. Each is a folder or a published result.

    PYTHONPATH=src .venv/bin/python bench/agreement.py DIR DIR
    PYTHONPATH=src .venv/bin/python bench/agreement.py ip-versions DIR

Two verdicts agree if they are the same or if one of them is inconclusive. The exit status is 1 if any contradict each
other.
"""

import json
import sys
from pathlib import Path
from typing import Any

from h123.analysis.results.publication import published_verdicts
from h123.documents.result_file import results


def _verdicts(campaign: str) -> dict[str, Any]:
    published = {one.name: one for one in results()}
    if campaign in published:
        comparisons: Any = published_verdicts(published[campaign])[0]["comparisons"]
    else:
        comparisons = json.loads((Path(campaign) / "verdicts.json").read_text())["comparisons"]
    keys = ("cell", "metric", "a", "b")
    return {json.dumps([c[key] for key in keys], sort_keys=True): c for c in comparisons if not c["twin"]}


def main(folders: list[str]) -> int:
    if len(folders) != 2:
        print(__doc__)
        return 2
    first, second = map(_verdicts, folders)
    shared = first.keys() & second.keys()
    pairs = [(key, first[key]["verdict"], second[key]["verdict"]) for key in sorted(shared)]
    undecided = [pair for pair in pairs if "inconclusive" in pair[1:]]
    contradictions = [pair for pair in pairs if pair not in undecided and pair[1] != pair[2]]
    same = len(pairs) - len(undecided) - len(contradictions)
    print(f"{len(pairs)} comparisons: {same} with the same verdict, ", end="")
    print(f"{len(undecided)} inconclusive in at least one campaign, ", end="")
    print(f"{len(contradictions)} contradictory")
    for key, one, other in contradictions:
        print(f"  {key}: {one}, then {other}")
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
