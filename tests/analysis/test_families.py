"""Families: corrections as the papers have them, and how many blocks a verdict takes."""

from collections import Counter

import pytest

from h123.analysis.comparisons.comparison import compare, declared
from h123.analysis.statistics.families import adjust, blocks_needed, membership, smallest_adjusted
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.signedrank import attainable
from h123.analysis.trials import TrialSet
from h123.study import Family, find_study, list_studies, load_study, make_plan


def test_corrections_are_those_of_the_papers() -> None:
    # Benjamini and Hochberg (1995), section 3.2: 15 p values; at 5 % BH rejects the first four, Holm the first three.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(value <= 0.05 for value in adjust(p, "bh")) == 4
    assert sum(value <= 0.05 for value in adjust(p, "holm")) == 3
    assert adjust([0.01, 0.04, 0.03], "holm") == pytest.approx([0.03, 0.06, 0.06])
    assert adjust([], "bh") == []


def test_blocks_needed_for_a_verdict() -> None:
    assert blocks_needed(1, "holm", 0.05) == 6
    assert blocks_needed(9, "holm", 0.05) == 9
    assert blocks_needed(9, "bh", 0.05) == 6
    assert blocks_needed(10_000, "holm", 0.05) == 19
    for size in (1, 9, 21, 60):
        blocks = blocks_needed(size, "holm", 0.05)
        assert smallest_adjusted(blocks, size, "holm") <= 0.05 < smallest_adjusted(blocks - 1, size, "holm")


def test_a_comparison_belongs_to_the_first_family_that_names_it() -> None:
    answer = Family(name="answer", correction="holm", metrics=["latency"], pairs=["b/a"], each=["network"])
    rest = Family(name="rest", correction="bh", metrics=["latency", "ttfb"])
    cell = {"network": "poor"}
    found = [
        membership([answer, rest], m, pair, cell)
        for m, pair in [("latency", ("b", "a")), ("latency", ("c", "a")), ("ttfb", ("b", "a")), ("cpu", ("b", "a"))]
    ]
    assert [one and (one.name, one.correction) for one in found] == [
        ("answer/poor", "holm"),
        ("rest", "bh"),
        ("rest", "bh"),
        None,
    ]


@pytest.mark.parametrize("name", [path.stem for path in list_studies() if path.stem != "smoke"])
def test_a_shipped_study_can_find_one_difference_among_equals(name: str) -> None:
    """Then its p stands alone in its family, and both corrections multiply it by the family's size."""
    plan = make_plan(load_study(find_study(name)))
    level = Looks([len(plan.blocks)]).level(plan.study.compare.alpha)
    sizes = Counter(one.family.name for one in compare(TrialSet([]), plan) if not one.twin)
    short = {family: size for family, size in sizes.items() if size * attainable(len(plan.blocks)) > level}
    assert not short


def test_a_metric_is_compared_only_where_the_workload_gives_it() -> None:
    plan = make_plan(load_study(find_study("queues")), blocks=1)
    every = list(declared(plan))
    compared = {(comparison.metric, comparison.cell["load"]) for comparison in every}
    loads = {metric: {load for name, load in compared if name == metric} for metric, _ in compared}
    assert loads["page_complete"] == {"page"}
    assert every[0].family.name.startswith("page/")
    assert loads["responsiveness"] == loads["cold_latency"] == {"small"}
    assert loads["queue_delay"] == loads["marks"] == {"small", "page", "download"}
