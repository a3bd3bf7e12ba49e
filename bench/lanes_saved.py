"""Shows how much time lanes saved in a campaign, and how trials affected each other.

    PYTHONPATH=src .venv/bin/python bench/lanes_saved.py CAMPAIGN

For all attempts on emulated links, it prints the sum of their durations and the real time during which at least one of
them ran. For attempts that ran at the same time as others, it prints two figures, each with its median and maximum: how
late the link sent packets (99th percentile), and how long a ready thread of a service waited for a processor on
average.
"""

import datetime as dt
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.measures import longest_waiting


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    events = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    attempts = [(event, _report(folder, event)) for event in events if event["event"] == "trial"]
    emulated = [(event, report) for event, report in attempts if report and _lateness_ns(report)]
    together, real = sum(event["seconds"] for event, _ in emulated), _covered([_span(event) for event, _ in emulated])
    print(f"{len(emulated)} attempts on emulated links: {together:.0f} s one after the other, ", end="")
    print(f"{real:.0f} s of real time ({real / together:.3f})")
    beside = [report for event, report in emulated if not event["alone"]]
    _print("link lateness p99", [max(_lateness_ns(report)) for report in beside])
    _print("mean wait of a ready thread", [w.mean_ns for report in beside if (w := longest_waiting(report))])
    return 0


def _report(folder: Path, event: dict[str, Any]) -> Report | None:
    path = folder / "trials" / f"{event['trial']}~{event['attempt']}" / "report.json"
    return read_document(path, Report) if path.exists() else None


def _lateness_ns(report: Report) -> list[int]:
    return [way.lateness_ns.p99 for link in report.links for way in link.ways()]


def _span(event: dict[str, Any]) -> tuple[float, float]:
    end = dt.datetime.fromisoformat(event["time"]).timestamp()
    return end - event["seconds"], end


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of the spans."""
    covered, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered


def _print(what: str, values: list[float]) -> None:
    if values:
        print(f"{what}, {len(values)} attempts beside others: ", end="")
        print(f"median {statistics.median(values) / 1e6:.3f} ms, at most {max(values) / 1e6:.2f} ms")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
