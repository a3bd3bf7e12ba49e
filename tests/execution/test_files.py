"""The files of one trial: its hosts, links and roles."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from catalogue.small import MANIFEST, small
from h123.base.roots import mounted
from h123.catalogue import Subject, catalogue
from h123.execution.certificate import Certificate
from h123.execution.files import write_trial_files
from h123.packets.capture import MOST_IN_CAMPAIGN
from h123.study import Parameters, PlannedTrial, load_network

NETWORKS = {name: load_network(name) for name in ("lan", "medium", "egress-poor", "edge")}
CERTIFICATE = Certificate(ca=Path("/ca.pem"), cert=Path("/cert.pem"), key=Path("/key.pem"))


def files(
    folder: Path, subjects: dict[str, Subject] | None = None, **changes: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """trial.json and workload.json of a trial, with `subjects` besides the project's own."""
    basis = {"protocol": "h2", "server": "go-rest", "client": "go", "network": "medium", "size": "2MB"}
    trial = PlannedTrial("b01-t01", 1, 1, {}, False, Parameters.model_validate({**basis, **changes}), 7)
    known = {**catalogue(), **(subjects or {})}
    write_trial_files(folder, trial, NETWORKS, known, CERTIFICATE, check=True)
    trial_file, workload = ((folder / name).read_text() for name in ("trial.json", "workload.json"))
    return json.loads(trial_file), json.loads(workload)


def role(trial: dict[str, Any], name: str) -> dict[str, Any]:
    return next(role for role in trial["roles"] if role["name"] == name)


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_without_a_store_there_is_no_backend(tmp_path: Path) -> None:
    trial, _ = files(tmp_path)
    assert trial["hosts"] == ["client", "server"]
    assert [link["name"] for link in trial["links"]] == ["access"]
    assert [role["name"] for role in trial["roles"]] == ["server", "client"]
    assert option(role(trial, "server")["command"], "--store") == "memory"


def test_client_and_server_have_processors_of_their_own_where_asked(tmp_path: Path) -> None:
    trial, _ = files(tmp_path, affinity="apart")
    mine, others = role(trial, "client")["processors"], role(trial, "server")["processors"]
    assert sorted(mine + others) == sorted(os.sched_getaffinity(0))
    trial, _ = files(tmp_path)
    assert "processors" not in role(trial, "client")


def test_a_backend_stands_behind_the_server_and_starts_first(tmp_path: Path) -> None:
    trial, _ = files(tmp_path, store="gcs")
    assert trial["hosts"] == ["client", "server", "backend"]
    access, storage = trial["links"]
    assert (access["name"], access["kind"]) == ("access", "emulated")
    assert (storage["a"]["host"], storage["b"]["host"], storage["kind"]) == ("server", "backend", "veth")
    assert [role["name"] for role in trial["roles"]] == ["backend", "server", "client"]
    address = f"{storage['b']['address']}:{role(trial, 'backend')['ready']['tcp'][0]}"
    assert option(role(trial, "server")["command"], "--emulator") == address


def test_packets_of_every_emulated_link_and_connections_are_recorded(tmp_path: Path) -> None:
    trial, _ = files(tmp_path, store="gcs", network="lan", backend_network="egress-poor")
    veth, emulated = trial["links"]
    assert "packets" not in veth
    assert emulated["packets"] == MOST_IN_CAMPAIGN
    assert trial["tcp_account"]


def test_what_get_asks_for_is_seeded(tmp_path: Path) -> None:
    for method, seeded in (("GET", "2000000"), ("POST", "0")):
        trial, _ = files(tmp_path, store="gcs", method=method)
        assert option(role(trial, "server")["command"], "--seed-bytes") == seeded


def test_the_backends_network_is_its_own(tmp_path: Path) -> None:
    trial, _ = files(tmp_path, store="gcs", network="lan", backend_network="egress-poor")
    access, storage = trial["links"]
    assert access["kind"] == "veth"
    assert storage["up"]["rate"] == {"bps": 10_000_000}
    assert "rate" not in storage["down"]
    assert trial["check"]


