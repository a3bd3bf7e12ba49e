"""What of how the compared treatments send is alike, and what is named because it is not."""

from typing import Any

import pytest

from h123.base.transport import SETTINGS, Name
from h123.study import Likeness, Plan, TransportRoles, likenesses, load_study, make_plan, unmatched
from h123.study.registry import find_study

BOTH: TransportRoles = {"go": {name: ["server", "client"] for name in SETTINGS}}
SET = {"initial window", "pacing", "packet size"}
STACKS = {
    "minimum retransmission timeout",
    "ACK frequency",
    "receive windows",
    "details of congestion control",
}


def planned(study: str, *, essential: bool = False, **settings: Any) -> Plan:
    found = load_study(find_study(study))
    compare = found.compare.model_copy(update={"essential": ["initial_window"] if essential else []})
    changes = {"settings": {**found.settings, **settings}, "compare": compare}
    return make_plan(found.model_copy(update=changes), blocks=1)


def likeness(plan: Plan, choosing: TransportRoles) -> Likeness:
    (found,) = likenesses(plan, choosing)
    return found


def test_as_deployed_each_stack_has_its_own_window_and_h1_more_connections() -> None:
    found = likeness(planned("quick"), BOTH)
    assert (found.transport, set(found.differences)) == ("deployed", {*SET, "connections", *STACKS})
    assert found.differences["initial window"] == "go's default over h3, 10 packets over h1 and h2"
    assert found.differences["packet size"] == "go's default over h3, 1448 bytes over h1 and h2"
    assert found.differences["pacing"] == "go's default over h3, none over h1 and h2"
    assert found.differences["connections"] == "1 over h2 and h3, 4 over h1"
    assert found.text.startswith("as deployed; the stacks also differ in: initial window (")


def test_matched_they_begin_alike_and_the_rest_is_named() -> None:
    found = likeness(planned("quick", transport="matched", users=1), BOTH)
    assert set(found.differences) == STACKS
    assert found.text.startswith("matched, except: minimum retransmission timeout, ACK frequency,")


def test_a_stack_whose_window_nobody_can_choose_is_named_even_where_matched() -> None:
    found = likeness(planned("quick", transport="matched"), {"go": {**BOTH["go"], "initial_window": ["client"]}})
    assert set(found.differences) == {"initial window", "connections", *STACKS}
    assert found.differences["initial window"] == "go's default over h3, 10 packets over h1 and h2"


def test_over_one_transport_nothing_is_unlike() -> None:
    plan = planned("congestion")
    assert likeness(plan, {}).text == "as deployed; the stacks are alike"
    assert all(list(unmatched(plan, {}, setting)) == [] for setting in SETTINGS.values())


def test_bbr_paces_even_where_matched() -> None:
    found = likeness(planned("quick", transport="matched", congestion="bbr"), BOTH)
    assert set(found.differences) == {"pacing", "connections", *STACKS}
    assert found.differences["pacing"] == "go's default over h3, Linux's default over h1 and h2"


def test_servers_over_quic_differ_in_all_their_own() -> None:
    found = likeness(planned("servers"), {})
    assert set(found.differences) == {*SET, *STACKS}
    assert found.differences["initial window"].count(",") == 3, "not all 21 of them"


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    ("settings", "roles", "pairs"),
    [
        ({}, ["server", "client"], {("go", "")}),
        ({"initial_window": 32, "pacing": "off", "max_datagram": 1252}, ["server", "client"], set()),
        ({"transport": "matched"}, ["server", "client"], set()),
        ({"transport": "matched", "method": "POST"}, ["server"], {("go", "")}),
    ],
)
def test_senders_that_differ(
    name: Name, settings: dict[str, Any], roles: list[str], pairs: set[tuple[str, str]]
) -> None:
    found = unmatched(planned("quick", **settings), {"go": {name: roles}}, SETTINGS[name])
    assert {(a.name, b.name) for a, b in found} == pairs
