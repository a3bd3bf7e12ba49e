"""Spreads: what published campaigns varied by, told of trials like theirs only; and the file that holds them."""

import csv
import lzma
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from h123.analysis.comparisons.power_preview import blocks_to_be, headline, preview_power
from h123.analysis.statistics.spreads import EARLIER, SpreadTrial, Varied, known_spreads, nearest
from h123.cli.plans.power_preview import print_power_preview
from h123.documents.result_file import results
from h123.study import Family, Network, Parameters, Plan, find_study, load_study, make_plan
from printing import printed

TRIAL = SpreadTrial("poor", "wall", "GET", 100_000, 4, 8)


def _plan(name: str, blocks: int | None = None) -> Plan:
    return make_plan(load_study(find_study(name)), blocks=blocks)


def test_published_results_and_the_earlier_file_are_known() -> None:
    campaigns = {one.campaign for one in known_spreads()}
    assert {"processing", "quick"} <= campaigns
    assert all(one.spread >= 0 and one.blocks >= 6 for one in known_spreads())
    with lzma.open(EARLIER, "rt", newline="") as file:
        earlier = {line["campaign"] for line in csv.DictReader(file)}
    assert not earlier & {result.name for result in results()}, "what is published with its data needs no lines there"


def test_only_trials_alike_say_anything() -> None:
    def varied(spread: float, trial: SpreadTrial, metric: str = "latency") -> Varied:
        return Varied("c", trial, metric, 8, 1, spread)

    unlike = [
        varied(1, replace(TRIAL, network="lan")),
        varied(1, replace(TRIAL, clock="virtual")),
        varied(1, replace(TRIAL, method="POST")),
        varied(1, replace(TRIAL, requests=100)),
        varied(1, replace(TRIAL, size=2_000_000, users=1, requests=1)),
        varied(1, TRIAL, "goodput"),
    ]
    assert nearest(TRIAL, "latency", unlike) is None
    near, same = varied(0.2, replace(TRIAL, requests=16)), varied(0.3, replace(TRIAL, users=8, requests=4))
    assert nearest(TRIAL, "latency", [*unlike, near]) == near
    assert nearest(TRIAL, "latency", [near, same]) == same


def test_what_is_not_known_is_not_made_up() -> None:
    families = preview_power(_plan("misplaced-tc"), effect=0.05, assumed_spread=None, spreads=known_spreads())
    assert all(one.spread is None and one.width is None for family in families for one in family.comparisons)
    assert all(family.power is None for family in families)
    stated = preview_power(_plan("misplaced-tc"), effect=0.05, assumed_spread=0.1, spreads=known_spreads())
    assert all(one.spread == 0.1 and one.campaign is None for family in stated for one in family.comparisons)
    assert all(family.power is not None for family in stated)


def test_the_servers_of_eight_blocks_cannot_find_one_and_those_of_ten_can() -> None:
    eight, ten = (
        preview_power(_plan("servers", n), effect=1.0, assumed_spread=None, spreads=known_spreads()) for n in (8, 10)
    )
    assert {(family.able, family.fewest, len(family.comparisons)) for family in eight} == {(False, 10, 20)}
    assert all(family.able for family in ten)
    medium = next(family for family in ten if family.name == "answer/go/medium")
    assert medium.power
    assert medium.power.single > 0.9


def test_a_width_takes_the_blocks_of_the_comparison_that_varies_most() -> None:
    plan = _plan("quick")
    known = [Varied("c", replace(TRIAL, network=network), "latency", 8, 1, spread) for network, spread in NETWORKS]
    asked = headline(preview_power(plan, effect=0.05, assumed_spread=None, spreads=known))
    assert {one.where for one in asked} == {"lan", "medium", "poor"}
    needed = blocks_to_be(0.05, asked, plan)
    assert needed.keys() == {"medium", "poor"}
    assert needed["medium"] is None
    assert needed["poor"] in range(15, 30)


NETWORKS = [("medium", 0.5), ("poor", 0.1)]


def test_a_plan_that_compares_nothing_buys_nothing() -> None:
    """Processor time alone, under the clock by which processing takes none."""
    study = load_study(find_study("smoke")).settled(clock="virtual")
    cost = Family(name="cost", correction="holm", metrics=["cpu"])
    study = study.model_copy(update={"compare": study.compare.model_copy(update={"families": [cost]})})
    plan = make_plan(study)
    assert not printed(lambda console: print_power_preview(plan, console, effect=None, spread=None, width=0.05))


def test_a_plan_of_many_trials_reads_and_estimates_each_treatment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(find_study("queues"))
    read, estimated = list[object](), list[object]()
    module = sys.modules["h123.study.estimate"]
    model_validate, estimate_parameters = Parameters.model_validate, module.estimate_parameters

    def validated(values: object, **options: Any) -> Parameters:
        read.append(values)
        return model_validate(values, **options)

    def estimated_as(parameters: Parameters, networks: Mapping[str, Network]) -> Any:
        estimated.append(parameters)
        return estimate_parameters(parameters, networks)

    monkeypatch.setattr(Parameters, "model_validate", validated)
    monkeypatch.setattr(module, "estimate_parameters", estimated_as)
    plan = make_plan(study)
    preview_power(plan, effect=0.05, assumed_spread=None, spreads=[])
    assert len(plan.estimates()) == 8 * 162
    assert len(read) <= len(estimated) == 135
