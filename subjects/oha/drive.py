"""Starts oha for a workload and turns what it stores into samples.

oha stores of each request that was answered when it began, counted from its own beginning, and when it ended; not whose
it was, nor of its connection. It has as many requests under way as there are users, so each row goes to one who was
free. Of the others it counts the errors: they began and ended while oha ran.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from contract import UNSUPPORTED
from samples import Sample, write_samples
from workload import Refusal, Workload, read_workload

FAILED = 1
VERSIONS = {"h1": "1.1", "h2": "2"}
FAILURES = {"timeout": "timeout", "refused": "refused", "certificate": "tls", "reset": "reset", "closed": "reset"}
"""What oha's words for an error contain, and the contract's word."""


def check_supported(workload: Workload) -> None:
    if workload.protocol not in VERSIONS:
        raise Refusal(UNSUPPORTED, f"no protocol {workload.protocol} here")
    if workload.cold or workload.rate is not None:
        raise Refusal(UNSUPPORTED, "oha has no cold requests, and its rate is not a Poisson process")
    if workload.headers:
        raise Refusal(UNSUPPORTED, "no headers of a workload's own here")
    if isinstance(workload.connections, int):
        raise Refusal(UNSUPPORTED, "oha has one connection for all users, or one for each")


def command(program: Path, workload: Workload, scratch: Path) -> list[str]:
    host, port, timeout = workload.host, workload.port, f"{workload.timeout_ns // 1_000_000}ms"
    words = [
        *(str(program), "--no-tui", "--output-format", "json", "--db-url", str(scratch / "requests.db")),
        *("-n", str(workload.users * workload.per_user)),
        *("-c", str(workload.seats), "-p", str(workload.users // workload.seats)),
        *("--http-version", VERSIONS[workload.protocol], "-m", workload.method, "--disable-compression"),
        *("--cacert", workload.ca, "--connect-to", f"{host}:{port}:{workload.address}:{port}"),
        *("-t", timeout, "--connect-timeout", timeout, "-H", "user-agent: h123"),
    ]
    if workload.method == "POST":
        body = scratch / "body"
        body.write_bytes(os.urandom(workload.upload_bytes))
        words += ["-D", str(body), "-T", "application/octet-stream"]
    return [*words, f"https://{host}:{port}{workload.path}"]


def answered(database: Path, workload: Workload, begun: int) -> Iterator[Sample]:
    """The requests that oha stored, in the order in which they began."""
    stored = sqlite3.connect(database).execute("SELECT start, end, status, len_bytes FROM oha ORDER BY start")
    for start, end, status, size in stored:
        yield Sample(
            phase="",
            user=0,
            start_ns=begun + round(start * 1e9),
            end_ns=begun + round(end * 1e9),
            status=status,
            bytes_up=workload.upload_bytes,
            bytes_down=size,
            protocol=workload.protocol,  # oha speaks no other than it is told
            error="" if 200 <= status <= 299 else f"other: status {status}",
        )


def failed(counts: dict[str, int], begun: int, ended: int) -> Iterator[Sample]:
    """A row for every request that oha counts under an error."""
    for message, count in counts.items():
        words = (word for part, word in FAILURES.items() if part in message)
        error = next(words, f"other: {message}")
        for _ in range(count):
            yield Sample(phase="", user=0, start_ns=begun, end_ns=ended, error=error)


def deal(samples: list[Sample], workload: Workload) -> None:
    """Gives each request a phase, and a user who was free and has not had his share of it."""
    for n, sample in enumerate(samples):
        sample.phase = "warmup" if n < workload.users * workload.warmup else "warm"
    free_at = [0] * workload.users
    for phase, group in groupby(samples, lambda sample: sample.phase):
        left = [workload.warmup if phase == "warmup" else workload.requests] * workload.users
        for sample in group:
            sample.user = min((user for user in range(workload.users) if left[user]), key=free_at.__getitem__)
            left[sample.user] -= 1
            free_at[sample.user] = sample.end_ns


def measure(program: Path, workload: Workload) -> list[Sample]:
    with tempfile.TemporaryDirectory(prefix="h123-oha-") as folder:
        scratch = Path(folder)
        words = command(program, workload, scratch)
        begun = time.monotonic_ns()
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, text=True)
        ended = time.monotonic_ns()
        if done.returncode != 0:
            raise Refusal(FAILED, f"oha ended with status {done.returncode}")
        samples = list(answered(scratch / "requests.db", workload, begun))
    samples += failed(json.loads(done.stdout)["errorDistribution"], begun, ended)
    asked = workload.users * workload.per_user
    if len(samples) != asked:
        raise Refusal(FAILED, f"oha tells of {len(samples)} requests, not {asked}")
    deal(samples, workload)
    return samples


def main() -> int:
    options = argparse.ArgumentParser()
    for name in ("--workload", "--samples", "--facts"):
        options.add_argument(name, required=True)
    arguments = options.parse_args()
    try:
        workload = read_workload(arguments.workload)
        check_supported(workload)
        samples = measure(Path(__file__).parent / "bin" / "oha", workload)
    except Refusal as refusal:
        print(f"h123-oha: {refusal}", file=sys.stderr)
        return refusal.status
    write_samples(arguments.samples, samples)
    notes = ["times count from oha's start as a process, so all are earlier than they were by what that took"]
    facts = {"h123": "client/1", "tls": [], "congestion": None, "notes": notes}
    Path(arguments.facts).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
