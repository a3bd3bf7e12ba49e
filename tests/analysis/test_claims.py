"""Claims against arithmetic and physics: checks on known figures; the ledgers that come with h123."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from scipy.stats import mannwhitneyu

from h123.analysis.claims import check, verdict
from h123.errors import UserError
from h123.study import Claim, ledgers_of, load_ledger
from h123.study.ledger import Check

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
    ({"check": "smallest-p", "first": 3, "second": 3}, False, "2 / 20 = 0.1"),
    ({"check": "smallest-p", "first": 4, "second": 4}, True, "2 / 70"),
    ({"check": "tls-version", "protocol": "h3", "tls": "1.2"}, False, "RFC 9001"),
    ({"check": "tls-version", "protocol": "h3", "tls": "1.3"}, True, "both exist"),
    ({"check": "tls-version", "protocol": "h2", "tls": "1.2"}, True, "both exist"),
]


@pytest.mark.parametrize(("figures", "passed", "shown"), CASES)
def test_checks_on_known_figures(figures: dict[str, Any], passed: bool, shown: str) -> None:
    found = check(ONE.validate_python(figures))
    assert found.passed is passed, found.shown
    assert shown in found.shown


@pytest.mark.parametrize("runs", [3, 4, 5])
def test_the_smallest_p_is_that_of_the_exact_test(runs: int) -> None:
    exact = mannwhitneyu(range(runs), range(runs, 2 * runs), method="exact").pvalue
    for alpha, reached in ((exact * 1.001, True), (exact * 0.999, False)):
        figures = {"check": "smallest-p", "first": runs, "second": runs, "alpha": str(alpha)}
        assert check(ONE.validate_python(figures)).passed is reached


def test_the_ledgers_that_come_with_h123() -> None:
    claims = [claim for ledger in ledgers_of(None) for claim in ledger.claims]
    names = [claim.id for claim in claims]
    assert len(names) == len(set(names))
    assert {f"C{number:02}" for number in range(1, 19)} <= set(names)
    impossible = {claim.id for claim in claims if verdict(claim)[0] == "impossible"}
    assert impossible == {"C01a", "C01b", "C02a", "C04a", "C08", "C08a", "C10", "C17"}


def test_a_claim_without_figures_is_open() -> None:
    claim = Claim(id="C1", quotation="q", metric="m", estimand="e", direction="none", rule="measure")
    assert verdict(claim) == ("open", [])


def test_a_campaigns_claims_are_those_of_its_study() -> None:
    assert [ledger.study for ledger in ledgers_of("rest-api")] == ["rest-api"]
    with pytest.raises(UserError, match="no file of claims is about study 'quick'"):
        ledgers_of("quick")


GOOD = """h123: claims/1
source: {title: t, where: w}
claims:
  - id: C1
    quotation: They say so.
    metric: latency
    estimand: ratio
    direction: lower
    a: h3
    b: h2
    rule: a campaign
    checks:
      - {check: rate-within-link, rps: 10, size: 1MB, link: 100Mbit/s}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("claims/1", "claims/2", 1, "claims/1"),
        ("direction: lower", "direction: faster", 8, "allowed: lower, higher, equivalent, none"),
        ("metric:", "metrik:", 6, "did you mean metric?"),
        ("link: 100Mbit/s", "link: 100", 13, "is not understood"),
        ("rate-within-link", "rate-in-link", 13, "rate-in-link"),
        ("    rule: a campaign\n", "", 4, "rule` is missing"),
        ("    b: h2\n", "", 4, "`a` and `b` belong together"),
        ("    quotation: They say so.\n", "", 4, "write either `quotation` or `summary`"),
        ("id: C1", "id: first", 4, "id"),
    ],
)
def test_a_broken_ledger_names_file_and_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(GOOD)
    assert load_ledger(file).claims[0].id == "C1"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        load_ledger(file)
    assert caught.value.message.startswith(f"{file}:{line}:"), caught.value.message
    assert said in caught.value.message