def test_the_port_is_the_servers_and_the_clients(tmp_path: Path) -> None:
    trial, workload = files(tmp_path, port=4442)
    assert workload["port"] == 4442
    ready = role(trial, "server")["ready"]
    assert (ready["tcp"], ready["address"]) == ([4442], "10.1.0.2")
    assert option(role(trial, "server")["command"], "--port") == "4442"


PROXY = MANIFEST.replace('"{cert}", "{key}"', '"{upstream}", "{files}", "{block}"')


@pytest.mark.parametrize("port", [4443, 8080])
def test_a_server_that_passes_requests_on_has_an_origin_in_its_host(tmp_path: Path, port: int) -> None:
    trial, _ = files(tmp_path, {"small": small(tmp_path, PROXY)}, server="small", port=port)
    assert [role["name"] for role in trial["roles"]] == ["origin", "server", "client"]
    assert trial["hosts"] == ["client", "server"]
    origin = role(trial, "origin")
    assert origin["host"] == "server"
    listens = origin["ready"]["tcp"][0]
    assert listens != port
    assert option(origin["command"], "--port") == str(listens)
    upstream = f"{option(origin['command'], '--address')}:{listens}"
    assert role(trial, "server")["command"][3:] == [upstream, mounted("bodies"), mounted("bodies", "block"), "cubic"]


EDGE = PROXY.replace("listens =", "edge = true\nlistens =")


def test_behind_an_edge_the_origin_has_a_host_of_its_own(tmp_path: Path) -> None:
    only = {"small": small(tmp_path, EDGE)}
    trial, _ = files(tmp_path, only, server="small", backend_network="edge")
    assert trial["hosts"] == ["client", "server", "backend"]
    _, link = trial["links"]
    assert (link["name"], link["a"]["host"], link["b"]["host"], link["kind"]) == (
        "edge",
        "server",
        "backend",
        "emulated",
    )
    origin, server = role(trial, "origin"), role(trial, "server")
    assert (origin["host"], origin["ready"]["address"]) == ("backend", link["b"]["address"])
    upstream, its_own_files = server["command"][3:5]
    assert upstream == f"{link['b']['address']}:{origin['ready']['tcp'][0]}"
    assert its_own_files == ""


ANNOUNCES = MANIFEST.replace('"{key}"', '"{alt_svc}"')
SITE = {"name": "one", "resources": [{"name": "/", "type": "document", "size": 1000}]}


def test_http_3_is_announced_where_it_is_to_be_found(tmp_path: Path) -> None:
    """By the server over TCP, or in the DNS of the client's host, and by none that a client is told of."""
    only = {"small": small(tmp_path, ANNOUNCES)}
    visit = {"kind": "page", "site": SITE, "protocol": "h3", "port": 4442}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({**visit, "fallback": True}, ['h3=":4442"; ma=86400', ""]),
        ({**visit, "fallback": True, "announced": "https-record"}, ["", ""]),
        ({"protocol": "h3", "fallback": True}, ["", ""]),
        ({**visit}, [""]),
    ]
    for number, (changes, announced) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        trial, workload = files(folder, only, server="small", **changes)
        servers = [one for one in trial["roles"] if one["name"].startswith("server")]
        assert [one["command"][4] for one in servers] == announced
        assert workload["protocol"] == ("h3-or-h2" if changes.get("fallback") else "h3")
        looks_up = "announced" in changes
        assert [role(trial, "client")["resolver"], "lookup" in workload] == [looks_up] * 2
        told = [one["command"] for one in trial["roles"] if one["name"] == "resolver"]
        words = "/proc/self/exe resolver --name h123.test --at 10.1.0.2:4442 --alpn h3,h2"
        assert told == ([words.split()] if looks_up else [])


