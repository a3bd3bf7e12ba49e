"""What of how the compared treatments send is alike, and what is named because it is not."""

from typing import Any

import pytest

from h123.study import Likeness, Plan, likenesses, load_study, make_plan, unmatched
from h123.study.shelf import find_study

BOTH = {"go": ["server", "client"]}
STACKS = {
    "least retransmission time",
    "pacing",
    "ACK frequency",
    "packet size",
    "receive windows",
    "details of congestion control",
}


def planned(study: str, *, essential: bool = False, **settings: Any) -> Plan:
    found = load_study(find_study(study))
    compare = found.compare.model_copy(update={"essential": ["initial_window"] if essential else []})
    changes = {"settings": {**found.settings, **settings}, "compare": compare}
    return make_plan(found.model_copy(update=changes), blocks=1)


def likeness(plan: Plan, choosing: dict[str, list[str]]) -> Likeness:
    (found,) = likenesses(plan, choosing)
    return found


def test_as_deployed_each_stack_has_its_own_window_and_h1_more_connections() -> None:
    found = likeness(planned("quick"), BOTH)
    assert (found.transport, set(found.unlike)) == ("deployed", {"initial window", "connections", *STACKS})
    assert found.unlike["initial window"] == "go's own over h3, 10 packets over h1 and h2"
    assert found.unlike["connections"] == "1 over h2 and h3, 4 over h1"
    assert found.said.startswith("as deployed; not alike, besides what is compared: initial window (")


def test_matched_they_begin_alike_and_the_rest_is_named() -> None:
    found = likeness(planned("quick", transport="matched", users=1), BOTH)
    assert set(found.unlike) == STACKS
    assert found.said.startswith("matched but for: least retransmission time, pacing,")


def test_a_stack_whose_window_nobody_can_choose_is_named_even_where_matched() -> None:
    found = likeness(planned("quick", transport="matched"), {"go": ["client"]})
    assert found.unlike["initial window"] == "go's own over h3, 10 packets over h1 and h2"


def test_over_one_transport_nothing_is_unlike() -> None:
    plan = planned("congestion")
    assert likeness(plan, {}).said == "as deployed; alike"
    assert list(unmatched(plan, {})) == []


def test_servers_over_quic_differ_in_all_their_own() -> None:
    found = likeness(planned("servers"), {})
    assert set(found.unlike) == {"initial window", *STACKS}
    assert found.unlike["initial window"].count(",") == 3, "not all 21 of them"


@pytest.mark.parametrize(
    ("settings", "choosing", "pairs"),
    [
        ({}, BOTH, {("go", "")}),
        ({"initial_window": 32}, BOTH, set()),
        ({"transport": "matched"}, BOTH, set()),
        ({"transport": "matched", "method": "POST"}, {"go": ["server"]}, {("go", "")}),
    ],
)
def test_senders_that_do_not_begin_alike(
    settings: dict[str, Any], choosing: dict[str, list[str]], pairs: set[tuple[str, str]]
) -> None:
    assert {(a.name, b.name) for a, b in unmatched(planned("quick", **settings), choosing)} == pairs
