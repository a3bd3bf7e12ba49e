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
    ("interval", "changes", "said"),
    [
        ((0.76, 0.4, 0.82), {}, "HTTP/3 is 24 % faster than HTTP/2 (18 to 60 %)."),
        ((1.31, 1.2, 2.4), SLOWER, "HTTP/3 is 31 % slower than HTTP/2 (20 to 140 %)."),
        ((1.5, 1.5, 1.502), SLOWER, "HTTP/3 is 50 % slower than HTTP/2."),
        ((3.0, 3.0, 3.01), SLOWER, "HTTP/3 takes 3 times as long as HTTP/2."),
        ((0.74, 0.37, 1.02), {}, "HTTP/3 is 26 % faster than HTTP/2 (from 2 % slower to 63 % faster)."),
        ((2.8, 2.1, 3.6), SLOWER, "HTTP/3 takes 2.8 times as long as HTTP/2 (2.1 to 3.6 times)."),
        ((1 / 2.8, 1 / 3.6, 1 / 2.1), {}, "HTTP/3 is 2.8 times as fast as HTTP/2 (2.1 to 3.6 times)."),
        ((1e-4, 5e-5, 2e-4), {}, "HTTP/3 is 10,000 times as fast as HTTP/2 (5,000 to 20,000 times)."),
        ((1.31, 1.2, 1.4), {"metric": "goodput"}, "HTTP/3's goodput is 31 % higher than HTTP/2's (20 to 40 %)."),
        ((0.25, 0.2, 0.5), {"metric": "goodput", **SLOWER}, "HTTP/2's goodput is 4 times HTTP/3's (2 to 5 times)."),
        (
            (2.5, 2.4, 2.6),
            {"metric": "cpu", **HIGHER},
            "HTTP/3's CPU per request is 2.5 times HTTP/2's (2.4 to 2.6 times).",
        ),
        (
            (1.9, 1.8, 2.0),
            {"metric": "cpu", **HIGHER},
            "HTTP/3's CPU per request is 90 % higher than HTTP/2's (80 to 100 %).",
        ),
        ((0.9, 0.8, 0.95), {"metric": "of-its-own"}, "HTTP/3's of-its-own is 10 % lower than HTTP/2's (5 to 20 %)."),
        ((1.01, 0.98, 1.03), {"verdict": "equivalent"}, "HTTP/3 and HTTP/2 are the same within 5 %."),
        ((0.97, 0.7, 1.05), UNDECIDED, "cannot tell yet: HTTP/3 is between 30 % faster and 5 % slower than HTTP/2."),
        (
            (0.9, 0.8, 0.96),
            UNDECIDED,
            "cannot tell yet: so far HTTP/3 is 4 to 20 % faster than HTTP/2, but that may be chance.",
        ),
        (
            (0.9, 0.8, 0.96),
            {"undecided": "4 blocks are too few to rule out chance", **UNDECIDED},
            "cannot tell yet: so far HTTP/3 is 4 to 20 % faster than HTTP/2, but 4 blocks are too few to rule "
            "out chance.",
        ),
        (
            (0.71, 0.64, 0.78),
            {"withheld": {"kind": "machine", "why": "the machine was busy"}, **UNDECIDED},
            "not judged: so far HTTP/3 is 22 to 36 % faster than HTTP/2, but the machine was busy.",
        ),
        (
            (1.5, 1.1, None),
            {"failed": {"a": [1, 2], "b": []}, "blocks": 8, **UNDECIDED},
            "cannot tell yet: so far HTTP/3 is 50 % slower than HTTP/2 (the range has no bound: HTTP/3 failed in 2 of "
            "8 blocks).",
        ),
        ((1.2, 0.36, 4.0), UNDECIDED, "cannot tell yet: HTTP/3 takes between 0.36 and 4 times as long as HTTP/2."),
        (
            (1.31, 1.31, 1.31),
            {"confidence": 0.0, "blocks": 1, **UNDECIDED},
            "cannot tell yet: so far HTTP/3 is 31 % slower than HTTP/2 (1 block, too few for an interval).",
        ),
        (
            (None, None, None),
            {"confidence": None, "blocks": 0, **UNDECIDED},
            "no answer: no block has a value for both HTTP/3 and HTTP/2.",
        ),
        (
            (1.04, 1.03, 1.045),
            {"verdict": "equivalent", "small": "slower"},
            "no difference above the margin of 5 %: HTTP/3 is 4 % slower than HTTP/2 (3 to 4.5 %).",
        ),
        (
            (0.71, 0.64, 0.78),
            {"withheld": {"kind": "failures", "why": "45.0% of h3's requests failed"}, **UNDECIDED},
            "not judged: 45.0% of h3's requests failed.",
        ),
        (
            (None, None, None),
            {"failed": {"a": [1, 2, 3, 4, 5], "b": []}, **SLOWER},
            "HTTP/2 is faster than HTTP/3, which failed in 5 of 6 blocks.",
        ),
        (
            (None, None, None),
            {"metric": "goodput", "failed": {"a": [1], "b": []}, **SLOWER},
            "HTTP/2's goodput is higher than that of HTTP/3, which failed in 1 of 6 blocks.",
        ),
    ],
)
def test_sentence(interval: tuple[float | None, ...], changes: dict[str, Any], said: str) -> None:
    ratio, low, high = interval
    found = sentence(comparison(ratio=ratio, low=low, high=high, **changes), 0.05)
    assert found.replace("\u00a0", " ") == f"On poor, {said}"


def test_a_comparison_of_a_single_cell_begins_with_what_is_compared() -> None:
    found = sentence(comparison(cell={}, a="reno", b="cubic", ratio=0.9996, low=0.9995, high=0.9999), 0.05)
    assert found.replace("\u00a0", " ") == "Reno is 0.04 % faster than CUBIC (0.01 to 0.05 %)."


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
