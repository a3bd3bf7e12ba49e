"""Every network that h123 ships carries real traffic as it says."""

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

TOO_NARROW = {"ipv4-dropped", "mtu-1280", "mtu-1280-black-hole", "mtu-1420-black-hole"}
"""Networks that drop all IPv4, packets as large as quic-go's first ones, or TCP's full segments without an error."""


@pytest.mark.heavy
@pytest.mark.parametrize("network", list_networks())
@pytest.mark.usefixtures("leaves_nothing_behind")
def test_network_carries_traffic(h123: Tool, network: str) -> None:
    h123.run_study(STUDY.format(network=network))
    verdicts = h123.verdicts()
    failed = {row["audit"] for row in verdicts["audit_summary"] if row["failed"]}
    # Without UDP no HTTP/3 request succeeds, and the trial says so. The same holds for any path that drops what every
    # connection needs.
    directions = [way for way in (load_network(network).up, load_network(network).down) if way]
    blocked = network in TOO_NARROW or any(way.udp in ("drop", "reject") for way in directions)
    expected = {"requests-failed"} if blocked else set()
    # One block has no verdict; two busy cores are the machine's affair; and these senders do not use ECN.
    assert failed - {"blocks-too-few", "client-saturated", "machine-saturated", "nothing-marked"} == expected
