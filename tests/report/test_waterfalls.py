"""The pictures of pages: the visit in the middle, each request as long as it took, and what the link lost meanwhile."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from h123.analysis import analyse
from h123.packets.capture import DELIVERED, PACKET, QUEUE_FULL, write_packets
from h123.packets.capture import LOST as LOST_ON_THE_LINK
from h123.report import write_report
from h123.report.figures.completion import BYTES, RESOURCES, completion_figure
from h123.report.figures.drawing import inline
from h123.report.figures.visits import (
    AWAITING,
    CONNECTING,
    FAILED,
    MOST_ARMS,
    RECEIVING,
    STAGES,
    WAITING,
    by_cell,
    median_visits,
    stages,
    took,
)
from h123.report.figures.waterfalls import CARRIERS, LOST, waterfalls_figure
from h123.store import CampaignFolder, connect
from h123.study import PlannedTrial
from synthetic import NETWORKS, Scenario, changed_samples, make_campaign

MS = 1_000_000


def request(start: int, sent: int, first: int, end: int, **others: Any) -> dict[str, Any]:
    """Times in ms."""
    times = {"start_ns": start, "sent_ns": sent, "first_byte_ns": first, "end_ns": end}
    known: dict[str, Any] = {name: value * MS for name, value in times.items()}
    told = {
        "connected_ns": None,
        "reused": 1,
        "error": "",
        "bytes_up": 0,
        "bytes_down": 1000,
        "resource": 0,
        "protocol": "h2",
    }
    return known | told | others


def visit(protocol: str = "h2", network: str = "home", rows: Any = (), lost: Any = ()) -> dict[str, Any]:
    rows = rows or [request(100, 110, 120, 150, reused=0), request(150, 160, 190, 200, bytes_down=3000)]
    cell = {"protocol": protocol, "network": network}
    return {"cell": cell, "trial": f"b01-{protocol}", "attempt": 1, "visits": 1, "rows": list(rows), "lost": lost}


def marks(figure: Any) -> list[dict[str, Any]]:
    """The data of all layers of the desk's picture."""
    return [row for rows in figure.wide.to_dict()["datasets"].values() for row in rows]


def strokes(figure: Any, stage: str) -> list[tuple[float, float]]:
    """Begin and end of each line of a stage."""
    times = [row["t"] for row in marks(figure) if row["stage"] == stage and row["row"] is not None]
    return list(zip(times[::2], times[1::2], strict=True))


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (request(0, 10, 30, 60, reused=0), {CONNECTING: 10, AWAITING: 20, RECEIVING: 30}),
        (request(0, 10, 30, 60), {WAITING: 10, AWAITING: 20, RECEIVING: 30}),
        (request(0, 10, 30, 60, connected_ns=8 * MS), {CONNECTING: 8, AWAITING: 22, RECEIVING: 30}),
        (request(0, 25, 30, 60, bytes_up=9), {WAITING: 0, AWAITING: 30, RECEIVING: 30}),
        (request(0, 10, 30, 60, error="reset"), {FAILED: 60}),
        (request(0, 10, 30, 60, error="abandoned"), {WAITING: 10, AWAITING: 20, RECEIVING: 30}),
        (request(0, 10, 0, 60, error="abandoned", first_byte_ns=None), {WAITING: 10, AWAITING: 50, RECEIVING: 0}),
        (
            request(0, 0, 0, 60, error="abandoned", first_byte_ns=None, sent_ns=None, reused=0),
            {CONNECTING: 60, AWAITING: 0, RECEIVING: 0},
        ),
        (request(0, 10, 30, 60, first_byte_ns=None), {WAITING: 10, AWAITING: 0, RECEIVING: 50}),
    ],
)
def test_stages_sum_up_to_the_request(row: Any, parts: dict[str, int]) -> None:
    assert stages([row]) == [{name: parts.get(name, 0) * MS for name in STAGES}]


