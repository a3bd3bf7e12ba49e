"""A page over a link that others use too, on real namespaces."""

import pytest

from cli.conftest import Tool
from h123.measures import load_attempts

NETWORK = """\
h123: network/1
name: {name}
title: 10 ms, 20 Mbit/s
both: {{delay: 5ms, rate: 20Mbit/s, queue: 50kB}}
"""
CROSS = "cross: {down: {udp: 15Mbit/s}, ahead: 100ms}\n"
STUDY = """\
h123: study/1
name: crossed
question: What does a busy link cost a page?
factors: {network: [calm.yaml, busy.yaml]}
settings: {protocol: h2, kind: page, site: small, server: go, client: go, users: 1, requests: 1}
compare: {factor: network, pairs: [busy/calm], twin: calm}
blocks: 1
"""


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_page_takes_longer_where_others_send_too(h123: Tool) -> None:
    (h123.folder / "calm.yaml").write_text(NETWORK.format(name="calm"))
    (h123.folder / "busy.yaml").write_text(NETWORK.format(name="busy") + CROSS)
    complete = {}
    for attempt in load_attempts(h123.run_study(STUDY)):
        complete[attempt.cell["network"]] = attempt.metrics["page_complete"]
        (link,) = attempt.report.links
        assert (link.cross is not None) == (attempt.cell["network"] == "busy")
        if link.cross:
            # Of 15 Mbit/s what the queue had room for.
            goodput = 8e9 * link.cross["down"].received_bytes / attempt.report.phases_ns["main"]
            assert 4e6 < goodput < 16e6
            # 1.57 MB of the page, and none of the others' packets.
            assert 1.5e6 < (link.directions or {})["down"].bytes_delivered < 2.5e6
    # At 20 Mbit/s a page of 1.57 MB takes two thirds of a second; at a quarter of that four times as long.
    assert complete["busy"] > 1.5 * complete["calm"]
    assert "Cross traffic" in (h123.folder / "out/report.html").read_text()


def test_networks_say_what_others_send(h123: Tool) -> None:
    listed = h123.succeed("list", "networks")
    assert "cross traffic down: 4 bulk TCP connections" in " ".join(listed.stdout.split())
