"""The audits of when trials ran: exact, from four blocks on, and with the false alarms that they state."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from h123.analysis.audits.finding import CampaignAudit
from h123.analysis.audits.order import FEW_ORDERS_LEVEL, ORDER_LEVEL, of_order
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import PairedComparison, compare
from h123.analysis.gathering import gather
from h123.measures import Attempt
from synthetic import NETWORKS, Scenario, make_campaign

SECOND, HOUR = 10**9, 3600 * 10**9
TWO = Scenario(blocks=4, protocols=("h2", "h3"), networks={"poor": NETWORKS["poor"]})
"""Four blocks of two treatments, besides the twin: the least that can be told of an order."""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return gather(make_campaign(tmp_path_factory.mktemp("order") / "two", TWO))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Three protocols on three networks."""
    return gather(make_campaign(tmp_path_factory.mktemp("order") / "many", Scenario(blocks=6)))


def audits(case: Case, change: Callable[[Attempt], Attempt] = lambda a: a) -> dict[str, CampaignAudit]:
    changed = [change(attempt) for attempt in case.trials.attempts]
    return {audit.name: audit for audit in of_order(changed, case.plan)}


def failed(audit: CampaignAudit) -> list[str]:
    return [finding.detail for finding in audit.findings if not finding.passed]


def began(when: Callable[[Attempt], int]) -> Callable[[Attempt], Attempt]:
    return lambda a: replace(a, report=a.report.model_copy(update={"started_unix_ns": when(a)}))


def first(level: str) -> Callable[[Attempt], Attempt]:
    """That level first in each block, the twin last."""
    return lambda a: replace(a, position=(a.cell["protocol"] != level) + 2 * a.twin + 1)


def test_sound_campaigns_pass(two: Case, many: Case) -> None:
    for case in (two, many):
        for audit in audits(case).values():
            assert audit.findings
            assert not failed(audit), audit.name


def test_four_blocks_in_one_order_fail(two: Case) -> None:
    """Friedman's test could not fail with fewer than 11."""
    audit = audits(two, first("h3"))["order-confounded"]
    assert failed(audit) == ["h3 ran before h2 in 4 of 4 orders (adjusted p = 0.12)"]
    (comparison, *_) = [c for c in _compared(two) if not c.twin]
    assert audit.qualifies(comparison)
    assert not any(audit.qualifies(c) for c in _compared(two) if c.twin)


def test_an_order_with_one_exception_in_four_passes(two: Case) -> None:
    change = first("h3")
    audit = audits(two, lambda a: change(a) if a.block > 1 else first("h2")(a))["order-confounded"]
    assert not failed(audit)


def test_a_sorted_order_of_many_fails_for_each_pair(many: Case) -> None:
    audit = audits(many, lambda a: replace(a, position=int(a.cell["protocol"][1]) * 10 + len(a.cell["network"])))
    assert [detail.split(" in ")[0] for detail in failed(audit["order-confounded"])] == [
        "h3 ran before h2",
        "h3 ran before h1",
        "h2 ran before h1",
    ]


@pytest.mark.parametrize(("name", "limit"), [("two", FEW_ORDERS_LEVEL), ("many", ORDER_LEVEL)])
def test_random_orders_fail_as_rarely_as_is_said(name: str, limit: float, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    seed, campaigns = 20261122, 400
    print("seed", seed)
    random, alarms = np.random.default_rng(seed), 0
    for _ in range(campaigns):
        places = iter(random.permutation(10_000))
        alarms += bool(failed(audits(case, lambda a, p=places: replace(a, position=int(next(p))))["order-confounded"]))
    assert alarms <= campaigns * limit + 3 * (campaigns * limit * (1 - limit)) ** 0.5


def test_ten_hours_between_the_arms_of_a_block_fail(two: Case) -> None:
    late = began(lambda a: a.block * 60 * SECOND + (10 * HOUR if a.cell["protocol"] == "h3" else 0))
    audit = audits(two, late)["pairs-apart"]
    assert failed(audit) == ["poor h3 / h2: too far apart in 4 of 4 blocks (10 h 0 min at most, 10 h 0 min typically)"]
    assert audit.qualifies(next(c for c in _compared(two) if not c.twin))


def test_a_block_a_night_is_no_pair(two: Case) -> None:
    """However far the blocks are from one another."""
    nightly = began(lambda a: a.block * 24 * HOUR + (10 * HOUR if a.cell["protocol"] == "h3" else 0))
    assert failed(audits(two, nightly)["pairs-apart"])


def test_one_pause_in_twelve_blocks_passes_and_two_do_not(tmp_path_factory: pytest.TempPathFactory) -> None:
    case = gather(make_campaign(tmp_path_factory.mktemp("order") / "pause", replace(TWO, blocks=12)))
    for pauses, passes in ((1, True), (2, False)):
        paused = began(
            lambda a, n=pauses: (a.block * 60 + (a.block <= n) * (a.cell["protocol"] == "h3") * 9000) * SECOND
        )
        assert bool(failed(audits(case, paused)["pairs-apart"])) is not passes


def test_a_long_block_takes_its_time(two: Case) -> None:
    """Half an hour between trials is no pause where the block's trials took longer themselves."""

    def slow(attempt: Attempt) -> Attempt:
        began = (attempt.position or 0) * 1800 * SECOND
        changes = {"phases_ns": {"main": 1800 * SECOND}, "started_unix_ns": began}
        return replace(attempt, report=attempt.report.model_copy(update=changes))

    assert not failed(audits(two, slow)["pairs-apart"])


def test_another_order_than_recorded_fails(two: Case) -> None:
    swap = {1: 2, 2: 1}
    wrong = audits(two, lambda a: replace(a, position=swap.get(a.position or 0, 3) if a.block == 1 else a.position))
    assert failed(wrong["order-unrecorded"]) == ["blocks in a different order than recorded: 1"]


def test_under_the_virtual_clock_no_order_matters(two: Case) -> None:
    found = audits(two, lambda a: replace(first("h3")(a), parameters={**a.parameters, "clock": "virtual"}))
    assert [audit.findings for audit in found.values()] == [[], [], []]


def _compared(case: Case) -> list[PairedComparison]:
    return compare(case.trials, case.plan)