def test_every_request_has_its_stages_since_the_page_was_asked_for() -> None:
    figure = waterfalls_figure([visit()], "protocol")
    assert strokes(figure, CONNECTING) == [(0, 10)]
    assert strokes(figure, WAITING) == [(50, 60)]
    assert strokes(figure, AWAITING) == [(10, 20), (60, 90)]
    assert strokes(figure, RECEIVING) == [(20, 50), (90, 100)]
    assert {row["row"] for row in marks(figure) if row["stage"] == WAITING} == {1.5, None}


def test_a_visit_over_two_protocols_says_which_carried_what() -> None:
    rows = [request(100, 110, 120, 150, reused=0), request(150, 160, 190, 200, protocol="h3")]
    alone, mixed = (waterfalls_figure([visit(rows=given)], "protocol") for given in ((), rows))
    assert [strokes(mixed, CARRIERS[protocol]) for protocol in ("h2", "h3")] == [[(-2, -0.8)]] * 2
    assert {row["row"] for row in marks(mixed) if row["stage"] == CARRIERS["h3"]} == {1.5, None}
    assert "1 over HTTP/2, 1 over HTTP/3" in inline(mixed)
    assert "the protocol that carried it" in mixed.caption
    assert not strokes(alone, CARRIERS["h2"])
    assert "2 over HTTP/2" in inline(alone)
    assert "the protocol that carried it" not in alone.caption


def test_losses_stand_below_the_bars_once_a_pixel() -> None:
    lost = [100 * MS, 150 * MS, 150 * MS + 1, 199 * MS]
    [(first, _), (second, _), (third, _)] = strokes(waterfalls_figure([visit(lost=lost)], "protocol"), LOST)
    assert (first, second, third) == pytest.approx((0, 50, 99), abs=0.5)
    assert not strokes(waterfalls_figure([visit(lost=None)], "protocol"), LOST)
    assert "packets not" in inline(waterfalls_figure([visit(lost=None)], "protocol"))
    assert "packets not" not in inline(waterfalls_figure([visit()], "protocol"))


def test_a_page_fills_by_its_bytes_and_by_its_resources() -> None:
    points = marks(completion_figure([visit()], "protocol"))
    shares = {name: {row["t"]: row["v"] for row in points if row["share"] == name} for name in (BYTES, RESOURCES)}
    assert shares[BYTES][35] == pytest.approx(0.125)  # half of the first, a quarter of all
    assert shares[BYTES][50] == shares[BYTES][90] == pytest.approx(0.25)
    assert (shares[RESOURCES][49], shares[RESOURCES][50], shares[RESOURCES][100]) == (0, 0.5, 1)
    failed = [request(0, 1, 2, 50, bytes_down=1000), request(0, 1, 2, 100, bytes_down=0, error="timeout")]
    points = marks(completion_figure([visit(rows=failed)], "protocol"))
    assert max(row["v"] for row in points if row["share"] == RESOURCES) == 0.5


