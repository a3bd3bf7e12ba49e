"""Estimates: right about the cases that were measured, and moving the right way elsewhere."""

from typing import Any

import pytest

from h123.study import Network, Parameters, estimate_check, list_networks, load_network
from h123.study.estimate import VIRTUAL_BOOT_S, VIRTUAL_CHECK_S, estimate_parameters, own_seconds

MEASURED_S = {
    # Median wall time of the trials of studies/quick.yaml, four blocks, on two busy cores, without link checks.
    ("medium", "h1"): 2.2,
    ("medium", "h2"): 2.3,
    ("medium", "h3"): 2.3,
    ("poor", "h1"): 4.9,
    ("poor", "h2"): 9.5,
    ("poor", "h3"): 7.1,
}


REST_S = {
    # Wall time of trials of studies/rest-api.yaml with one request a user, without link checks: means of 1 or 2.
    ("medium", "h2", "POST", "2MB", 5): 14.6,
    ("medium", "h2", "GET", "2MB", 5): 13.1,
    ("medium", "h3", "POST", "2MB", 5): 10.1,
    ("medium", "h3", "GET", "2MB", 5): 8.7,
    ("poor", "h2", "POST", "2MB", 5): 56.4,
    ("poor", "h2", "GET", "2MB", 5): 45.3,
    ("poor", "h3", "POST", "2MB", 5): 34.4,
    ("poor", "h3", "GET", "2MB", 5): 28.3,
    ("lan", "h2", "POST", "10MB", 20): 2.3,
    ("lan", "h2", "GET", "10MB", 20): 1.2,
    ("lan", "h3", "POST", "10MB", 20): 4.7,
    ("lan", "h3", "GET", "10MB", 20): 1.7,
}
MISPLACED_S = {("POST", 5): 4.6, ("POST", 20): 17.2, ("GET", 5): 2.4, ("GET", 20): 2.5}
"""The same of studies/misplaced-tc.yaml, 2 MB over HTTP/2 at medium."""


def seconds(network: str = "poor", **changes: Any) -> float:
    return estimate_parameters(parameters(network, **changes), networks()).seconds


def networks() -> dict[str, Network]:
    return {name: load_network(name) for name in list_networks()}


def parameters(network: str, **changes: Any) -> Parameters:
    basis = {"protocol": "h2", "server": "go", "client": "go", "users": 4, "requests": 5, "size": "100kB"}
    return Parameters.model_validate({**basis, "network": network, **changes})


@pytest.mark.parametrize(("network", "protocol"), MEASURED_S)
def test_within_half_of_what_was_measured(network: str, protocol: str) -> None:
    assert 1 / 1.5 < seconds(network, protocol=protocol) / MEASURED_S[network, protocol] < 1.5


@pytest.mark.parametrize("case", REST_S)
def test_the_rest_study_takes_what_it_took(case: tuple[str, str, str, str, int]) -> None:
    network, protocol, method, size, users = case
    values = {"protocol": protocol, "method": method, "size": size, "users": users}
    expected = seconds(network, **values, requests=1, store="gcs", cold=False)
    assert 1 / 1.5 < expected / REST_S[case] < 1.5


@pytest.mark.parametrize("case", MISPLACED_S)
def test_a_slow_storage_sets_the_pace(case: tuple[str, int]) -> None:
    behind = {"store": "gcs", "backend_network": "egress-medium"}
    method, users = case
    expected = seconds("lan", method=method, size="2MB", users=users, requests=1, cold=False, **behind)
    assert 1 / 1.5 < expected / MISPLACED_S[case] < 1.5


def test_a_plain_veth_takes_no_time_to_speak_of() -> None:
    assert seconds("lan") < 0.5
    assert estimate_check(load_network("lan")).seconds == 0


def test_a_link_check_takes_longer_on_a_longer_link() -> None:
    assert 0 < estimate_check(load_network("medium")).seconds < estimate_check(load_network("satellite")).seconds


def test_bytes_are_those_of_all_requests() -> None:
    loss, requests = 0.02, 4 * 5 + 1
    expected = requests * 100_000 / (1 - loss)
    assert estimate_parameters(parameters("poor"), networks()).bytes == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ({"size": "1MB"}, {}),
        ({"users": 8}, {}),
        ({"requests": 10}, {}),
        ({"warmup": 5}, {}),
        ({}, {"cold": False}),
        ({"connections": "per-user", "users": 1}, {"protocol": "h3", "users": 1}),
        ({}, {"connections": 4, "cold": False}),
        ({}, {"congestion": "bbr"}),
        ({"rate": 0.1}, {}),
        ({"method": "POST", "network": "home"}, {"network": "home"}),
    ],
)
def test_what_takes_longer(more: dict[str, Any], less: dict[str, Any]) -> None:
    assert seconds(**more) > seconds(**less)


def test_an_open_loop_lasts_as_long_as_its_schedule() -> None:
    assert seconds("medium", rate=2.0) == pytest.approx(20 / 2.0, rel=0.1)


def test_no_faster_than_the_link() -> None:
    assert seconds("medium", congestion="bbr") > 20 * 100_000 * 8 / 20e6


def test_waiting_costs_next_to_nothing_under_the_virtual_clock() -> None:
    virtual = parameters("poor", clock="virtual")
    idle = parameters("satellite", clock="virtual")
    assert own_seconds(idle, networks()) > 5 * own_seconds(virtual, networks())
    found = [estimate_parameters(one, networks()).seconds for one in (virtual, idle)]
    assert VIRTUAL_BOOT_S < found[0] < found[1] < 1.5 * found[0]
    assert estimate_parameters(virtual, networks()).bytes == estimate_parameters(parameters("poor"), networks()).bytes


def test_processing_takes_real_time_but_none_of_the_virtual_clock() -> None:
    bulk = {"size": "10MB", "users": 20}
    wall, virtual = parameters("lan", **bulk), parameters("lan", **bulk, clock="virtual")
    assert own_seconds(virtual, networks()) < own_seconds(wall, networks())
    more = parameters("lan", **{**bulk, "users": 40}, clock="virtual")
    one, two = (estimate_parameters(each, networks()).seconds - VIRTUAL_BOOT_S for each in (virtual, more))
    assert two == pytest.approx(2 * one, rel=0.1)


def test_cross_traffic_takes_processor_time_under_the_virtual_clock() -> None:
    """Before the client starts, four downloads fill 100 Mbit/s for 3 to 15 s: 8 s of processor time were measured."""
    busy, alone = (seconds(name, clock="virtual") for name in ("europe-us-busy", "europe-us"))
    assert 4 < busy - alone < 16
    assert seconds("europe-us-busy") - seconds("europe-us") > 3


def test_a_link_check_under_the_virtual_clock_takes_that_clocks_time() -> None:
    poor = load_network("poor")
    assert estimate_check(poor, "virtual").seconds == VIRTUAL_CHECK_S
