"""What a campaign tells from afar: read as Prometheus reads it."""

import json
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from h123.base.errors import UserError
from h123.progress import AttemptOutcome, InterimEstimate, Standing, listener
from h123.progress.display import NoDisplay
from h123.progress.exposition import Exposition, Listening
from h123.progress.listener import MOST
from results.test_servers import COUNTS, ended_trial

ROOT = Path(__file__).resolve().parents[2]
DASHBOARDS, FETCH = ROOT / "dashboards", ROOT / "subjects" / "debian" / "fetch"
STANDING = Standing(["b02-t01"], 7, 24, 12.5, 1, 3, [InterimEstimate("h3/h2", "latency", "poor 1kB", 0.76)])
FAILED: AttemptOutcome = {
    "trial": "b01-t02",
    "attempt": 1,
    "reasons": [{"code": "client-timeout", "detail": "after 60 s"}],
    "seconds": 61.0,
}
PATIENCE_S = 60.0


@pytest.fixture
def exposition(tmp_path: Path) -> Iterator[Exposition]:
    """Of a campaign in which one attempt has failed, and the next has not."""
    found = Exposition(Listening.read(":0"))
    with found.of("quick", Path("/campaigns/mine")), found.display_with(NoDisplay()) as display:
        display.show(STANDING)
        standing = replace(STANDING, ended=ended_trial(tmp_path))
        display.end(FAILED, standing)
        display.end({**FAILED, "reasons": []}, standing)
        display.show(standing)
        yield found


def _read(url: str) -> dict[str, float]:
    """Each sample by its name and labels."""
    asked = urllib.request.Request(url, headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            " ".join([sample.name, *map("=".join, sorted(sample.labels.items()))]): sample.value
            for family in families
            for sample in family.samples
            if not sample.name.endswith("_created")
        }


def test_tells_where_a_campaign_stands(exposition: Exposition) -> None:
    assert exposition.url.startswith("http://127.0.0.1:")
    shown = _read(exposition.url)
    assert shown["h123_server_packets_dropped_total protocol=h3 server=go way=up"] == 36
    assert sorted(shown.pop(name) for name in [*shown] if "server=go" in name) == sorted(COUNTS.values())
    assert shown == {
        "h123_campaign_info folder=/campaigns/mine study=quick": 1,
        "h123_trials_planned": 24,
        "h123_trials_done": 7,
        "h123_trials_running": 1,
        "h123_blocks_planned": 3,
        "h123_blocks_done": 1,
        "h123_time_left_seconds": 12.5,
        "h123_attempts_total outcome=failed": 1,
        "h123_attempts_total outcome=ok": 1,
        "h123_failures_total reason=client-timeout": 1,
        "h123_attempt_seconds_total": 122,
        "h123_disturbance_ratio": 0,
        "h123_link_lateness_seconds": 0.0001,
        "h123_estimate_ratio cell=poor 1kB metric=latency pair=h3/h2": 0.76,
    }


def test_people_see_what_they_saw_without() -> None:
    display = MagicMock()
    with Exposition(Listening.read(":0")).display_with(display) as exposed:
        exposed.show(STANDING)
        exposed.say("waiting", STANDING)
        exposed.end(FAILED, STANDING)
    assert [name for name, *_ in display.mock_calls] == ["__enter__", "show", "say", "end", "__exit__"]


def test_listens_no_longer_than_the_campaign() -> None:
    exposition = Exposition(Listening.read(":0"))
    with exposition.of("quick", Path("mine")):
        port = int(exposition.url.split(":")[2].split("/")[0])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), PATIENCE_S)


