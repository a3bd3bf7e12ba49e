"""An open loop beside a server that stands still: requests wait as long as the queue's arithmetic says, or longer."""

import csv
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from h123.base.roots import mounted
from h123.catalogue import (
    Subject,
    catalogue,
    command_line,
    controller,
    install,
    installation,
    prefix,
    settings,
)
from h123.execution import campaign_certificate
from h123.execution.certificate import HOST_NAME
from h123.study.workload import Target
from h123.verification.client_cases import client_parameters

MS = 1_000_000
EVERY = MS
"""From one request to the next."""
COUNT = 3000
STALL_S = 0.2
STOPS = 10 * MS
"""In which a server that is told to stop has stopped."""


@pytest.fixture(params=["go", pytest.param("load", marks=pytest.mark.heavy)])
def client(request: pytest.FixtureRequest) -> Subject:
    install(catalogue()["go"], print)
    subject = catalogue()[request.param]
    if installation(subject) is None:
        pytest.skip(f"{subject.name} is not installed")
    return subject


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Target]]:
    """The embedded one over loopback, HTTP/2."""
    tls = campaign_certificate(tmp_path / "tls", ["127.0.0.1"])
    unasked = ("alt-svc", "documents", "qlog", "initial-window", "pacing", "max-datagram")
    asked = {"address": "127.0.0.1", "port": "0", "protocol": "h2", "tls": "1.3"}
    files = {"cert": str(tls.cert), "key": str(tls.key)}
    options = [f"--{name}={value}" for name, value in {**asked, **files, **dict.fromkeys(unasked, "")}.items()]
    program = prefix(catalogue()["go"]) / "h123-go"
    with subprocess.Popen([program, "serve", *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        port = int(process.stderr.readline().rsplit(":", 1)[1])
        yield process, Target(HOST_NAME, "127.0.0.1", port, str(tls.ca), 7)
        process.send_signal(signal.SIGCONT)
        process.terminate()


@pytest.fixture
def command(client: Subject, server: tuple[subprocess.Popen[str], Target], tmp_path: Path) -> list[str]:
    """A request a millisecond for three seconds, in the test's folder."""
    assert client.client
    even = {"process": "constant", "steps": [{"rate": 1000.0, "lasts": "1s"}]}
    asked = client_parameters(
        client, client.client, protocol="h2", size="1kB", users=10, requests=COUNT // 10, cold=False, arrivals=even
    )
    (tmp_path / "workload.json").write_text(asked.workload.file(server[1]).model_dump_json(exclude_unset=True))
    places = {"workload": "workload.json", "samples": "samples.csv", "facts": "client.json"}
    words = command_line(client, "client", **places, congestion=controller(client, asked), **settings(asked))
    return [word.replace(mounted("subjects"), str(prefix(client).parent)) for word in words]


def stand_still(process: subprocess.Popen[str]) -> tuple[int, int]:
    """From when to when it surely did."""
    os.kill(process.pid, signal.SIGSTOP)
    stopped = time.monotonic_ns() + STOPS
    time.sleep(STALL_S)
    going = time.monotonic_ns()
    os.kill(process.pid, signal.SIGCONT)
    return stopped, going


def test_requests_that_are_due_while_it_stands_still_wait_for_its_end(
    command: list[str], server: tuple[subprocess.Popen[str], Target], tmp_path: Path
) -> None:
    """One due a time x into a stall of 200 ms takes 200 ms - x or more, and there is one each millisecond: a client
    that waits for answers would not even ask. All of this is bounds that a busy machine cannot break."""
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(1.2)
        stopped, going = stand_still(server[0])
        _, said = running.communicate(timeout=60)
    assert running.returncode == 0, said
    with (tmp_path / "samples.csv").open() as file:
        rows = [(int(row["start_ns"]), int(row["end_ns"]), row["error"]) for row in csv.DictReader(file)]
    assert not any(error for *_, error in rows)
    starts = sorted(start for start, *_ in rows)
    assert {later - earlier for earlier, later in itertools.pairwise(starts)} == {EVERY}
    if starts[0] > stopped or starts[-1] < going:
        pytest.skip("the machine was so busy that the stall came before or after the requests")
    caught = [(start, end) for start, end, _ in rows if stopped <= start <= going]
    assert len(caught) == pytest.approx((going - stopped) / EVERY, abs=1)
    assert all(end >= going for _, end in caught)
