"""subjects/curl as it visits pages, against the embedded server on this machine: each of its clients that is installed.

What `h123 verify` sees of a page is one that comes whole.
"""

import contextlib
import csv
import json
import os
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from h123.base.roots import mounted
from h123.catalogue import DEFAULT_CONGESTION, catalogue, command_line, install, installation, prefix
from h123.execution import campaign_certificate
from h123.execution.certificate import HOST_NAME, Certificate

CLIENTS = ["curl-ngtcp2", "curl-openssl", "curl-quiche"]
PROTOCOLS = ["h1", "h2", "h3"]
RUN_NS = 20_000_000
ADDRESS = "127.0.0.1"
"""The certificate is valid for it, too: another host of the same server."""
STRANGER = "stranger.test"
"""And not for this one."""
NOT_ASKED = "other: not asked for, because what asks for it failed"
WAIT_S = 60

pytestmark = pytest.mark.heavy
Visit = dict[int, dict[str, str]]
"""Rows by resource."""
Drive = Callable[..., dict[tuple[str, str], Visit]]


def _is_open(port: int) -> bool:
    """Without a packet to it."""
    lists = (Path(f"/proc/net/{kind}").read_text() for kind in ("tcp", "tcp6", "udp", "udp6"))
    return any(line.split()[1].endswith(f":{port:04X}") for each in lists for line in each.splitlines()[1:])


@contextlib.contextmanager
def _served(protocol: str, certificate: Certificate, folder: Path) -> Iterator[int]:
    go = catalogue()["go"]
    install(go, print)
    with contextlib.closing(socket.socket()) as free:
        free.bind((ADDRESS, 0))
        port = free.getsockname()[1]
    words = {"address": ADDRESS, "port": port, "protocol": protocol, "tls": "1.3"}
    words |= {"cert": certificate.cert, "key": certificate.key, "alt-svc": "", "documents": folder, "qlog": ""}
    words |= {"initial-window": "", "pacing": "", "max-datagram": ""}
    command = [
        str(prefix(go) / "h123-go"),
        "serve",
        *(str(w) for name, value in words.items() for w in (f"--{name}", value)),
    ]
    server = subprocess.Popen(command)
    try:
        late = time.monotonic() + WAIT_S
        while not _is_open(port):
            assert server.poll() is None
            assert time.monotonic() < late
            time.sleep(0.01)
        yield port
    finally:
        server.terminate()
        server.wait()


def _resource(path: str, initiator: int | None, urgency: int, run_ns: int = 0, **more: Any) -> dict[str, Any]:
    headers = [{"name": "priority", "value": f"u={urgency}", "changes": False}]
    return {"path": path, "headers": headers, "initiator": initiator, "urgency": urgency, "run_ns": run_ns, **more}


def _small() -> list[dict[str, Any]]:
    return [
        _resource("/bytes/1000", None, 0, RUN_NS),
        _resource("/bytes/2000", 0, 3),
        _resource("/bytes/3000", 0, 5),
        _resource("/bytes/4000", 0, 1),
        _resource("/bytes/500", 3, 0),
    ]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if installation(catalogue()[name]) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def drive(client: str, protocol: str, tmp_path: Path) -> Iterator[Drive]:
    certificate = campaign_certificate(tmp_path / "tls", [ADDRESS])
    with _served(protocol, certificate, tmp_path) as port:

        def visits(page: list[dict[str, Any]], **changed: Any) -> dict[tuple[str, str], Visit]:
            usual = {
                "h123": "workload/2", "kind": "page", "protocol": protocol, "host": HOST_NAME, "address": ADDRESS,
                "port": port, "ca": str(certificate.ca), "headers": [], "users": 2, "requests": 2, "warmup": 1,
                "rate": None, "connections": 2 if protocol == "h1" else 1, "at_once": 1 if protocol == "h1" else 100,
                "cold": True, "timeout_ns": 10_000_000_000, "seed": 7, "page": page,
            }  # fmt: skip
            (tmp_path / "workload.json").write_text(json.dumps(usual | changed))
            return _visits(_rows(client, tmp_path))

        yield visits


def _rows(client: str, folder: Path) -> list[dict[str, str]]:
    subject = catalogue()[client]
    places = {"workload": "workload.json", "samples": "samples.csv", "facts": "client.json"}
    command = command_line(subject, "client", **places, congestion=DEFAULT_CONGESTION)
    # Outside of a lab the subjects are where the cache has them.
    command = [word.replace(mounted("subjects"), str(prefix(subject).parent)) for word in command]
    subprocess.run(command, cwd=folder, check=True, timeout=WAIT_S, env=os.environ)
    with (folder / "samples.csv").open() as file:
        return list(csv.DictReader(file))


