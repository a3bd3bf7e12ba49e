"""Every verdict on every metric reads as a sentence that is true."""

from typing import Any

import pytest

from h123.report import sentence
from h123.report.words import verdict_word


def comparison(**changes: Any) -> dict[str, Any]:
    base = {
        "cell": {"network": "poor"},
        "workload": "GET 100 kB",
        "metric": "latency",
        "a": "h3",
        "b": "h2",
        "twin": False,
        "blocks": 6,
        "ratio": 0.71,
        "low": 0.64,
        "high": 0.78,
        "confidence": 0.96875,
        "verdict": "faster",
        "note": None,
    }
    return {**base, **changes}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "On poor, HTTP/3 answers GET 100 kB in 0.71 of HTTP/2's time, 95 % 0.64 – 0.78: faster."),
        (
            {"ratio": 1.31, "low": 1.2, "high": 1.4, "verdict": "slower"},
            "On poor, HTTP/3 answers GET 100 kB in 1.31 times HTTP/2's time, 95 % 1.20 – 1.40: slower.",
        ),
        (
            {"metric": "goodput", "ratio": 1.31, "low": 1.2, "high": 1.4},
            "On poor, HTTP/3 delivers 1.31 times HTTP/2's goodput on GET 100 kB, 95 % 1.20 – 1.40: higher.",
        ),
        (
            {"metric": "cpu", "ratio": 1.9, "low": 1.8, "high": 2.0, "verdict": "slower"},
            "On poor, HTTP/3 uses 1.90 times HTTP/2's CPU per request of GET 100 kB, 95 % 1.80 – 2.00: costlier.",
        ),
        (
            {"ratio": 1.01, "low": 0.98, "high": 1.03, "verdict": "equivalent"},
            "On poor, HTTP/3 answers GET 100 kB in 1.01 times HTTP/2's time, 95 % 0.98 – 1.03: equivalent within 5 %.",
        ),
        (
            {"ratio": 0.97, "low": 0.88, "high": 1.07, "verdict": "inconclusive"},
            "On poor, cannot tell yet: HTTP/3 answers GET 100 kB in 0.97 of HTTP/2's time, 95 % 0.88 – 1.07; "
            "needs more blocks.",
        ),
        (
            {"ratio": None, "low": None, "high": None, "confidence": None, "blocks": 0, "verdict": "inconclusive"},
            "On poor, no answer: no block has valid trials of both HTTP/3 and HTTP/2.",
        ),
        (
            {"cell": {}, "a": "reno", "b": "cubic"},
            "Reno answers GET 100 kB in 0.71 of CUBIC's time, 95 % 0.64 – 0.78: faster.",
        ),
    ],
)
def test_sentence(changes: dict[str, Any], said: str) -> None:
    assert sentence(comparison(**changes), 0.05) == said


@pytest.mark.parametrize(
    ("metric", "verdict", "word"),
    [
        ("latency", "faster", "faster"),
        ("goodput", "slower", "lower"),
        ("cpu", "faster", "cheaper"),
        ("nobody-described-me", "faster", "better"),
        ("latency", "inconclusive", "cannot tell yet"),
    ],
)
def test_the_verdict_is_called_as_suits_the_metric(metric: str, verdict: str, word: str) -> None:
    assert verdict_word(comparison(metric=metric, verdict=verdict)) == word
