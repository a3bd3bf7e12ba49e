"""The steps of a ladder multiply to the whole, and it is said where a few blocks make them what they are."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from h123.analysis.verdicts.ladder import ladder
from h123.report.text.ladder import terminal_lines

LEVELS = ["h2", "h2-window", "h2-timer", "h3"]
PAIRS = [("h2-window", "h2"), ("h2-timer", "h2-window"), ("h3", "h2-timer"), ("h3", "h2")]


def compared(blocks: list[list[float]], centres: list[float | None] | None = None, **cell: str) -> list[dict[str, Any]]:
    """Comparisons of blocks that have these steps; their estimates are the first block's ratios, or `centres`."""
    ratios = [[*steps, math.prod(steps)] for steps in blocks]
    return [
        {"cell": cell, "workload": "GET 1 kB", "metric": "latency", "a": a, "b": b, "twin": False}
        | {"blocks": len(blocks), "ratio": centre, "low": centre, "high": centre, "verdict": "faster"}
        | {"pairs": [{"block": n, "a": of[step], "b": 1.0, "ratio": of[step]} for n, of in enumerate(ratios)]}
        for step, ((a, b), centre) in enumerate(zip(PAIRS, centres or ratios[0], strict=True))
    ]


@given(
    st.lists(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), min_size=1, max_size=9),
    st.randoms(use_true_random=False),
)
def test_steps_multiply_to_the_whole_in_whatever_order_they_come(blocks: list[list[float]], draw: Any) -> None:
    judged = compared(blocks, network="poor") + compared([[1.0] * 3], network="lan")
    draw.shuffle(judged)
    rows = {row["cell"]["network"]: row for row in ladder(judged, LEVELS)}
    assert set(rows) == {"poor", "lan"}
    assert rows["poor"]["blocks"] == len(blocks)
    assert math.prod(step["factor"] or 0 for step in rows["poor"]["steps"]) == pytest.approx(
        rows["poor"]["whole"]["factor"]
    )
    first = math.prod(steps[0] for steps in blocks) ** (1 / len(blocks))
    assert rows["poor"]["steps"][0]["factor"] == pytest.approx(first)


def test_an_interval_is_students() -> None:
    steps = [0.8, 0.7, 0.75, 0.9]
    (row,) = ladder(compared([[step, 1.0, 1.0] for step in steps]), LEVELS)
    found = stats.ttest_1samp(np.log(steps), 0).confidence_interval(0.95)
    assert (row["steps"][0]["low"], row["steps"][0]["high"]) == pytest.approx(
        (math.exp(found.low), math.exp(found.high))
    )


def test_one_block_has_no_interval() -> None:
    (row,) = ladder(compared([[0.5, 1.0, 1.0]]), LEVELS)
    assert (row["whole"]["factor"], row["whole"]["low"], row["whole"]["high"]) == (pytest.approx(0.5), None, None)


def test_a_block_that_a_step_has_not_is_in_no_factor() -> None:
    judged = compared([[0.5, 1.0, 1.0]] * 2)
    judged[0]["pairs"].append({"block": 99, "a": 7.0, "b": 1.0, "ratio": 7.0})
    (row,) = ladder(judged, LEVELS)
    assert row["steps"][0]["factor"] == pytest.approx(0.5)


def test_where_a_side_lost_a_block_there_are_no_factors() -> None:
    judged = compared([[0.5, 1.0, 1.0]] * 2)
    judged[1]["blocks"] = 3  # one more than it has pairs
    (row,) = ladder(judged, LEVELS)
    assert (row["whole"]["factor"], row["apart"], row["blocks"]) == (None, None, 0)
    assert "a side lost blocks" in terminal_lines([row], judged)[1]


def test_an_estimate_that_no_block_has_leaves_the_factors() -> None:
    (row,) = ladder(compared([[0.5, 1.0, 1.0]], [0.5, None, 1.0, 0.5]), LEVELS)
    assert (row["whole"]["factor"], row["apart"]) == (pytest.approx(0.5), None)


def test_without_all_steps_or_without_a_ladder_there_is_none() -> None:
    judged = compared([[0.5, 1.0, 1.0]])
    assert ladder(judged[1:], LEVELS) == []
    assert ladder(judged, []) == []
    assert terminal_lines([], judged) == []


def test_the_whole_stands_beside_its_steps_and_what_a_few_blocks_do() -> None:
    even, uneven = [[0.8, 1.0, 0.75]] * 3, [[0.8, 1.0, 0.75]] * 2 + [[2.4, 1.0, 0.75]]
    judged = compared(even, network="poor") + compared(uneven, network="lan")
    head, poor, lan = terminal_lines(ladder(judged, LEVELS), judged)
    assert head.startswith("Steps from HTTP/2 to HTTP/3: h2-window, h2-timer, HTTP/3.")
    assert poor == "  Latency, poor: 0.600 = 0.800 × 1.000 × 0.750"
    assert lan.endswith("; a few outlying blocks change one of these means by 44.2 %")
