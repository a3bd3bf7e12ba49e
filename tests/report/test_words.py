"""Every verdict on every metric reads as a sentence that is true."""

from typing import Any

import pytest

from h123.report import sentence
from h123.report.text.words import verdict_word


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
        "small": None,
        "withheld": None,
        "failed": {"a": [], "b": []},
        "note": None,
    }
    return {**base, **changes}


UNDECIDED = {"verdict": "inconclusive"}
SLOWER = {"verdict": "slower"}
HIGHER = {"verdict": "higher"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ratio": 0.76, "low": 0.4, "high": 0.82}, "On poor, HTTP/3 is 24 % faster than HTTP/2 (18 to 60 %)."),
        (
            {"ratio": 1.31, "low": 1.2, "high": 2.4, **SLOWER},
            "On poor, HTTP/3 is 31 % slower than HTTP/2 (20 to 140 %).",
        ),
        ({"ratio": 1.5, "low": 1.5, "high": 1.502, **SLOWER}, "On poor, HTTP/3 is 50 % slower than HTTP/2."),
        (
            {"ratio": 3.0, "low": 3.0, "high": 3.01, **SLOWER},
            "On poor, HTTP/3 takes 3 times as long as HTTP/2.",
        ),
        (
            {"ratio": 0.74, "low": 0.37, "high": 1.02},
            "On poor, HTTP/3 is 26 % faster than HTTP/2 (from 2 % slower to 63 % faster).",
        ),
        (
            {"ratio": 2.8, "low": 2.1, "high": 3.6, **SLOWER},
            "On poor, HTTP/3 takes 2.8 times as long as HTTP/2 (2.1 to 3.6 times).",
        ),
        (
            {"ratio": 1 / 2.8, "low": 1 / 3.6, "high": 1 / 2.1},
            "On poor, HTTP/3 is 2.8 times as fast as HTTP/2 (2.1 to 3.6 times).",
        ),
        (
            {"ratio": 1e-4, "low": 5e-5, "high": 2e-4},
            "On poor, HTTP/3 is 10,000 times as fast as HTTP/2 (5,000 to 20,000 times).",
        ),
        (
            {"metric": "goodput", "ratio": 1.31, "low": 1.2, "high": 1.4},
            "On poor, HTTP/3's goodput is 31 % higher than HTTP/2's (20 to 40 %).",
        ),
        (
            {"metric": "goodput", "ratio": 0.25, "low": 0.2, "high": 0.5, **SLOWER},
            "On poor, HTTP/2's goodput is 4 times HTTP/3's (2 to 5 times).",
        ),
        (
            {"metric": "cpu", "ratio": 2.5, "low": 2.4, "high": 2.6, **HIGHER},
            "On poor, HTTP/3's CPU per request is 2.5 times HTTP/2's (2.4 to 2.6 times).",
        ),
        (
            {"metric": "cpu", "ratio": 1.9, "low": 1.8, "high": 2.0, **HIGHER},
            "On poor, HTTP/3's CPU per request is 90 % higher than HTTP/2's (80 to 100 %).",
        ),
        (
            {"metric": "of-its-own", "ratio": 0.9, "low": 0.8, "high": 0.95},
            "On poor, HTTP/3's of-its-own is 10 % lower than HTTP/2's (5 to 20 %).",
        ),
        (
            {"ratio": 1.01, "low": 0.98, "high": 1.03, "verdict": "equivalent"},
            "On poor, HTTP/3 and HTTP/2 are the same within 5 %.",
        ),
        (
            {"ratio": 0.97, "low": 0.7, "high": 1.05, **UNDECIDED},
            "On poor, cannot tell yet: HTTP/3 is between 30 % faster and 5 % slower than HTTP/2.",
        ),
        (
            {"ratio": 0.9, "low": 0.8, "high": 0.96, **UNDECIDED},
            "On poor, cannot tell yet: so far HTTP/3 is 4 to 20 % faster than HTTP/2, but that may be chance.",
        ),
        (
            {
                "ratio": 0.9,
                "low": 0.8,
                "high": 0.96,
                "undecided": "4 blocks are too few to rule out chance",
                **UNDECIDED,
            },
            "On poor, cannot tell yet: so far HTTP/3 is 4 to 20 % faster than HTTP/2, but 4 blocks are too few to rule "
            "out chance.",
        ),
        (
            {"withheld": {"kind": "machine", "why": "the machine was busy"}, **UNDECIDED},
            "On poor, not judged: so far HTTP/3 is 22 to 36 % faster than HTTP/2, but the machine was busy.",
        ),
        (
            {"ratio": 1.5, "low": 1.1, "high": None, "failed": {"a": [1, 2], "b": []}, "blocks": 8, **UNDECIDED},
            "On poor, cannot tell yet: so far HTTP/3 is 50 % slower than HTTP/2 (the range has no bound: HTTP/3 failed "
            "in 2 of 8 blocks).",
        ),
        (
            {"ratio": 1.2, "low": 0.36, "high": 4.0, **UNDECIDED},
            "On poor, cannot tell yet: HTTP/3 takes between 0.36 and 4 times as long as HTTP/2.",
        ),
        (
            {"ratio": 1.31, "low": 1.31, "high": 1.31, "confidence": 0.0, "blocks": 1, **UNDECIDED},
            "On poor, cannot tell yet: so far HTTP/3 is 31 % slower than HTTP/2 (1 block, too few for an interval).",
        ),
        (
            {"ratio": None, "low": None, "high": None, "confidence": None, "blocks": 0, **UNDECIDED},
            "On poor, no answer: no block has a value for both HTTP/3 and HTTP/2.",
        ),
        (
            {"ratio": 1.04, "low": 1.03, "high": 1.045, "verdict": "equivalent", "small": "slower"},
            "On poor, no difference above the margin of 5 %: HTTP/3 is 4 % slower than HTTP/2 (3 to 4.5 %).",
        ),
        (
            {"withheld": {"kind": "failures", "why": "45.0% of h3's requests failed"}, **UNDECIDED},
            "On poor, not judged: 45.0% of h3's requests failed.",
        ),
        (
            {"ratio": None, "low": None, "high": None, "failed": {"a": [1, 2, 3, 4, 5], "b": []}, **SLOWER},
            "On poor, HTTP/2 is faster than HTTP/3, which failed in 5 of 6 blocks.",
        ),
        (
            {"metric": "goodput", "ratio": None, "low": None, "high": None, "failed": {"a": [1], "b": []}, **SLOWER},
            "On poor, HTTP/2's goodput is higher than that of HTTP/3, which failed in 1 of 6 blocks.",
        ),
        (
            {"cell": {}, "a": "reno", "b": "cubic", "ratio": 0.9996, "low": 0.9995, "high": 0.9999},
            "Reno is 0.04 % faster than CUBIC (0.01 to 0.05 %).",
        ),
    ],
)
def test_sentence(changes: dict[str, Any], said: str) -> None:
    assert sentence(comparison(**changes), 0.05).replace("\u00a0", " ") == said


def test_no_line_ends_within_an_interval() -> None:
    bracket = sentence(comparison(), 0.05).partition("(")[2]
    assert bracket
    assert " " not in bracket


@pytest.mark.parametrize(
    ("metric", "verdict", "word"),
    [
        ("latency", "faster", "faster"),
        ("goodput", "slower", "lower"),
        ("cpu", "lower", "lower"),
        ("sent_down", "higher", "higher"),
        ("nobody-described-me", "faster", "better"),
        ("latency", "inconclusive", "cannot tell yet"),
    ],
)
def test_the_verdict_is_called_as_suits_the_metric(metric: str, verdict: str, word: str) -> None:
    assert verdict_word(comparison(metric=metric, verdict=verdict)) == word
