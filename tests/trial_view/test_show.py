"""`h123 show` of a real campaign: the page, and whether its figures tell what the packets do."""

import json
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Tool
from h123.causes import CAUSES
from h123.flow import waiting
from h123.packets.capture import DELIVERED, DOWN, LOST, UDP, UP, read_packets, write_packets
from h123.packets.stack_log import FlowControlStall
from h123.report.figures.drawing import Figure
from h123.report.trial_view import choose
from h123.report.trial_view.arm import Arm, arms
from h123.report.trial_view.facts import rows
from h123.report.trial_view.series import bins_of, flight_figure, loss_marks, shifted, stall_marks, throughput_figure
from h123.report.trial_view.waterfall import PARTS, _pieces, waterfall_figure
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign

_MOST_BYTES = 1_500_000
_RATE_BPS = 10_000_000


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """A tool in a folder with the small campaign `out`: each protocol over a lossy link and over a plain veth."""
    tool = Tool(tmp_path_factory.mktemp("show"))
    tool.run_smoke(
        ("[h1, h2, h3]", "[h2, h3]"),
        ("[lan, medium]", "[lan, poor]"),
        ("[h3/h2, h3/h1, h2/h1]", "[h3/h2]"),
        ("10kB", "200kB"),
        ("  users: 2\n", "  users: 2\n  qlog: true\n"),
    )
    return tool


def _trial(campaign: CampaignFolder, protocol: str, network: str) -> str:
    return next(
        event["trial"]
        for event in campaign.events()
        if event["event"] == "trial"
        and event["valid"]
        and not event["twin"]
        and event["cell"] == {"protocol": protocol, "network": network}
    )


@pytest.fixture
def shown(measured: Tool) -> list[Arm]:
    """Both protocols over the lossy link."""
    campaign = CampaignFolder.open(measured.folder / "out")
    return arms(choose(campaign, [_trial(campaign, protocol, "poor") for protocol in ("h2", "h3")]), "protocol")


