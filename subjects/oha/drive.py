"""Starts oha for a workload and turns its CSV into samples.

oha tells of each request that succeeded when it began, counted from its own beginning, and how long it took; not whose
it was, nor of its connection. It has as many requests under way as there are users, so each row goes to one who was
free. Of those that failed it tells nothing here: they began and ended while oha ran.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DONE, FAILED, BAD_INPUT, UNSUPPORTED = 0, 1, 2, 127
COLUMNS = [
    *("phase", "user", "start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns", "status"),
    *("bytes_up", "bytes_down", "protocol", "connection", "reused", "error"),
]
VERSIONS = {"h1": "1.1", "h2": "2", "h3": "3"}
Row = dict[str, Any]


class Refusal(Exception):
    """Ends the client with a status of its own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_workload(path: str) -> dict[str, Any]:
    try:
        workload: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(BAD_INPUT, f"cannot read the workload {path}: {error}") from error
    if workload.get("h123") != "workload/1":
        raise Refusal(BAD_INPUT, f'{path}: h123 must be "workload/1"')
    if workload["protocol"] not in VERSIONS:
        raise Refusal(UNSUPPORTED, f"no protocol {workload['protocol']} here")
    if workload["cold"] or workload["rate"] is not None:
        raise Refusal(UNSUPPORTED, "oha has no cold requests, and its rate is not a Poisson process")
    users, connections = workload["users"], connection_count(workload)
    if users % connections or (workload["protocol"] == "h1" and users != connections):
        raise Refusal(UNSUPPORTED, f"oha cannot share {connections} connections among {users} users")
    return workload


def connection_count(workload: dict[str, Any]) -> int:
    connections, users = workload["connections"], workload["users"]
    if isinstance(connections, int):
        return connections
    return int(users) if connections == "per-user" or workload["protocol"] == "h1" else 1


def command(program: Path, workload: dict[str, Any], requests: int, scratch: Path) -> list[str]:
    connections = connection_count(workload)
    host, port = workload["host"], workload["port"]
    words = [
        *(str(program), "--no-tui", "--output-format", "csv", "--output", str(scratch / "oha.csv")),
        *("-n", str(requests), "-c", str(connections), "-p", str(workload["users"] // connections)),
        *("--http-version", VERSIONS[workload["protocol"]], "-m", workload["method"], "--disable-compression"),
        *("--cacert", workload["ca"], "--connect-to", f"{host}:{port}:{workload['address']}:{port}"),
        *("-t", f"{workload['timeout_ns'] // 1_000_000}ms", "-H", "user-agent: h123"),
    ]
    if workload["method"] == "POST":
        body = scratch / "body"
        body.write_bytes(os.urandom(workload["upload_bytes"]))
        words += ["-D", str(body), "-T", "application/octet-stream"]
    return [*words, f"https://{host}:{port}{workload['path']}"]


def succeeded(path: Path, workload: dict[str, Any], begun: int) -> Iterator[Row]:
    """The rows of oha's CSV, which are in the order in which they began."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            start = begun + round(float(row["request-start"]) * 1e9)
            status = int(row["status"])
            yield {
                "start_ns": start,
                "end_ns": start + round(float(row["request-duration"]) * 1e9),
                "status": status,
                "bytes_up": workload["upload_bytes"],
                "bytes_down": int(row["bytes"]),
                "protocol": workload["protocol"],  # oha speaks no other than it is told
                "reused": int(float(row["DNS+dialup"]) == 0),
                "error": "" if 200 <= status <= 299 else f"other: status {status}",
            }


def deal(rows: list[Row], workload: dict[str, Any]) -> None:
    """Gives each request to a user who is free, and a phase."""
    free_at = [0] * workload["users"]
    for n, row in enumerate(rows):
        user = min(range(len(free_at)), key=free_at.__getitem__)
        free_at[user] = row["end_ns"]
        row["user"] = user
        row["phase"] = "warmup" if n < workload["users"] * workload["warmup"] else "warm"


def measure(program: Path, workload: dict[str, Any]) -> list[Row]:
    requests = workload["users"] * (workload["warmup"] + workload["requests"])
    with tempfile.TemporaryDirectory(prefix="h123-oha-") as folder:
        scratch = Path(folder)
        words = command(program, workload, requests, scratch)
        begun = time.monotonic_ns()
        status = subprocess.run(words, check=False).returncode
        ended = time.monotonic_ns()
        if status != 0:
            raise Refusal(FAILED, f"oha ended with status {status}")
        rows = list(succeeded(scratch / "oha.csv", workload, begun))
    lost = {"start_ns": begun, "end_ns": ended, "status": 0, "bytes_up": 0, "bytes_down": 0}
    rows += [{**lost, "error": "other: oha counts it as failed"} for _ in range(requests - len(rows))]
    deal(rows, workload)
    return rows


def main() -> int:
    options = argparse.ArgumentParser()
    for name in ("--workload", "--samples", "--facts"):
        options.add_argument(name, required=True)
    arguments = options.parse_args()
    try:
        rows = measure(Path(__file__).parent / "bin" / "oha", read_workload(arguments.workload))
    except Refusal as refusal:
        print(f"h123-oha: {refusal}", file=sys.stderr)
        return refusal.status
    with Path(arguments.samples).open("w", newline="", encoding="utf-8") as file:
        samples = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        samples.writeheader()
        samples.writerows(rows)
    notes = ["times count from oha's start as a process, so all are earlier than they were by what that took"]
    facts = {"h123": "client/1", "tls": [], "congestion": None, "notes": notes}
    Path(arguments.facts).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
