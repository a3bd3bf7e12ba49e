"""Studies that repeat another one's trials with one thing changed."""

from collections.abc import Sequence
from typing import Any

import pytest

from h123.study import Parameters, Study, find_study, load_study, make_plan
from h123.study.interventions import ALL, AS_IS, BY_NAME, FACTOR, INTERVENTIONS, WhatIf, draft_what_if


def _draft(study: str | Study = "quick", refuse: str = "", **options: Any) -> WhatIf:
    resolved = load_study(find_study(study)) if isinstance(study, str) else study
    level_filter = make_plan(resolved, blocks=1, level_filter=options.pop("level_filter", {})).level_filter

    def refusal(treatments: Sequence[Parameters]) -> str | None:
        return "no" if refuse and any(getattr(p, refuse) not in (None, "own") for p in treatments) else None

    pair = options.pop("pair", resolved.compare.pairs[0])
    return draft_what_if(resolved, level_filter, pair, refusal=refusal, **options)


def test_the_levels_change_one_thing_each_and_then_several() -> None:
    asked = _draft(combined=["no-loss", "window-32", "small-certificate", "own-connections"])
    levels = asked.study.factors[FACTOR]
    singles = [name for name in levels if name in BY_NAME]
    assert next(iter(levels)) == AS_IS
    assert all(levels[name] == {BY_NAME[name].parameter: BY_NAME[name].value} for name in singles)
    assert "no-cross-traffic" not in levels  # quick's networks have none
    assert "small-certificate" not in levels  # nor a large one
    together = [name for name in levels if "+" in name]
    assert together == [
        "no-loss+window-32",
        "no-loss+own-connections",
        "window-32+own-connections",
        "no-loss+window-32+own-connections",
    ]
    assert levels["no-loss+window-32"] == {"losses": "none", "initial_window": 32}
    assert levels[ALL].items() >= {"losses": "none", "round_trip": "half", "congestion": "bbr"}.items()


def test_only_the_pair_and_networks_that_take_time_run_under_the_virtual_clock() -> None:
    asked = _draft()
    plan = make_plan(asked.study, blocks=2, level_filter=asked.level_filter)
    assert {t.cell["protocol"] for t in plan.trials()} == {"h2", "h3"}
    assert {t.cell["network"] for t in plan.trials()} == {"medium", "poor"}
    assert {t.parameters.clock for t in plan.trials()} == {"virtual"}
    assert plan.pairs == ["h3/h2"]
    # The A/A pair runs without a change.
    assert {t.cell[FACTOR] for t in plan.trials() if t.twin} == {AS_IS}


def test_trials_that_differ_only_in_the_change_share_losses_and_random_numbers() -> None:
    asked = _draft()
    plan = make_plan(asked.study, blocks=2, level_filter=asked.level_filter)
    shared: dict[Any, set[Any]] = {}
    for t in plan.trials():
        key = t.block, t.cell["network"], t.cell["protocol"], t.twin
        shared.setdefault(key, set()).add((t.link_seed, t.random, t.lost_at, t.moment))
    assert all(len(its) == 1 for its in shared.values())
    assert len({next(iter(its))[1] for its in shared.values()}) == len(shared)
    as_run = make_plan(load_study(find_study("quick")), blocks=2)
    seeds = {(t.block, t.cell["network"]): t.link_seed for t in as_run.trials()}
    assert all(seeds[t.block, t.cell["network"]] == t.link_seed for t in plan.trials())
    assert {t.random for t in as_run.trials()} == {None}


def test_changes_that_a_subject_refuses_are_left_out_with_the_reason() -> None:
    asked = _draft(refuse="initial_window", combined=["window-32", "no-loss", "own-connections"])
    levels = asked.study.factors[FACTOR]
    assert asked.refused == {"window-32": "no"}
    assert "initial_window" not in levels[ALL]
    assert [name for name in levels if "+" in name] == ["no-loss+own-connections"]


def test_a_change_takes_precedence_over_what_the_study_varies() -> None:
    asked = _draft("ladder", pair="h3/h2-window", level_filter={"network": ["poor"], "size": ["1kB"]})
    plan = make_plan(asked.study, blocks=1, level_filter=asked.level_filter)
    windows = {t.parameters.initial_window for t in plan.trials() if t.cell[FACTOR] == "window-32"}
    assert windows == {32}
    assert {t.parameters.initial_window for t in plan.trials() if t.cell[FACTOR] == AS_IS} == {None, 32}


def test_only_the_wanted_changes_are_made() -> None:
    levels = _draft(wanted=["no-loss"]).study.factors[FACTOR]
    assert list(levels) == [AS_IS, "no-loss"]
    assert {"window-32", "half-round-trip"} < set(_draft(wanted=["no-loss"]).others)


def test_fewer_changes_can_be_combined() -> None:
    names = ["no-loss", "window-32", "own-connections"]
    levels = _draft(wanted=names, combined=names, most_combined=2).study.factors[FACTOR]
    assert list(levels) == [AS_IS, *names, "no-loss+window-32", ALL]


def test_without_an_emulated_network_nothing_is_left() -> None:
    assert not all(_draft(level_filter={"network": ["lan"]}).level_filter.values())


def test_pages_are_asked_about_the_whole_visit() -> None:
    asked = _draft("page-loads")
    assert asked.study.compare.families[0].metrics == ["page_complete"]
    assert "own-connections" not in asked.study.factors[FACTOR]


def test_a_drafted_study_is_read_back() -> None:
    study = _draft().study.model_copy(update={"made_by": "h123 what-if campaigns/quick"})
    networks = {name: network.resolved() for name, network in study.networks.items()}
    assert Study.from_resolved(study.resolved(), networks).resolved() == study.resolved()


@pytest.mark.parametrize("name", [each.name for each in INTERVENTIONS])
def test_each_value_is_valid(name: str) -> None:
    each = BY_NAME[name]
    base = {"protocol": "h2", "server": "go", "client": "go", "network": "poor"}
    checked = Parameters.model_validate({**base, each.parameter: each.value}, context="resolved")
    assert getattr(checked, each.parameter) == each.value
