"""Factors with one level in all comparisons are said once, and are in no cell's name any more."""

import copy
from typing import Any

from h123.report.text.constant_factors import common, common_line, without


def verdicts(*cells: dict[str, str]) -> dict[str, Any]:
    return {
        "comparisons": [{"cell": cell, "a": "h3", "values": [{"cell": {**cell, "protocol": "h3"}}]} for cell in cells]
    }


def test_what_never_varies_is_said_once() -> None:
    whole = verdicts(
        {"client": "chromium", "network": "home", "site": "small"},
        {"client": "chromium", "network": "home", "site": "large"},
    )
    before = copy.deepcopy(whole)
    same = common(whole)
    assert same == {"client": "chromium", "network": "home"}
    assert common_line(same) == "With chromium as client on home throughout."
    found = without(whole, same)
    assert [c["cell"] for c in found["comparisons"]] == [{"site": "small"}, {"site": "large"}]
    assert found["comparisons"][0]["values"] == [{"cell": {"site": "small", "protocol": "h3"}}]
    assert found["comparisons"][0]["a"] == "h3"
    assert whole == before


def test_what_is_placed_alike_shares_its_preposition() -> None:
    cell = {"client": "go", "site": "small", "network": "home", "congestion": "cubic", "behind": "same-host"}
    assert common_line(cell) == "With go as client and site small on home with CUBIC and behind same-host throughout."


def test_a_single_cell_keeps_its_name() -> None:
    assert common(verdicts({"network": "home", "server": "go"})) == {}
    assert common(verdicts({"network": "home"}, {"network": "home"})) == {}


def test_a_factor_that_some_families_leave_out_is_not_common() -> None:
    assert common(verdicts({"network": "home", "site": "a"}, {"site": "b"})) == {}


def test_nothing_is_common_to_none() -> None:
    assert common(verdicts()) == {}
    assert common_line({}) == ""
