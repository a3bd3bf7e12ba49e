"""The steps of a ladder multiply to the whole, and it is said where they do not."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis.ladder import ladder
from h123.report.ladder import terminal_lines

LEVELS = ["h2", "h2-window", "h2-timer", "h3"]
PAIRS = [("h2-window", "h2"), ("h2-timer", "h2-window"), ("h3", "h2-timer"), ("h3", "h2")]


def compared(ratios: list[float | None], metric: str = "latency", **cell: str) -> list[dict[str, Any]]:
    return [
        {"cell": cell, "workload": "GET 1 kB", "metric": metric, "a": a, "b": b, "twin": False, "blocks": 8}
        | {"ratio": ratio, "low": ratio, "high": ratio, "verdict": "faster"}
        | {"pairs": [{"block": 1, "a": ratio, "b": 1.0, "ratio": ratio}]}
        for (a, b), ratio in zip(PAIRS, ratios, strict=True)
    ]


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_steps_that_multiply_to_the_whole_agree_in_whatever_order_they_come(steps: list[float], draw: Any) -> None:
    judged = compared([*steps, math.prod(steps)], network="poor") + compared([1.0] * 4, network="lan")
    draw.shuffle(judged)
    rows = {row["cell"]["network"]: row for row in ladder(judged, LEVELS)}
    assert set(rows) == {"poor", "lan"}
    assert rows["poor"]["agrees"]
    assert [step["ratio"] for step in rows["poor"]["steps"]] == steps
    assert rows["poor"]["product"] == pytest.approx(rows["poor"]["whole"]["ratio"])


@pytest.mark.parametrize(("whole", "agrees"), [(0.5, True), (0.514, True), (0.486, True), (0.52, False), (0.48, False)])
def test_a_product_may_be_three_per_cent_off(whole: float, agrees: bool) -> None:
    (row,) = ladder(compared([0.5, 1.0, 1.0, whole]), LEVELS)
    assert row["agrees"] is agrees


def test_a_step_without_a_value_leaves_no_product() -> None:
    (row,) = ladder(compared([0.5, None, 1.0, 0.5]), LEVELS)
    assert (row["product"], row["agrees"]) == (None, None)
    assert "a step has no value" in terminal_lines([row], compared([1.0] * 4))[1]


def test_without_all_steps_or_without_a_ladder_there_is_none() -> None:
    judged = compared([0.5, 1.0, 1.0, 0.5])
    assert ladder(judged[1:], LEVELS) == []
    assert ladder(judged, []) == []
    assert terminal_lines([], judged) == []


def test_the_whole_stands_beside_its_steps() -> None:
    judged = compared([0.8, 1.0, 0.75, 0.6], network="poor") + compared([0.8, 1.0, 0.75, 0.7], network="lan")
    head, poor, lan = terminal_lines(ladder(judged, LEVELS), judged)
    assert head.startswith("Steps from HTTP/2 to HTTP/3: h2-window, h2-timer, HTTP/3.")
    assert poor == "  Latency, poor: 0.600 ≈ 0.800 × 1.000 × 0.750; the product is 0.6"
    assert "the product is 0.6, 14.3 % off: too much for the steps to be told apart; geometric means:" in lan


@given(st.lists(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), min_size=1, max_size=9))
def test_geometric_means_multiply_to_the_whole_where_centres_do_not(blocks: list[list[float]]) -> None:
    judged = compared([0.5, 1.0, 1.0, 0.7])
    for place, side in enumerate(judged):
        ratios = [math.prod(steps) if place == 3 else steps[place] for steps in blocks]
        side["pairs"] = [{"block": n, "a": r, "b": 1.0, "ratio": r} for n, r in enumerate(ratios)]
    judged[0]["pairs"].append({"block": 99, "a": 7.0, "b": 1.0, "ratio": 7.0})  # the others have no such block
    (row,) = ladder(judged, LEVELS)
    assert math.prod(step["mean"] for step in row["steps"] if step["mean"]) == pytest.approx(row["whole"]["mean"])
    assert row["steps"][0]["mean"] == pytest.approx(math.prod(steps[0] for steps in blocks) ** (1 / len(blocks)))
