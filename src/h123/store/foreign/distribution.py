"""Reads the output of tools that write percentiles and counts instead of single requests.

Each request gets the time of the next higher percentile that the tool printed. So every printed percentile is right,
and a time between two of them is at most one step too large.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TextIO

from h123.base.complaints import excerpt
from h123.base.errors import UserError

COUNT = "count"
"""The column with the number of requests that a row represents."""
MOST_REQUESTS = 5_000_000
Tool = Literal["autocannon", "locust", "nighthawk"]
Step = tuple[Decimal, str]
"""A fraction of all requests, fastest first, and the longest time of these requests in seconds."""
_HOW: Mapping[Tool, str] = {
    "autocannon": "autocannon --json ... > FILE",
    "locust": "locust --headless --csv NAME ..., which writes NAME_stats.csv",
    "nighthawk": "nighthawk_client --output-format json ... > FILE",
}
_BY_STATUS = re.compile(r"[1-5][0-9][0-9]")


def read_distribution(path: Path, file: TextIO, tool: Tool) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of one run, with `count`, `seconds`, `status`, `error` and, if the tool gives it, `start`."""
    reader = {"autocannon": _autocannon, "locust": _locust, "nighthawk": _nighthawk}[tool]
    try:
        yield from reader(file)
    except RecursionError:
        raise _no_output(path, tool, "nested too deeply") from None
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError, csv.Error) as fault:
        why = f"`{fault.args[0]}` is missing" if isinstance(fault, KeyError) else str(fault)
        raise _no_output(path, tool, why) from None


def _no_output(path: Path, tool: Tool, why: str) -> UserError:
    return UserError(f"{path}: not what {tool} writes: {why[:200]}", remedy=f"write it with {_HOW[tool]}")


def _json(file: TextIO) -> Any:
    whole = json.load(file, parse_float=Decimal)
    if not isinstance(whole, dict):
        raise ValueError(f"expected an object, found {excerpt(whole)}")
    return whole


def _count(value: Any) -> int:
    """Parse a number of requests. Raises ValueError if it is larger than a run may have, or negative."""
    count = Decimal(value)
    if not 0 <= count <= MOST_REQUESTS:
        raise ValueError(f"over {MOST_REQUESTS} requests in a run, or a negative number")
    return int(count)


def _steps(steps: Sequence[Step], count: int) -> Iterator[tuple[int, str]]:
    """Yield numbers of requests, each with the longest time that these requests took. No request is counted twice."""
    total = 0
    for share, seconds in sorted(steps, key=lambda step: step[0]):
        upto = round(min(share, Decimal(1)) * count)
        if upto > total:
            yield upto - total, seconds
            total = upto


def _rows(place: str, steps: Sequence[Step], count: int, failed: Mapping[str, int], **more: str) -> Any:
    """Yield rows for the steps and the failures. `failed` maps each kind of failure, or status, to its number of
    requests."""
    for number, seconds in _steps(steps, count - sum(failed.values())):
        yield place, {COUNT: str(number), "seconds": seconds, "status": "200", "error": "", **more}
    for why, number in failed.items():
        if not number:
            continue
        answered = _BY_STATUS.fullmatch(why)
        status, error = (why, "") if answered else ("0", why)
        yield place, {COUNT: str(number), "seconds": "", "status": status, "error": error, **more}


def _autocannon(file: TextIO) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield rows of autocannon's output. Its times are those of all responses, whatever their status; its `errors`
    include timeouts."""
    run = _json(file)
    steps = [
        (Decimal(name[1:].replace("_", ".")) / 100, str(Decimal(value) / 1000))
        for name, value in run["latency"].items()
        if re.fullmatch(r"p\d+(_\d+)?", name)
    ]
    steps.append((Decimal(1), str(Decimal(run["latency"]["max"]) / 1000)))
    # Earlier versions count responses only by class.
    by_class = {name: {"count": run[name]} for name in ("1xx", "3xx", "4xx", "5xx")}
    by_status = run.get("statusCodeStats") or by_class
    failed = {status: _count(counts["count"]) for status, counts in by_status.items() if not status.startswith("2")}
    failed |= {
        "timeout": _count(run["timeouts"]),
        "no response": max(_count(run["errors"]) - _count(run["timeouts"]), 0),
    }
    answers = _count(run["latency"].get("totalCount", run["requests"]["total"]))
    start = datetime.fromisoformat(run["start"]).timestamp()
    whole = answers + failed["timeout"] + failed["no response"]
    yield from _rows("latency", steps, whole, failed, start=f"{start:.0f}", url=str(run.get("url", "")))


def _locust(file: TextIO) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield rows of locust's output for all names except Aggregated, which is the total. Locust's times include those
    of failed requests."""
    for row in csv.DictReader(file, strict=True):
        if row["Name"] == "Aggregated" and not row["Type"]:
            continue
        steps = [
            (Decimal(name.rstrip("%")) / 100, str(Decimal(row[name]) / 1000))
            for name in row
            if name and re.fullmatch(r"\d+(\.\d+)?%", name) and row[name] != "N/A"
        ]
        failed = {"failed in locust (its failures file says why)": _count(row["Failure Count"])}
        yield from _rows(row["Name"], steps, _count(row["Request Count"]), failed, method=row["Type"], name=row["Name"])


def _nighthawk(file: TextIO) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield rows of Nighthawk's output: of the result named global, or of the first one if there is none."""
    whole = _json(file)
    results = {entry["name"]: entry for entry in whole["results"]}
    if not results:
        raise ValueError("it contains no result")
    run = results.get("global") or next(iter(results.values()))
    latencies = [entry for entry in run["statistics"] if entry["id"] == "benchmark_http_client.latency_2xx"]
    if not latencies:
        raise ValueError("it contains no statistic benchmark_http_client.latency_2xx")
    times = latencies[0]
    steps = [(Decimal(entry["percentile"]), entry["duration"].removesuffix("s")) for entry in times["percentiles"]]
    counters = {entry["name"]: _count(entry["value"]) for entry in run.get("counters", [])}
    failed = {f"{n}xx": counters.get(f"benchmark.http_{n}xx", 0) for n in (1, 3, 4, 5)}
    failed["no response"] = sum(
        counters.get(f"benchmark.{name}", 0) for name in ("stream_resets", "pool_connection_failure", "pool_overflow")
    )
    answered = _count(times["count"])
    start = next((entry["execution_start"] for entry in whole["results"] if entry.get("execution_start")), "")
    whole_seconds = re.sub(r"\.\d+", "", start)
    yield from _rows("latency_2xx", steps, answered + sum(failed.values()), failed, start=whole_seconds)
