"""Every network that h123 ships carries real traffic as it says."""

import json

import pytest

from cli.conftest import Tool
from h123.study import list_networks, load_network

STUDY = """\
h123: study/1
name: carry
question: Does this network carry traffic?
factors: {{protocol: [h2, h3]}}
settings: {{network: {network}, server: go, client: go, size: 20kB, users: 2, requests: 3, timeout: 8s}}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  families: [{{name: answer, correction: holm, metrics: [latency]}}]
blocks: 1
"""


@pytest.mark.heavy
@pytest.mark.parametrize("network", list_networks())
@pytest.mark.usefixtures("leaves_nothing_behind")
def test_network_carries_traffic(h123: Tool, network: str) -> None:
    (h123.folder / "carry.yaml").write_text(STUDY.format(network=network))
    done = h123("run", "carry.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    verdicts = json.loads((h123.folder / "out/verdicts.json").read_text())
    failed = {row["audit"] for row in verdicts["audit_summary"] if row["failed"]}
    # Without UDP no HTTP/3 request succeeds, and the trial says so.
    directions = [way for way in (load_network(network).up, load_network(network).down) if way]
    expected = {"requests-failed"} if any(way.udp in ("drop", "reject") for way in directions) else set()
    # One block has no verdict; two busy cores are the machine's affair; and these senders do not use ECN.
    assert failed - {"blocks-too-few", "client-saturated", "machine-saturated", "nothing-marked"} == expected