def test_qlog_files_go_to_the_trials_folder_where_there_are_any(tmp_path: Path) -> None:
    for protocol, asked, given in (("h3", True, "qlog"), ("h3", False, ""), ("h2", True, "")):
        folder = tmp_path / f"{protocol}-{asked}"
        folder.mkdir()
        trial, _ = files(folder, protocol=protocol, qlog=asked)
        assert option(role(trial, "server")["command"], "--qlog") == given
        assert (folder / "qlog").is_dir() == asked


def test_the_side_that_does_not_send_has_a_controller_of_its_own(tmp_path: Path) -> None:
    fixed = {"small": small(tmp_path, MANIFEST.replace('h3 = ["cubic", "reno"]', 'h3 = ["reno"]'))}
    trial, _ = files(tmp_path, fixed, server="small", protocol="h3", method="POST", congestion="cubic")
    assert trial["congestion"] == "cubic"
    assert role(trial, "server")["command"][-1] == "reno"


def test_senders_are_told_how_to_begin(tmp_path: Path) -> None:
    matched = {"initial_window": 10, "max_payload": 1448, "keep_idle_window": True}
    asked: list[tuple[dict[str, Any], dict[str, int] | None, list[str]]] = [
        ({}, None, ["", "", ""]),
        ({"transport": "matched"}, matched, ["10", "off", "1448"]),
        ({"transport": "matched", "initial_window": 16}, {**matched, "initial_window": 16}, ["16", "off", "1448"]),
        ({"initial_window": 32, "min_rto": "50ms"}, {"initial_window": 32, "min_rto_ns": 50_000_000}, ["32", "", ""]),
        ({"max_datagram": 1252, "pacing": False}, {"max_payload": 1252}, ["", "off", "1252"]),
    ]
    flags = ("--initial-window", "--pacing", "--max-datagram")
    for number, (changes, tcp, given) in enumerate(asked):
        folder = tmp_path / str(number)
        folder.mkdir()
        trial, _ = files(folder, protocol="h3", **changes)
        assert trial.get("tcp") == tcp
        for name in ("server", "client"):
            assert [option(role(trial, name)["command"], flag) for flag in flags] == given


def test_over_ipv6_the_server_has_only_that_address(tmp_path: Path) -> None:
    folders = [tmp_path / address for address in ("ipv4", "ipv6")]
    for folder in folders:
        folder.mkdir()
    trial, workload = files(folders[0], server="go", transport="matched")
    assert (trial["links"][0]["b"], workload["address"]) == ({"host": "server", "address": "10.1.0.2"}, "10.1.0.2")
    trial, workload = files(folders[1], server="go", transport="matched", address="ipv6")
    assert [trial["links"][0][end]["address6"] for end in ("a", "b")] == ["2001:db8:1::1", "2001:db8:1::2"]
    assert workload["address"] == option(role(trial, "server")["command"], "--address") == "2001:db8:1::2"
    assert (role(trial, "server")["ready"]["address"], trial["tcp"]["max_payload"]) == ("2001:db8:1::2", 1428)


def test_a_client_that_chooses_knows_both_addresses_or_looks_them_up(tmp_path: Path) -> None:
    for client, known in (("curl-ngtcp2", "2001:db8:1::2,10.1.0.2"), ("autocannon", "h123.test")):
        folder = tmp_path / client
        folder.mkdir()
        trial, workload = files(folder, server="go", client=client, address="both", port=443)
        assert workload["address"] == known
        assert trial["links"][0]["b"]["address6"] == "2001:db8:1::2"
        server = role(trial, "server")
        assert (option(server["command"], "--address"), server["ready"]["address"]) == ("::", "::")
        looked_up = [one["command"][1:] for one in trial["roles"] if one["name"] == "resolver"]
        words = "resolver --name h123.test --at 10.1.0.2:443 --at6 2001:db8:1::2"
        assert looked_up == [words.split()] * role(trial, "client").get("resolver", False)
        assert bool(looked_up) == (known == "h123.test")
