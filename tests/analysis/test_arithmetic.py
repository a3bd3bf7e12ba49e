"""Claims against arithmetic and physics: checks on known figures."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from scipy.stats import mannwhitneyu

from h123.analysis.claims.arithmetic import check
from h123.study.claims.checks import Check

ONE: TypeAdapter[Check] = TypeAdapter(Check)

CASES: list[tuple[dict[str, Any], bool, str]] = [
    ({"check": "rate-within-link", "rps": 1120, "size": "10MB", "link": "100Mbit/s"}, False, "89.6 Gbit/s"),
    ({"check": "rate-within-link", "rps": 1.26, "size": "10MB", "link": "100Mbit/s"}, False, "at most 1.25"),
    ({"check": "rate-within-link", "rps": 1.25, "size": "10MB", "link": "100Mbit/s"}, True, "100 Mbit/s"),
    # 5.89 MB/s for one GET, as if 10 Mbit/s were 47.
    ({"check": "transfer-within-link", "size": "5.89MB", "time": "1s", "link": "10Mbit/s"}, False, "47.1 Mbit/s"),
    (
        {"check": "transfer-within-link", "size": "0.5MB", "time": "1s", "users": 5, "link": "20Mbit/s"},
        True,
        "20 Mbit/s",
    ),
    (
        {"check": "transfer-within-link", "size": "0.5MB", "time": "1s", "users": 6, "link": "20Mbit/s"},
        False,
        "24 Mbit",
    ),
    ({"check": "requests-within-littles-law", "rps": 5000, "in_flight": 100, "round_trip": "20ms"}, True, "5000"),
    ({"check": "requests-within-littles-law", "rps": 5001, "in_flight": 100, "round_trip": "20ms"}, False, "5001"),
    ({"check": "percentage", "before": 1495.4, "after": 1028.6, "printed": -31.2}, True, "-31.2"),
    ({"check": "percentage", "before": 2472.8, "after": 3197.8, "printed": 29.3}, True, "+29.3"),
    ({"check": "percentage", "before": 3197.8, "after": 2472.8, "printed": -29.3}, False, "the base is swapped"),
    ({"check": "percentage", "before": 431.8, "after": 279.6, "printed": -35.2}, True, "-35.2"),
    ({"check": "percentage", "before": 12400, "after": 42100, "printed": 300, "digits": 0}, False, "+240 %"),
    (
        {"check": "percentage", "before": 1.60, "after": 2.32, "printed": 45.4},
        True,
        "+45.0",
    ),  # rounded figures allow 45.4
    ({"check": "percentage", "before": 1.60, "after": 2.32, "printed": 50.5}, False, "+45.0"),
    ({"check": "rank-biserial", "first": 3, "second": 3, "printed": -0.422}, False, "-0.444"),
    ({"check": "rank-biserial", "first": 3, "second": 3, "printed": -0.333}, True, "-0.333"),
    ({"check": "rank-biserial", "first": 3, "second": 3, "printed": 0.778}, True, "0.778"),
    ({"check": "rate-within-count", "rps": 337, "requests": 10099, "time": "30s"}, False, "at most 336.6 requests/s"),
    ({"check": "rate-within-count", "rps": 336, "requests": 10099, "time": "30s"}, True, "336 claimed"),
    ({"check": "time-above-round-trips", "time": "12ms", "round_trip": "20ms"}, False, "a round trip of 20 ms"),
    ({"check": "time-above-round-trips", "time": "45ms", "round_trip": "20ms", "trips": 2}, True, "take 40 ms"),
    ({"check": "product", "factors": [365, 0.1, 0.085], "printed": 1200}, False, "= 3.103; 1200 printed"),
    ({"check": "product", "factors": [365, 0.3, 0.085], "printed": 9.3}, True, "= 9.308"),
    ({"check": "work-within-cores", "per_second": 6700, "each": "5ms", "cores": 8}, False, "33.5 cores busy, of 8"),
    ({"check": "work-within-cores", "per_second": 200, "each": "5ms", "cores": 1}, True, "keep 1 cores busy, of 1"),
    ({"check": "tests-uncorrected", "tests": 72}, False, "find 3.6 differences by chance, at least one in 97.5%"),
    ({"check": "tests-uncorrected", "tests": 1}, True, "1 tests at 0.05"),
    ({"check": "two-numbers", "times": [1495.4, 1028.6], "rates": [1.6, 2.32]}, False, "1.45: one observation"),
    ({"check": "two-numbers", "times": [1495.4, 1028.6], "rates": [1.6, 1.9]}, True, "1.9 / 1.6 = 1.19"),
    ({"check": "smallest-p", "first": 3, "second": 3}, False, "2 / 20 = 0.1"),
    ({"check": "smallest-p", "first": 4, "second": 4}, True, "2 / 70"),
    ({"check": "tls-version", "protocol": "h3", "tls": "1.2"}, False, "RFC 9001"),
    ({"check": "tls-version", "protocol": "h3", "tls": "1.3"}, True, "both exist"),
    ({"check": "tls-version", "protocol": "h2", "tls": "1.2"}, True, "both exist"),
]


@pytest.mark.parametrize(("figures", "passed", "shown"), CASES)
def test_checks_on_known_figures(figures: dict[str, Any], passed: bool, shown: str) -> None:
    found = check(ONE.validate_python(figures))
    assert found.passed is passed, found.text
    assert shown in found.text


@pytest.mark.parametrize("runs", [3, 4, 5])
def test_the_smallest_p_is_that_of_the_exact_test(runs: int) -> None:
    exact = mannwhitneyu(range(runs), range(runs, 2 * runs), method="exact").pvalue
    for alpha, reached in ((exact * 1.001, True), (exact * 0.999, False)):
        figures = {"check": "smallest-p", "first": runs, "second": runs, "alpha": str(alpha)}
        assert check(ONE.validate_python(figures)).passed is reached
