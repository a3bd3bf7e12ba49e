"""The studies of servers ask about every server that the catalogue has."""

import pytest

from h123.catalogue import Subject, catalogue
from h123.study import estimate, find_study, load_study, make_plan

VARIANTS = {"envoy-precise", "go-by-address", "go-by-id", "go-by-nginx", "go-rest", "haproxy-sid", "nginx-sid"}
"""Servers that are another one once more: for a study of their own, with other timers, behind a balancer, or of a
Debian that changes."""


def _servers(*protocols: str) -> set[str]:
    def speaks(subject: Subject) -> bool:
        return subject.server is not None and set(protocols) <= set(subject.server.protocols)

    return {name for name, subject in catalogue().items() if speaks(subject)} - VARIANTS


@pytest.mark.parametrize(("study", "protocols"), [("servers", ["h3"]), ("servers-protocols", ["h1", "h2", "h3"])])
def test_every_server_that_speaks_them_is_a_level(study: str, protocols: list[str]) -> None:
    assert set(load_study(find_study(study)).factors["server"]) == _servers(*protocols)


def test_every_server_stands_beside_the_embedded_one() -> None:
    pairs = load_study(find_study("servers")).compare.pairs
    assert set(pairs) == {f"{name}/go" for name in _servers("h3") - {"go"}}


def test_nodes_study_has_all_of_node_and_one_load_client() -> None:
    study = load_study(find_study("node-rps"))
    stacks = [study.parameters({"stack": stack, "load": "small", "network": "lan"}) for stack in study.factors["stack"]]
    own = {(one.server, one.protocol) for one in stacks if one.server.startswith("node")}
    assert own == {("node", "h1"), ("node", "h2"), ("node-quiche", "h3"), ("node-quic", "h3")}
    assert {(one.client, one.protocol) for one in stacks if one.client != "go"} == {("autocannon", "h1")}
    assert {one.workload.connection_count() for one in stacks} == {100}


def test_nodes_published_size_takes_less_than_an_hour_and_its_slice_three_minutes() -> None:
    study = load_study(find_study("node-rps"))
    stacks = ["node-h1", "node-h2", "node-quiche", "quiche"]
    slice_of_it = {"network": ["lan"], "load": ["small"], "stack": stacks}
    for plan, most in ((make_plan(study), 3600), (make_plan(study, blocks=6, level_filter=slice_of_it), 180)):
        assert sum(estimate(trial, study.networks).seconds for trial in plan.trials()) < most
