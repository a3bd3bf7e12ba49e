"""`h123 lab exec`: any two commands across a link."""

import json
import os
from pathlib import Path

import pytest

from cli.conftest import Tool

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")
SERVER = "python3 -m http.server 8000"


def test_output_and_status_of_the_client_pass_through(h123: Tool) -> None:
    client = "python3 -c 'print(1+1)'; echo on $H123_SERVER; echo no >&2; exit 7"
    done = h123("lab", "exec", "--network", "medium", "--server", "sleep 600", "--client", client)
    assert done.returncode == 7
    assert done.stdout.startswith("2\non 10.")
    assert "no" in done.stderr


def test_traffic_crosses_the_link_with_its_delay(h123: Tool) -> None:
    fetch = (
        "python3 -c 'import os,time,urllib.request as u; t=time.monotonic();"
        'n=len(u.urlopen("http://"+os.environ["H123_SERVER"]+":8000/").read());'
        "print(n, time.monotonic()-t)'"
    )
    arguments = ["--network", "poor", "--server", SERVER, "--client", fetch, "--json", "link.json"]
    done = h123.succeed("lab", "exec", *arguments)
    size, seconds = done.stdout.split()
    assert int(size) > 0
    assert float(seconds) >= 0.1  # connection and request: two round trips of 50 ms
    directions = json.loads((h123.folder / "link.json").read_text())["directions"]
    assert directions["down"]["bytes_delivered"] > int(size)


def test_both_commands_find_an_ipv6_address(h123: Tool) -> None:
    serve = "exec python3 -m http.server 8000 --bind $H123_SERVER"
    fetch = "curl -s -o /dev/null -w '%{remote_ip} %{http_code}' http://[$H123_SERVER]:8000/"
    arguments = ["--network", "medium", "--address", "ipv6", "--server", serve, "--client", fetch]
    done = h123("lab", "exec", *arguments)
    assert done.stdout == "fd00:1::2 200", done.stderr


def test_every_packet_is_accounted_for_once_even_if_copies_arrive(h123: Tool) -> None:
    (h123.folder / "twice.yaml").write_text(
        "h123: network/1\nname: twice\ntitle: half of all packets arrive twice\nboth: {delay: 5ms, duplicate: 50%}\n"
    )
    fetch = "curl -s -o /dev/null http://$H123_SERVER:8000/"
    arguments = ["--network", "twice.yaml", "--server", SERVER, "--client", fetch, "--json", "link.json"]
    h123.succeed("lab", "exec", *arguments)
    for counted in json.loads((h123.folder / "link.json").read_text())["directions"].values():
        outcomes = ("delivered", "lost", "queue_dropped", "blocked", "in_flight")
        assert counted["packets_in"] == sum(counted[outcome] for outcome in outcomes)
        assert counted["duplicated"] > 0


def test_a_report_may_be_written_into_a_stream_and_over_nothing_else(h123: Tool) -> None:
    exchange = ["lab", "exec", "--network", "lan", "--server", "sleep 600", "--client", "true", "--json"]
    h123.succeed(*exchange, "/dev/null")
    assert Path("/dev/null").is_char_device()
    os.mkfifo(h123.folder / "pipe")
    (h123.folder / "folder").mkdir()
    (h123.folder / "there").write_text("kept")
    (h123.folder / "link").symlink_to("there")
    for name in ("pipe", "folder", "there", "link", "/"):
        h123.refusal(*exchange, name)
    assert (h123.folder / "pipe").is_fifo()
    assert (h123.folder / "there").read_text() == "kept"
    h123.succeed(*exchange, "there", "--force")
    assert "directions" in json.loads((h123.folder / "there").read_text())