def test_the_page_is_one_file_that_needs_no_other(measured: Tool, shown: list[Arm]) -> None:
    h2, h3 = (arm.attempt.folder.name for arm in shown)  # the attempts that count: a busy machine repeats trials
    done = replace(measured, draws=True)("show", "out", *(name.partition("~")[0] for name in (h2, h3)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"out/show/{h2}+{h3}.html"
    page = (measured.folder / done.stdout.strip()).read_text()
    assert len(page.encode()) < _MOST_BYTES
    assert not re.search(r"<link|<script src|<img|@import|https?://(?!www\.w3\.org)", page)
    headings = re.findall(r"<h2[^>]*>([^<]*)", page)
    assert headings == [
        *("Throughput", "Bytes in flight", "Round trip", "Queue", "Sequence"),
        *("Latency, cumulative distribution", "Requests"),
    ]
    assert page.count("<svg") == 2 * len(headings)  # for a desk and for a phone
    assert "the sum of the congestion windows of the sender&#x27;s connections, from its own record" in page
    assert "HTTP/3: congestion window" in page
    assert "The server&#39;s stack" in page or "the server&#39;s stack" in page
    assert measured("analyse", "out").returncode == 0  # no seal is broken


def test_the_area_below_throughput_is_what_the_link_delivered(shown: list[Arm]) -> None:
    bins = bins_of(shown)
    panels = _drawn(throughput_figure(shown, bins))["vconcat"][-2:]
    for way, panel in zip((DOWN, UP), panels, strict=True):
        for arm in shown:
            layer = next(layer for layer in panel["layer"] if layer["data"]["values"][0]["name"] == arm.name)
            unit = {"Mbit/s": 1e6, "kbit/s": 1e3}[layer["encoding"]["y"]["title"]]
            area = sum(row["v"] for row in layer["data"]["values"]) * unit * bins.width / 1e9 / 8
            packets = arm.of_way(way)
            delivered = int(packets["bytes"][(packets["fate"] == DELIVERED) & (packets["left_ns"] > 0)].sum())
            assert delivered > 1000
            assert area == pytest.approx(delivered, rel=1e-4)


def test_what_the_record_of_packets_does_not_cover_is_not_drawn_as_nothing(shown: list[Arm], tmp_path: Path) -> None:
    whole = shown[0]
    folder = Path(shutil.copytree(whole.attempt.folder, tmp_path / "cut"))
    packets = read_packets(folder)
    kept = packets[: len(packets) // 2]
    write_packets(kept, folder / "packets-access.parquet")
    report = json.loads((folder / "report.json").read_text())
    report["links"][0]["packets_left_out"] = len(packets) - len(kept)
    (folder / "report.json").write_text(json.dumps(report))
    cut = Arm(replace(whole.attempt, folder=folder), whole.name)
    bins = bins_of([cut])
    (down, *_) = _drawn(throughput_figure([cut], bins))["vconcat"][-2:]
    rows = down["layer"][0]["data"]["values"]
    end = (int(kept["at_ns"].max()) - cut.begin_ns - bins.width) / 1e9
    assert all((row["v"] is None) == (row["t"] > end) for row in rows)
    assert {row["v"] is None for row in rows} == {True, False}


def test_every_loss_has_its_mark(shown: list[Arm]) -> None:
    bins = bins_of(shown)
    for number, arm in enumerate(shown):
        assert arm.packets is not None
        lost = arm.packets["at_ns"][arm.packets["fate"] == LOST].astype(np.int64) - arm.begin_ns
        marks = [mark for mark in loss_marks(shown, bins) if (mark.arm, mark.kind) == (number, LOST)]
        places = set((lost // bins.width).tolist())
        assert places == {round(second * 1e9 / bins.width) for mark in marks for second in mark.seconds}


def test_what_waited_in_the_queue_took_as_much_longer(shown: list[Arm]) -> None:
    for arm in shown:
        packets = shifted(arm, DOWN)
        packets = packets[(packets["fate"] == DELIVERED) | (packets["fate"] == LOST)]
        delivered = (packets["fate"] == DELIVERED) & (packets["left_ns"] > 0)  # not on its way when the trial ended
        waited = waiting(shifted(arm, DOWN), arm.way(DOWN)).values[delivered]
        took = (packets["left_ns"] - packets["at_ns"])[delivered] - arm.way(DOWN).delay_ns
        took = took - packets["bytes"][delivered].astype(np.int64) * 8 * 10**9 // _RATE_BPS
        assert waited.max() > 1_000_000
        assert (took - waited).min() > -2_000  # however late the machine was, no packet was early


def _drawn(figure: Figure) -> dict[str, Any]:
    """What the wide picture is made of, each part with its own data."""
    whole: dict[str, Any] = figure.wide.to_dict()

    def with_data(part: Any) -> Any:
        if isinstance(part, list):
            return [with_data(each) for each in part]
        if not isinstance(part, dict):
            return part
        part = {name: with_data(each) for name, each in part.items()}
        if name := part.get("data", {}).get("name"):
            part["data"] = {"values": whole["datasets"][name]}
        return part

    return {name: with_data(part) for name, part in whole.items() if name != "datasets"}


def test_a_log_is_laid_upon_the_connection_that_it_is_of(shown: list[Arm]) -> None:
    tcp, quic = shown
    assert not any(tcp.logs)
    assert len(quic.logs) == len(quic.connections) > 0
    for connection, log in zip(quic.connections, quic.logs, strict=True):
        assert log
        assert len(log.sendings) >= len(connection.down)  # datagrams of the handshake hold several packets
        first_full = int(np.argmax(connection.down.full))
        near = np.abs(log.sendings - connection.down.at[first_full]).min()
        assert near < 50_000_000  # on a busy machine; the campaign takes seconds
    assert abs(sum(len(log.losses) for log in quic.logs if log) - _lost(quic)) <= _lost(quic)


def _lost(arm: Arm) -> int:
    down = arm.of_way(DOWN)
    return int((down["fate"] != DELIVERED).sum())


def test_without_a_log_it_is_said_how_to_have_one(shown: list[Arm]) -> None:
    quic = replace(shown[1])
    quic.__dict__["logs"] = [None] * len(quic.connections)
    figure = flight_figure([quic], bins_of([quic]), DOWN)
    assert "of which the kernel keeps no record: no congestion window" in figure.caption
    assert "qlog: true" in figure.caption
    assert "congestion window, as" not in figure.caption


def test_times_in_which_flow_control_held_the_sender_are_marked(shown: list[Arm]) -> None:
    quic = replace(shown[1])
    bins = bins_of([quic])
    log = next(log for log in shown[1].logs if log)
    begin = quic.begin_ns + 3 * bins.width
    held = FlowControlStall(begin, begin + 2 * bins.width - 1, stream=True, own=True)
    quic.__dict__["logs"] = [replace(log, stalls=(held,))]
    (marks,) = stall_marks([quic], bins, DOWN)
    assert [round(second * 1e9 / bins.width) for second in marks.seconds] == [3, 4]
    assert not stall_marks([quic], bins, UP)
    assert "its stream's limit held data back for" in dict(rows([quic]))["the server's stack (qlog)"][0]


def test_the_page_tells_how_both_ends_worked(shown: list[Arm]) -> None:
    told = dict(rows(shown))
    for role, way in (("server", DOWN), ("client", UP)):
        assert all("waited for one" in value for value in told[f"processor of the {role}"])
        tcp, quic = told[f"datagrams that the {role} sent"]
        assert tcp == "–"
        # A client that has ended may refuse the last one by ICMP, which is no datagram.
        assert int(quic.split(",")[0]) == np.count_nonzero(shown[1].of_way(way)["protocol"] == UDP)
        assert told[f"no room in the {role}'s socket"] == ["–", "0"]


def test_each_request_has_a_bar_as_long_as_it_took(shown: list[Arm]) -> None:
    figure = waterfall_figure(shown)
    assert figure
    for arm, panel in zip(shown, _drawn(figure)["vconcat"], strict=True):
        marks = panel["data"]["values"]
        assert arm.explained is not None
        for number, request in enumerate(arm.requests):
            mine = [mark for mark in marks if mark["row"] == number]
            scale = 1000 if "ms since" in figure.wide.to_json() else 1
            length = max(mark["to"] for mark in mine) - min(mark["from"] for mark in mine)
            assert length == pytest.approx((request["end_ns"] - request["start_ns"]) / 1e9 * scale, abs=1e-3 * scale)
            assert all(one["to"] == two["from"] for one, two in pairwise(mine))


def test_of_a_plain_veth_it_is_said_that_nobody_records_packets(measured: Tool) -> None:
    campaign = CampaignFolder.open(measured.folder / "out")
    done = measured("show", "out", _trial(campaign, "h2", "lan"), "--out", "veth/page.html")
    assert done.returncode == 0, done.stderr
    page = (measured.folder / "veth/page.html").read_text()
    assert "plain veth, whose packets are not recorded" in page
    assert "Throughput" not in page
    assert "the parts are the client" in page
    assert "until its first byte" in page


def test_what_is_wrong_is_said_in_a_sentence(measured: Tool) -> None:
    for arguments, said in (
        (("show", "out", "b01-t01"), "has no trial"),
        (("show", ".", "b01-t01"), "give a campaign in it, such as out"),
    ):
        done = measured(*arguments)
        assert done.returncode == 2
        assert said in done.stderr


def test_an_earlier_version_s_trial_shows_its_requests(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "c", Scenario(blocks=1))
    done = Tool(tmp_path)("show", "c", _trial(campaign, "h3", "poor"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / done.stdout.strip()).read_text()
    assert "no record of packets" in page
    assert 'id="figure-waterfall"' in page
    assert 'id="figure-throughput"' not in page


def test_every_cause_has_a_part_of_a_bar() -> None:
    drawn = sorted(cause for _, causes in PARTS.values() for cause in causes)
    assert drawn == sorted(cause.name for cause in CAUSES)


def test_a_request_that_took_no_time_has_no_bar(shown: list[Arm]) -> None:
    request = shown[0].requests[0]
    assert list(_pieces(0, (request, 0, dict.fromkeys(PARTS, 0)), end=1, unit_ns=1)) == []
    assert list(_pieces(0, (request, 0, dict.fromkeys(PARTS, -1)), end=1, unit_ns=1)) == []