def _visits(rows: list[dict[str, str]]) -> dict[tuple[str, str], Visit]:
    found: dict[tuple[str, str], Visit] = defaultdict(dict)
    for row in rows:
        found[row["user"], row["group"]][int(row["resource"])] = row
    assert sum(map(len, found.values())) == len(rows)
    return found


def _whole(visits: dict[tuple[str, str], Visit], protocol: str, resources: int = 5) -> None:
    assert sorted(visits) == [(user, group) for user in "01" for group in "012"]
    for (_, group), visit in visits.items():
        assert len(visit) == resources
        for row in visit.values():
            assert (row["error"], row["status"], row["protocol"]) == ("", "200", protocol)
            assert row["phase"] == ("warmup" if group == "0" else "warm")


def _connections(visit: Visit) -> set[str]:
    return {row["connection"] for row in visit.values()}


def test_a_page_is_loaded_as_its_graph_says(drive: Drive, protocol: str) -> None:
    visits = drive(_small())
    _whole(visits, protocol)
    opened: set[str] = set()
    for visit in visits.values():
        ended = {resource: int(row["end_ns"]) for resource, row in visit.items()}
        for resource, (initiator, runs) in {1: (0, RUN_NS), 2: (0, RUN_NS), 3: (0, RUN_NS), 4: (3, 0)}.items():
            assert int(visit[resource]["start_ns"]) == ended[initiator] + runs
        assert len(_connections(visit)) == (2 if protocol == "h1" else 1)
        assert not opened & _connections(visit)
        opened |= _connections(visit)


def test_visits_that_are_not_cold_share_connections(drive: Drive, protocol: str) -> None:
    visits = drive(_small(), cold=False)
    _whole(visits, protocol)
    for user in "01":
        used = set().union(*(_connections(visits[user, group]) for group in "012"))
        assert len(used) == (2 if protocol == "h1" else 1)


def test_the_most_urgent_is_asked_for_first(drive: Drive, protocol: str) -> None:
    """Over HTTP/1.1 it has the open connection, the next one opens the other, and the least urgent one waits."""
    for visit in drive(_small()).values():
        if protocol == "h1":
            assert [visit[resource]["reused"] for resource in (3, 1, 2)] == ["1", "0", "1"]
            assert int(visit[2]["sent_ns"]) >= min(int(visit[resource]["end_ns"]) for resource in (1, 3))
        else:
            assert int(visit[3]["sent_ns"]) <= int(visit[1]["sent_ns"]) <= int(visit[2]["sent_ns"])


def test_what_asks_for_more_and_fails_takes_it_along(drive: Drive) -> None:
    page = _small()
    page[3]["path"] = "/nothing-here"
    page.append(_resource("/bytes/1", 4, 0))
    for visit in drive(page).values():
        errors = ["", "", "", "other: status 404", NOT_ASKED, NOT_ASKED]
        assert [visit[resource]["error"] for resource in range(6)] == errors
        assert [visit[4][name] for name in ("connection", "status")] == ["", "0"]
        assert visit[4]["start_ns"] <= visit[4]["end_ns"]


def test_users_pause_between_visits(drive: Drive, protocol: str) -> None:
    visits = drive(_small(), pause_ns=50_000_000)
    _whole(visits, protocol)
    for user in "01":
        for group in "12":
            over = max(int(row["end_ns"]) for row in visits[user, str(int(group) - 1)].values())
            assert int(visits[user, group][0]["start_ns"]) >= over + 50_000_000


def test_each_host_has_connections_of_its_own(drive: Drive, protocol: str) -> None:
    page = _small()
    page[1]["host"] = page[4]["host"] = ADDRESS
    visits = drive(page)
    _whole(visits, protocol)
    for visit in visits.values():
        other = {visit[resource]["connection"] for resource in (1, 4)}
        assert not other & {visit[resource]["connection"] for resource in (0, 2, 3)}


def test_a_host_that_the_certificate_does_not_name_is_not_trusted(drive: Drive) -> None:
    page = _small()
    page[1]["host"] = STRANGER
    for visit in drive(page).values():
        assert [row["error"] for _, row in sorted(visit.items())] == ["", "tls", "", "", ""]


def test_what_waits_for_a_place_has_its_timeout_too(drive: Drive) -> None:
    """One place, and bodies of which no machine sends all in that time."""
    endless = f"/bytes/{16 << 30}"
    page = [_resource("/bytes/1", None, 0), _resource(endless, 0, 0), _resource(endless, 0, 1)]
    page.append(_resource("/bytes/3", 2, 1))
    once = {"connections": 1, "at_once": 1, "users": 1, "requests": 1, "warmup": 0}
    for visit in drive(page, **once, timeout_ns=2_000_000_000).values():
        assert [visit[resource]["error"] for resource in range(4)] == ["", "timeout", "timeout", NOT_ASKED]