def test_of_many_arms_the_fastest_and_the_slowest_are_drawn() -> None:
    rows = {n: [request(0, 1, 2, 10 + n)] for n in range(20)}
    drawn = by_cell([visit(f"h{n:02}", rows=found) for n, found in rows.items()], "protocol")["home"]
    assert [took(one) // MS - 10 for one in drawn] == [0, 1, 2, 17, 18, 19]
    assert len(drawn) == MOST_ARMS


@pytest.mark.parametrize("requests", [40, pytest.param(200, marks=pytest.mark.heavy)])
def test_pictures_of_many_cells_fit_a_phone_and_a_page(requests: int) -> None:
    rows = [request(0, n, 5 * n + 5, 9 * n + 9) for n in range(requests)]
    lost = range(0, 4 * requests * MS, MS)  # in the first half of the visit
    visits = [visit(p, f"network {n}", rows, lost) for n in range(12) for p in ("h1", "h2", "h3")]
    for figure in (waterfalls_figure(visits, "protocol"), completion_figure(visits, "protocol")):
        drawn = inline(figure)
        assert len(drawn) < 1_000_000
        assert "The first 9 of 12 cells." in figure.caption
        wide, narrow = (float(found) for found in re.findall(r'<svg [^>]*?width="([\d.]+)"', drawn))
        assert wide <= 880
        assert narrow <= 358


def paged(_: PlannedTrial, partial: Path) -> None:
    """Each user's requests are a visit; packets are lost before, in and after the visit of user 0."""
    with changed_samples(partial) as rows:
        for row in rows:
            if row["phase"] == "warm":
                row["group"] = "0"
        ends = [int(row["end_ns"]) for row in rows]
    packets = np.zeros(len(ends) + 1, PACKET)
    packets["at_ns"] = [*ends, max(ends) + 1]
    packets["fate"] = [DELIVERED, LOST_ON_THE_LINK, QUEUE_FULL] * (len(packets) // 3) + [DELIVERED] * (len(packets) % 3)
    write_packets(packets, partial / "packets-access.parquet")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    scenario = Scenario(blocks=3, spoil=paged, invalid=frozenset({"b01-t01-poor-h1"}))
    folder = make_campaign(tmp_path_factory.mktemp("visits") / "c", scenario)
    analyse(folder)
    return folder


def test_the_visit_in_the_middle_is_shown(campaign: CampaignFolder) -> None:
    shown = median_visits(campaign)
    assert len(shown) == 9  # three protocols on three networks, and no twin
    for one in shown:
        times = connect(campaign).execute(
            "SELECT max(end_ns) - min(start_ns) FROM samples JOIN analysed a USING (trial, attempt) "
            "WHERE phase = 'warm' AND a.cell = ? AND NOT a.twin GROUP BY trial, \"user\"",
            [json.dumps(one["cell"], sort_keys=True)],
        )
        found = sorted(time for (time,) in times.fetchall())
        assert one["visits"] == len(found) == 12
        assert took(one) == found[5]
        assert len(one["rows"]) == 5
        starts = [row["start_ns"] for row in one["rows"]]
        assert starts == sorted(starts)


def test_a_request_has_failed_whose_status_is_not_the_one_that_was_asked_for(tmp_path: Path) -> None:
    """All of h1's, and of three of h2's four users, are answered as asked, none of h3's."""

    def answered(trial: PlannedTrial, partial: Path) -> None:
        paged(trial, partial)
        asked = {"h1": range(4), "h2": range(3)}.get(trial.parameters.protocol, ())
        with changed_samples(partial) as rows:
            for row in rows:
                if int(row["user"]) in asked:
                    row["status"] = "404"

    settings = {"kind": "mix", "mix": [{"path": "/missing", "status": 404}]}
    scenario = Scenario(blocks=1, networks={"lan": NETWORKS["lan"]}, settings=settings, spoil=answered)
    shown = median_visits(make_campaign(tmp_path / "c", scenario))
    errors = {one["cell"]["protocol"]: {row["error"] for row in one["rows"]} for one in shown}
    assert errors == {"h1": {""}, "h2": {""}, "h3": {"status 200"}}


def test_losses_are_those_of_the_visit_s_time(campaign: CampaignFolder) -> None:
    for one in median_visits(campaign):
        begin = min(row["start_ns"] for row in one["rows"])
        assert one["lost"]
        assert all(begin <= time <= begin + took(one) for time in one["lost"])


def test_the_report_of_pages_has_both_pictures(campaign: CampaignFolder) -> None:
    text = write_report(campaign).read_text()
    headings = re.findall(r"<h2[^>]*>([^<]*)", text)
    assert {"The median visit, request by request", "How the page fills"} <= {*headings}
    assert {path.stem for path in (campaign.path / "figures").glob("*.svg")} >= {"waterfalls", "completion"}
