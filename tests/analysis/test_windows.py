"""What initial windows alone make of cold requests is told where both are known, and matters."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from documents import changed_campaign
from h123.analysis import analyse
from h123.store import CampaignFolder
from synthetic import NETWORKS, Scenario, make_campaign

COUNTED = Scenario(
    seed=5,
    blocks=2,
    protocols=("h2", "h3"),
    networks={"lan": NETWORKS["lan"], "poor": NETWORKS["poor"]},
    families=[{"name": "cold", "correction": "holm", "metrics": ["cold_latency"]}],
    first_flight=33,
)


def _found(folder: Path, scenario: Scenario) -> Any:
    return analyse(make_campaign(folder / "c", scenario))["windows"]


def test_a_row_where_the_link_makes_it_matter(tmp_path: Path) -> None:
    (row,) = _found(tmp_path, COUNTED)
    assert (row["cell"], row["a"], row["b"]) == ({"network": "poor"}, "h3", "h2"), "lan has no delay to speak of"
    assert (row["a_packets"], row["b_packets"]) == (33, 10)
    assert 0.05 < row["seconds"] < 0.12, "a round trip of 50 ms, or two"


@pytest.mark.parametrize("roles", [[], ["server", "client"]])
def test_windows_can_be_matched_only_if_the_stack_has_the_setting(tmp_path: Path, roles: list[str]) -> None:
    path = make_campaign(tmp_path / "c", COUNTED).path
    with changed_campaign(path) as content:
        content["subjects"]["go"]["initial_window"] = roles
    (row,) = analyse(CampaignFolder.open(path))["windows"]
    assert row["matchable"] == bool(roles)


@pytest.mark.parametrize(
    "scenario",
    [
        replace(COUNTED, first_flight=None),
        replace(COUNTED, first_flight=10),
        replace(COUNTED, settings={"congestion": "bbr"}),
        replace(COUNTED, settings={"size": 1_000}),
    ],
    ids=["nobody has counted", "alike", "paced from the first packet", "one packet"],
)
def test_nothing_where_there_is_nothing_to_tell(tmp_path: Path, scenario: Scenario) -> None:
    assert _found(tmp_path, scenario) == []
