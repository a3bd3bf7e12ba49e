"""Where nothing takes time there is nothing to measure, and the plan says so."""

import pytest

from h123.study import Network, load_study, make_plan, timeless
from h123.study.registry import find_study, load_network

NOTHING = {"delay_ns": 0, "queue": {"packets": 64}, "duplicate": 0.1}


def emulated(**effects: object) -> Network:
    down = {**NOTHING, **effects}
    return Network.from_resolved({"name": "n", "title": "n", "up": NOTHING, "down": down})


@pytest.mark.parametrize(
    "effects",
    [
        {"delay_ns": 1},
        {"rate": {"bps": 1000}},
        {"loss": {"random": 0.01}},
        {"jitter": {"spread_ns": 5}},
        {"changes": [{"at_ns": 1, "delay_ns": 5}]},
    ],
)
def test_one_effect_in_one_direction_takes_time(effects: dict[str, object]) -> None:
    assert emulated(**effects).takes_time
    assert not emulated().takes_time


def test_a_plain_veth_takes_none_and_every_other_network_does() -> None:
    assert not load_network("lan").takes_time
    assert load_network("medium").takes_time
    assert load_network("home").takes_time


def test_only_under_the_virtual_clock_and_only_where_all_links_take_none() -> None:
    study = load_study(find_study("quick")).settled(clock="virtual")
    lan = study.parameters({"protocol": "h3", "network": "lan"})
    assert timeless(lan, study.networks)
    assert not timeless(lan, {})
    assert not timeless(lan.model_copy(update={"clock": "wall"}), study.networks)
    assert not timeless(study.parameters({"protocol": "h3", "network": "poor"}), study.networks)
    behind = lan.model_copy(update={"store": "gcs", "backend_network": "poor"})
    assert not timeless(behind, study.networks)


def test_the_plan_says_where_nothing_takes_time() -> None:
    study = load_study(find_study("quick"))
    assert make_plan(study).notes == []
    (note,) = make_plan(study.settled(clock="virtual")).notes
    assert note.startswith("under the virtual clock nothing takes time over lan, ")
    assert make_plan(study.settled(clock="virtual"), level_filter={"network": ["poor", "medium"]}).notes == []
