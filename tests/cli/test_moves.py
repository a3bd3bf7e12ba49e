"""A campaign whose client moves in its midst, on real namespaces: who goes on, who begins anew, and what it costs."""

import json

import pytest

from cli.conftest import Tool
from h123.measures import load_attempts

NETWORK = """\
h123: network/1
name: moving
title: 10 ms, and another address after half a second
both: {delay: 5ms}
moves: [{at: 500ms, new: address}]
"""
STUDY = """\
h123: study/1
name: moving
question: Who survives it?
factors: {protocol: [h1, h2, h3]}
settings: {server: go, client: go, network: moving.yaml, size: 1kB, users: 2, requests: 150, timeout: 20s}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  failures: 99%
  families: [{name: answer, correction: holm, metrics: [recovery]}]
blocks: 1
"""


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_quic_goes_on_and_tcp_begins_anew(h123: Tool) -> None:
    (h123.folder / "moving.yaml").write_text(NETWORK)
    for attempt in load_attempts(h123.run_study(STUDY)):
        summary, recovery = attempt.summary, attempt.metrics["recovery"]
        assert recovery, attempt.name
        assert attempt.link.moves, attempt.name
        # Over TCP each connection ends, with what was under way on it. What the server never got is sent again.
        if attempt.cell["protocol"] == "h3":
            assert (summary.errors, summary.handshakes) == (0, 1)
        else:
            facts = json.loads((h123.folder / "out/trials" / attempt.name / "client.json").read_text())
            again = any("were made again" in note for note in facts.get("notes", []))
            assert summary.errors in (1, 2) or (summary.errors == 0 and again)
            assert summary.first_error == ("reset" if summary.errors else None)
            assert summary.handshakes
            assert summary.handshakes > summary.cold
    values = h123.verdicts()["values"]
    assert all(value["metrics"]["recovery"] for value in values)


def test_networks_say_where_their_client_goes(h123: Tool) -> None:
    listed = h123("list", "networks")
    assert "client seen from a new port at 2 s" in " ".join(listed.stdout.split())
    (h123.folder / "moving.yaml").write_text(NETWORK.replace("new: address", "new: adress"))
    commands = ("--server", "true", "--client", "true")
    assert "moving.yaml:5" in h123.refusal("lab", "exec", "--network", "moving.yaml", *commands)
