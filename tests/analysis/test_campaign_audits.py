"""Audits of a campaign as a whole: blocks that are too few, links that draw in two ways, what is summed up."""

from typing import Any

import pytest

from analysis.spoiled import report, summary
from h123.analysis.audits import Failed, audit_campaign, audit_trials, design, order_audits
from h123.analysis.case import Case
from h123.analysis.gathering import gather
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.remedy import Remedy
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import treated
from synthetic import Scenario, make_campaign


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return gather(make_campaign(tmp_path_factory.mktemp("audits") / "c", Scenario(blocks=4)))


UNDECIDED = {"twin": False, "repeats": None, "verdict": "inconclusive", "family": "answer", "correction": "holm"}
ONE_BLOCK = {**UNDECIDED, "metric": "latency", "p": 1.0, "blocks": 1}


def test_blocks_too_few_for_a_family() -> None:
    one = {**UNDECIDED, "p": 0.03, "blocks": 6, "low": 0.9, "high": 1.1}
    rule = Rule(0.05, 0.05, Looks([6]))
    assert [finding.passed for finding in design.blocks_too_few([one], rule)] == [True]
    assert [finding.passed for finding in design.blocks_too_few([one, one], rule)] == [False]
    assert design.blocks_too_few([{**one, "twin": True}], rule) == []


def test_blocks_are_too_few_where_one_difference_among_equals_could_not_be_found() -> None:
    """Twenty servers beside one, under Benjamini-Hochberg: if most differ 8 blocks show it, if one does they cannot."""
    server = {**UNDECIDED, "correction": "bh", "p": 0.0078, "low": 0.48, "high": 0.52}
    (few,) = design.blocks_too_few([{**server, "blocks": 8}] * 20, Rule(0.05, 0.05, Looks([8])))
    assert not few.passed
    assert few.value == pytest.approx(20 * 2 / 2**8)
    assert "14 blocks needed" in few.detail  # of a second look, which may spend less
    rule = Rule(0.05, 0.05, Looks([10]))
    (enough,) = design.blocks_too_few([{**server, "blocks": 10}] * 20, rule)
    assert enough.passed
    assert "of true differences of 5 % if one, half or all" in enough.detail
    one_block = {**server, "blocks": 1, "low": 0.5, "high": 0.5}
    (partly,) = design.blocks_too_few([{**server, "blocks": 10}, one_block], rule)
    assert "power not known" in partly.detail
    (lost,) = design.blocks_too_few([{**server, "blocks": 10, "high": None}], rule)
    assert "power not known" in lost.detail
    # What has been found leaves more for the others.
    found = [{**server, "blocks": 8, "verdict": "faster"}] * 19
    assert design.blocks_too_few([*found, {**server, "blocks": 8}], Rule(0.05, 0.05, Looks([8])))[0].passed


def too_few(case: Case, comparisons: list[dict[str, Any]]) -> str:
    """What the audit says of a campaign of one block."""
    rule = Rule(0.05, 0.05, Looks([1]), Remedy(1))
    _, counted = audit_campaign(case.trials.attempts, comparisons, plan=case.plan, rule=rule)
    (row,) = [row for row in counted if row["audit"] == "blocks-too-few"]
    return str(row["failure"])


def test_a_failure_for_want_of_blocks_says_so(case: Case) -> None:
    families = [{**ONE_BLOCK, "family": name} for name in ("answer", "warm")]
    assert too_few(case, families) == (
        "In 2 of 2 families of comparisons (answer, warm) 1 block cannot find one more true difference, however large. "
        "That takes at least 6 blocks: run `--blocks 6`."
    )


@pytest.mark.parametrize(
    ("projected", "said"),
    [
        ({"blocks": 6, "basis": "spread"}, "at least 6 blocks, as many as would decide the question."),
        ({"blocks": 40, "basis": "spread"}, "at least 6 blocks; the 40 that would decide the question are enough."),
        (
            {"blocks": 5, "basis": "spread"},
            "6 blocks, more than the 5 that would decide the question: run `--blocks 6`.",
        ),
        ({"blocks": None, "basis": "beyond"}, "at least 6 blocks, and deciding the question takes more than 200."),
    ],
)
def test_an_audit_and_the_answer_advise_one_number_of_blocks(case: Case, projected: dict[str, Any], said: str) -> None:
    assert too_few(case, [{**ONE_BLOCK, "projection": projected}]).endswith(said)


def test_the_summary_counts_what_was_checked_and_failed(case: Case) -> None:
    attempts = case.trials.attempts
    spoiled = [summary(refused=3)(attempts[0]), *attempts[1:]]
    rows, counted, failed = audit_trials(spoiled, case.plan)
    assert failed == [Failed("status-wrong", treated(attempts[0]))]
    by_name = {row["audit"]: row for row in counted}
    assert (by_name["status-wrong"]["checked"], by_name["status-wrong"]["failed"]) == (len(attempts), 1)
    said = by_name["status-wrong"]["failure"]
    assert said.startswith(f"In 1 of {len(attempts)} trials responses did not have the requested status: ")
    assert by_name["size-wrong"]["failure"] is None
    (found,) = [row for row in rows if not row["passed"]]
    assert (found["trial"], found["value"], found["limit"]) == (attempts[0].name, 3, 0)
    whole, _ = audit_campaign(attempts, [], order_audits(case), plan=case.plan, rule=Rule(0.05, 0.05, Looks([1])))
    assert {row["trial"] for row in whole} == {None}
    assert {row["audit"] for row in whole} == {"order-unrecorded", "order-confounded", "pairs-apart", "draws-mixed"}


def test_links_that_draw_in_two_ways_are_told(case: Case) -> None:
    attempts = [attempt for attempt in case.trials.attempts if attempt.report.links[0].directions]
    (alike,) = design.draws_mixed(attempts)
    assert alike.passed, "reports without a version are of the first"
    newer = report(lambda r: r["links"][0].update(draws=2))(attempts[0])
    (mixed,) = design.draws_mixed([newer, *attempts[1:]])
    assert (mixed.passed, mixed.detail) == (False, "version 1 and 2 of the draws")
