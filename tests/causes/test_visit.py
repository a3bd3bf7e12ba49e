"""The critical path of visits whose course is known."""

from typing import Any, cast

import numpy as np
import pytest

from h123.causes.cause import CAUSES, CLIENT_WORK, NUMBER, RUNNING
from h123.causes.visit import PathStep, middle_visits
from h123.store import Sample
from h123.study.workload import VisitOrder

MS = 1_000_000
PAGE = VisitOrder(askers=[None, 0, 0, 1], runs_ns=[5 * MS, 20 * MS, 0, 0], at_once=100)
"""A document, a script and an image that it asks for, and what the script asks for."""


def _visit(*spans: tuple[float, float], group: int = 0, **changed: Any) -> list[Sample]:
    """Of each resource in turn from when to when it was asked for and came, ms."""
    rows = []
    for resource, (start, end) in enumerate(spans):
        times = {"start_ns": round(start * MS), "end_ns": round(end * MS)}
        row = {"phase": "warm", "user": 0, "group": group, "resource": resource, "status": 200, "error": "", **times}
        rows.append(cast(Sample, row | changed))
    return rows


def _told(path: list[PathStep]) -> list[tuple[int | None, float, float, float]]:
    """Of each step its resource, when it ends, and what ran and was at work before it, ms."""
    return [
        (step.row["resource"], step.until / MS, *(step.between[NUMBER[c]] / MS for c in (RUNNING, CLIENT_WORK)))
        for step in path
    ]


def test_the_path_leads_from_the_document_to_what_ended_last() -> None:
    (path,) = middle_visits(_visit((0, 100), (105, 200), (105, 290), (223, 300)), PAGE)
    assert _told(path) == [(0, 100, 0, 0), (1, 200, 5, 0), (3, 300, 20, 3)]


def test_what_is_asked_for_by_nothing_slow_is_on_no_path() -> None:
    (path,) = middle_visits(_visit((0, 100), (105, 200), (105, 400), (220, 300)), PAGE)
    assert [step.row["resource"] for step in path] == [0, 2]


def test_a_browser_asks_before_all_has_come() -> None:
    (path,) = middle_visits(_visit((0, 100), (60, 200), (105, 110), (220, 300)), PAGE)
    assert _told(path) == [(0, 60, 0, 0), (1, 200, 0, 0), (3, 300, 20, 0)]


def test_the_visit_in_the_middle_is_told_or_both_that_are() -> None:
    visits = [_visit((0, 100), (105, 200), (105, 110), (220, last), group=last) for last in (400, 300, 900, 600)]
    paths = middle_visits([row for visit in visits for row in visit], PAGE)
    assert [path[-1].until / MS for path in paths] == [400, 600]
    (path,) = middle_visits([row for visit in visits[:3] for row in visit], PAGE)
    assert path[-1].until == 400 * MS


@pytest.mark.parametrize("error", ["timeout", "status 404"])
def test_a_visit_of_which_something_failed_is_slower_than_all_others(error: str) -> None:
    failed = _visit((0, 10), (15, 20), (15, 20), (40, 50), group=1, error=error)
    slow, slower = (_visit((0, 100), (105, 200), (105, 110), (220, last), group=last) for last in (300, 500))
    (path,) = middle_visits(failed + slow + slower, PAGE)
    assert path[-1].until == 500 * MS
    assert middle_visits(failed, PAGE) == []


def test_a_visit_that_lacks_a_resource_is_not_whole() -> None:
    assert middle_visits(_visit((0, 100), (105, 200), (105, 290)), PAGE) == []


def test_a_path_and_what_is_between_sum_up_to_the_visit() -> None:
    (path,) = middle_visits(_visit((7, 100), (106, 200), (105, 290), (223, 300)), PAGE)
    between = sum(step.between for step in path)
    times = sum(step.until - step.row["start_ns"] for step in path)
    assert isinstance(between, np.ndarray)
    assert between.shape == (len(CAUSES),)
    assert times + between.sum() == (300 - 7) * MS
