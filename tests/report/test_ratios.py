"""Pictures of ratios can be read wherever the ratios lie, however many there are and however long their names."""

import itertools
import math
import re
from typing import Any

import pytest

from h123.report.figures.drawing import inline
from h123.report.figures.ratios import answer_figure, details_figure
from h123.report.text.order import by_ratio

USUAL = {0.33, 0.67, *(part / 100 for part in range(2, 400)), *(d * 10**p for d in (1, 2, 3, 5) for p in range(-3, 4))}
"""Numbers that are short and round: no 0.134 and no 1.76."""


def comparison(low: float, high: float) -> dict[str, Any]:
    return {
        "cell": {"network": "poor"},
        "workload": "GET 100 kB",
        "metric": "latency",
        "a": "h3",
        "b": "h2",
        "ratio": (low * high) ** 0.5,
        "low": low,
        "high": high,
        "confidence": 0.96875,
        "verdict": "inconclusive",
        "withheld": None,
    }


@pytest.mark.parametrize("low", [0.98, 0.8, 0.62, 0.4, 0.2, 0.05])
@pytest.mark.parametrize("high", [1.02, 1.3, 1.9, 4.0, 9.0, 40.0])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_ticks_are_usual_numbers_along_the_whole_axis(low: float, high: float, size: str) -> None:
    panel = getattr(answer_figure([comparison(low, high)], 0.05), size).to_dict()["concat"][0]
    x = next(layer["encoding"]["x"] for layer in panel["layer"] if layer["encoding"]["x"].get("field") == "ratio")
    (first, last), ticks = x["scale"]["domain"], x["axis"]["values"]
    assert 2 <= len(ticks) <= 12
    assert 1 in ticks
    assert all(any(math.isclose(tick, usual) for usual in USUAL) for tick in ticks)
    assert all(first <= tick <= last for tick in ticks)
    # Labels have room, and at neither end is much more bare than between the widest two ticks.
    pixels = panel["width"] / math.log(last / first)
    gaps = [math.log(b / a) * pixels for a, b in itertools.pairwise(ticks)]
    assert min(gaps) > 30
    assert max(math.log(ticks[0] / first), math.log(last / ticks[-1])) * pixels < 1.7 * max(gaps)


def servers() -> list[dict[str, Any]]:
    """Eight servers beside one, on two networks; the second on the first is the quickest."""
    ratios = [1.4, 0.5, 1.1, 3.0, 0.9, 1.0, 2.0, 0.7]
    return [
        comparison(0.9 * ratio, 1.1 * ratio)
        | {
            "cell": {"network": network},
            "a": f"server-{place}",
            "b": "go",
            "ratio": ratio,
            "family": f"answer/{network}",
        }
        for network, ratios in (("lan", ratios), ("poor", ratios[::-1]))
        for place, ratio in enumerate(ratios)
    ]


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_many_pairs_are_one_sorted_picture_a_cell(size: str) -> None:
    panels = getattr(answer_figure(servers(), 0.05), size).to_dict()["concat"]
    assert [" ".join(panel["title"]["text"]) for panel in panels] == [
        "Latency, lan, ratio to go",
        "Latency, poor, ratio to go",
    ]
    orders = [
        layer["encoding"]["y"]["sort"] for panel in panels for layer in panel["layer"] if "y" in layer["encoding"]
    ]
    assert orders[0] == [f"server-{place}" for place in (1, 7, 4, 5, 2, 0, 6, 3)]
    assert orders[-1] == [f"server-{7 - place}" for place in (1, 7, 4, 5, 2, 0, 6, 3)]
    assert [c["ratio"] for c in by_ratio(servers())[:3]] == [0.5, 0.7, 0.9]


def test_long_names_leave_the_axis_its_room() -> None:
    cell = {"load": "a heavy load of many users", "method": "POST", "network": "baseline", "size": "10MB"}
    rows = [comparison(0.8, 1.2) | {"cell": cell | {"network": name}} for name in ("baseline", "medium", "poor")]
    for figure in (answer_figure(rows, 0.05), details_figure(rows, 0.05)):
        drawn = figure.narrow.to_dict()
        panel = drawn["concat"][0] if "concat" in drawn else drawn["spec"]
        assert panel["width"] >= 130
        text = inline(figure)
        assert "10MB" in text
        assert "…" not in text
        (width,) = re.findall(r'data-size="narrow"[^>]* width="(\d+)"', text)
        assert int(width) <= 358  # what a screen of 390 pixels has between its margins


def test_every_mark_says_its_comparison() -> None:
    text = inline(answer_figure([comparison(0.8, 1.2)], 0.05))
    title = "Latency, HTTP/3 / HTTP/2, poor: 0.98  cannot tell yet (0.80 – 1.20)"
    assert text.count(f"<title>{title}</title>") == 2


def test_a_table_that_lacks_panels_becomes_a_list() -> None:
    """Vega-Lite would put the others at the wrong names."""
    asked = [("latency", "h3", "h2"), ("latency", "h2", "h1"), ("ttfb", "h3", "h2"), ("ttfb", "h2", "h1")]
    rows = [comparison(0.8, 1.2) | {"metric": metric, "a": a, "b": b} for metric, a, b in asked]
    assert {"row", "column"} <= details_figure(rows, 0.05).wide.to_dict()["facet"].keys()
    assert details_figure(rows[:3], 0.05).wide.to_dict()["facet"]["sort"] == [
        "Latency, HTTP/3 / HTTP/2",
        "Latency, HTTP/2 / HTTP/1.1",
        "First byte, HTTP/3 / HTTP/2",
    ]
