"""The axis of the ratios can be read wherever the ratios lie."""

from typing import Any

import pytest

from h123.report.ratios import answer_figure


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
    }


@pytest.mark.parametrize("low", [0.98, 0.8, 0.62, 0.4, 0.2, 0.05])
@pytest.mark.parametrize("high", [1.02, 1.3, 1.9, 4.0, 9.0, 40.0])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_ticks_stand_along_the_whole_axis(low: float, high: float, size: str) -> None:
    panel = getattr(answer_figure([comparison(low, high)], 0.05), size).to_dict()["vconcat"][0]
    x = next(layer["encoding"]["x"] for layer in panel["layer"] if layer["encoding"]["x"].get("field") == "ratio")
    (first, last), ticks = x["scale"]["domain"], x["axis"]["values"]
    assert 2 <= len(ticks) <= 9
    assert 1 in ticks
    assert all(first * 0.99 <= tick <= last * 1.01 for tick in ticks)
    # At either end less than one step is bare: the step that the ticks have between them.
    step = ticks[1] / ticks[0] * 1.05
    assert ticks[0] / first < step
    assert last / ticks[-1] < step
