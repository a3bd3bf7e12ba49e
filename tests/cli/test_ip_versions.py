"""Studies over IPv4 and IPv6, on real namespaces."""

import pytest

from cli.conftest import Tool
from h123.measures import load_attempts
from h123.packets.capture import read_packets

STUDY = """\
h123: study/1
name: versions
question: What does IPv6 cost?
factors:
  address: [ipv4, ipv6]
  protocol: [h1, h2, h3]
settings: {network: NETWORK, server: go, client: load, method: GET, size: 200kB, users: 1, requests: 2}
compare: {factor: address, pairs: [ipv6/ipv4], twin: ipv4}
blocks: 1
"""


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_packets_over_ipv6_carry_less(h123: Tool) -> None:
    sent = {}
    attempts = load_attempts(h123.run_study(STUDY.replace("NETWORK", "home")))
    assert len(attempts) == 9, "three of them are twins"
    for attempt in attempts:
        packets = read_packets(h123.folder / "out/trials" / f"{attempt.trial}~{attempt.attempt}")
        headers = {6: 60, 17: 48} if attempt.cell["address"] == "ipv6" else {6: 40, 17: 28}
        for protocol, least in headers.items():
            rows = packets[packets["protocol"] == protocol]
            assert ((rows["bytes"] - rows["payload"]) >= least).all()
        full = packets[packets["protocol"] == 6]["payload"]
        if len(full):
            assert full.max() == (1428 if attempt.cell["address"] == "ipv6" else 1448)
        sent[attempt.cell["protocol"], attempt.cell["address"]] = attempt.metrics["sent_down"]
    for protocol in ("h1", "h2", "h3"):
        assert 1.005 < sent[protocol, "ipv6"] / sent[protocol, "ipv4"] < 1.03, sent


CHOICE = """\
h123: study/1
name: choice
question: What does a client do where IPv6 is broken?
factors:
  ipv6: {works: {network: works.yaml}, dropped: {network: dropped.yaml}, rejected: {network: rejected.yaml}}
  protocol: [PROTOCOLS]
settings: {address: both, server: go, client: CLIENT, clock: CLOCK, size: 10kB, users: 1, requests: 1, warmup: 0}
compare: {factor: ipv6, pairs: [dropped/works], twin: works}
blocks: 1
"""


@pytest.mark.heavy
@pytest.mark.usefixtures("leaves_nothing_behind")
@pytest.mark.parametrize(
    ("client", "protocols", "clock"),
    [("curl-ngtcp2", "h2, h3", "virtual"), ("chromium", "h2", "wall"), ("firefox", "h2", "wall")],
)
def test_clients_use_ipv4_where_ipv6_is_broken(h123: Tool, client: str, protocols: str, clock: str) -> None:
    for name, policy in (("works", "pass"), ("dropped", "drop"), ("rejected", "reject")):
        network = f"h123: network/1\nname: {name}\ntitle: {name}\nboth: {{delay: 1ms, ipv6: {policy}}}\n"
        (h123.folder / f"{name}.yaml").write_text(network)
    study = CHOICE.replace("CLIENT", client).replace("PROTOCOLS", protocols).replace("CLOCK", clock)
    for attempt in load_attempts(h123.run_study(study)):
        waited, share = attempt.metrics["cold_ttfb"], attempt.metrics["over_ipv6"]
        works = attempt.cell["ipv6"] == "works"
        assert share > 90 if works else share < 10, "a browser may try both"
        dropped = attempt.cell["ipv6"] == "dropped"
        assert waited > 0.19 if dropped else waited < 0.19 or clock == "wall", waited


@pytest.mark.parametrize(
    ("name", "network", "said"),
    [
        ("rebinding", "", "carries no IPv6, because its client moves"),
        ("odd.yaml", "both: {delay: 5ms, mtu: 1000}", "1280 bytes that IPv6 needs"),
    ],
)
def test_networks_without_ipv6_are_refused(h123: Tool, name: str, network: str, said: str) -> None:
    (h123.folder / "odd.yaml").write_text(f"h123: network/1\nname: odd\ntitle: odd\n{network}\n")
    (h123.folder / "versions.yaml").write_text(STUDY.replace("NETWORK", name))
    assert said in h123.refusal("plan", "versions.yaml")