@pytest.mark.parametrize(
    "text", ["9464", "localhost", ":", ":x", ":65536", ":-1", ":²", "", ":" + "1" * 60, ":" + "9" * 5000]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not an address to listen on") as refused:
        Listening.read(text)
    assert ":9464" in str(refused.value.remedy)


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_an_address_that_cannot_be_had_is_named(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        exposition = Exposition(Listening.read(f"{host}:{taken.getsockname()[1]}"))
        with pytest.raises(UserError, match=f"cannot listen at {host}"), exposition.of("quick", Path("mine")):
            pass


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET /metrics HTTP/1.1\r\n" + b"x-y: " + b"z" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /metrics HTTP/1.1\r\n" + b"x-y: z\r\n" * 200 + b"\r\n", 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET /metrics HTTP/9.9\r\n\r\n", 505),
    ],
)
def test_what_is_no_request_gets_an_error_and_no_traceback(
    exposition: Exposition, capfd: pytest.CaptureFixture[str], request_: bytes, status: int
) -> None:
    with _connected(exposition) as asked:
        asked.sendall(request_)
        answer = b"".join(iter(lambda: asked.recv(65_536), b""))
    assert str(status).encode() in answer
    assert _read(exposition.url)["h123_trials_planned"] == 24
    assert capfd.readouterr() == ("", "")


def test_idle_connections_take_nothing_from_the_campaign(
    exposition: Exposition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of far more connections than it may keep open it keeps a few, and it still answers."""
    monkeypatch.setattr(listener._Handler, "timeout", 2 * PATIENCE_S)
    before = _open_files()
    idle = [_connected(exposition) for _ in range(60)]
    try:
        assert _read(exposition.url)["h123_trials_planned"] == 24
        end = time.monotonic() + PATIENCE_S
        while (mine := _open_files() - before - len(idle)) > MOST + 2 and time.monotonic() < end:
            time.sleep(0.01)  # the threads of connections that were ended close their files
        assert mine <= MOST + 2
    finally:
        for one in idle:
            one.close()


def test_what_says_nothing_is_ended(exposition: Exposition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener._Handler, "timeout", 0.2)
    with _connected(exposition) as silent, _connected(exposition) as half:
        half.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert silent.recv(1) == b""
        assert half.recv(1) == b""


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _connected(exposition: Exposition) -> socket.socket:
    port = int(exposition.url.split(":")[2].split("/")[0])
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S)


def test_dashboards_ask_for_what_is_shown(exposition: Exposition) -> None:
    asked = set(re.findall(r"h123_\w+", (DASHBOARDS / "grafana.json").read_text()))
    shown = {name.split()[0] for name in _read(exposition.url)}
    assert asked - shown == set()
    assert shown - asked == {"h123_campaign_info", "h123_attempt_seconds_total", "h123_trials_running"}


@pytest.mark.heavy
def test_a_real_prometheus_reads_it(exposition: Exposition, tmp_path: Path) -> None:
    """Debian's, with the project's own configuration but for the port."""
    subprocess.run(
        ["sh", FETCH, "bookworm", tmp_path / "p", "--", "prometheus=2.42.0*"], check=True, capture_output=True
    )
    written, address = (DASHBOARDS / "prometheus.yml").read_text(), exposition.url.split("/")[2]
    assert all(part in written for part in ("127.0.0.1:9464", "5s"))
    configured = tmp_path / "prometheus.yml"
    configured.write_text(written.replace("127.0.0.1:9464", address).replace("5s", "1s"))
    programs = tmp_path / "p" / "root" / "usr" / "bin"
    subprocess.run([programs / "promtool", "check", "config", configured], check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [programs / "prometheus", f"--config.file={configured}", f"--web.listen-address=127.0.0.1:{port}"]
    log = (tmp_path / "log").open("w")
    prometheus = subprocess.Popen([*command, f"--storage.tsdb.path={tmp_path / 'data'}"], stderr=log)
    try:
        found = _query(port, 'h123_estimate_ratio{pair="h3/h2"}')
    finally:
        prometheus.terminate()
        prometheus.wait(PATIENCE_S)
    assert [float(row["value"][1]) for row in found] == [0.76], (tmp_path / "log").read_text()


def _query(port: int, expression: str) -> Any:
    """What it answers, once it has something."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        time.sleep(0.5)
        try:
            url = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.request.quote(expression)}"
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                if found := json.load(answer)["data"]["result"]:
                    return found
        except OSError:
            continue
    return []
