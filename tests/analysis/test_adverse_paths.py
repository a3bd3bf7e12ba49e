"""Senders that failed on paths like the campaign's, or were not verified on such paths, are named in a caveat."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.report import caveat_lines
from h123.report.text.sections import trust
from synthetic import NETWORKS, Scenario, answer_family, make_campaign

FAULTS = {"bleach": "went on using ECN", "small": "delivered nothing over 1280", "icmp": "stopped for ever"}
POOR = {"packet_bytes": 1480, "faults": FAULTS}
SMALL = {"mtu": {"bytes": 1280}}
ASKED = Scenario(blocks=2, families=[answer_family("latency")], effects={})


def _networks(way: str, special: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"poor": {**NETWORKS["poor"], way: {**NETWORKS["poor"][way], **special}}}


def _caveats(folder: Path, special: dict[str, Any], paths: dict[str, Any], way: str = "down", **settings: Any) -> Any:
    builds: dict[str, Any] = {"builds": ("a", "b"), "protocols": ("h3",), "pairs": ("a/b",), "twin": "a"}
    scenario = replace(ASKED, networks=_networks(way, special), paths=paths, settings=settings, **builds)
    verdicts = analyse(make_campaign(folder / "c", scenario))
    lines = [line for line in caveat_lines(verdicts) if "erified" in line]
    assert {line.lower() for line in lines} <= {line.lower() for line in trust(verdicts)}
    return lines


def test_faults_and_what_was_not_verified(tmp_path: Path) -> None:
    special = {**SMALL, "ecn": "bleach", "changes": [{"at_ns": 1, "mtu": {"bytes": 1000}}]}
    assert _caveats(tmp_path, special, {"a": POOR, "b": None}) == [
        "Verified as a server, a went on using ECN (and 2 more): h123 list subjects a",
        "Not verified on a path like this one: h123 verify b --paths",
    ]


@pytest.mark.parametrize(
    ("special", "found"),
    [
        ({}, None),
        ({"ecn": "pass"}, None),
        ({"ecn": "swap"}, None),
        ({"ecn": "bleach"}, "went on using ECN"),
        (SMALL, "delivered nothing over 1280"),
        ({"mtu": {"bytes": 1480}}, None),
        ({"changes": [{"at_ns": 1, "mtu": {"bytes": 1280}}]}, "stopped for ever"),
        ({"changes": [{"at_ns": 1, "mtu": {"bytes": 1280, "silent": True}}]}, None),
        ({"changes": [{"at_ns": 1, "delay_ns": 1}]}, None),
    ],
)
def test_only_faults_on_such_paths(tmp_path: Path, special: dict[str, Any], found: str | None) -> None:
    lines = _caveats(tmp_path, special, {"a": POOR})
    assert lines == ([f"Verified as a server, a {found}: h123 list subjects a"] if found else [])


@pytest.mark.parametrize(("way", "method"), [("up", "GET"), ("down", "POST"), ("up", "POST")])
def test_only_in_the_direction_of_bodies(tmp_path: Path, way: str, method: str) -> None:
    lines = _caveats(tmp_path, SMALL, {"a": POOR, "go": POOR}, way, method=method)
    assert len(lines) == (way == "up" and method == "POST")


@pytest.mark.parametrize(("a", "b"), [("h2", "h1"), ("h3", "h2")])
def test_only_over_http3(tmp_path: Path, a: str, b: str) -> None:
    network = _networks("down", SMALL)
    scenario = replace(ASKED, protocols=(b, a), pairs=(f"{a}/{b}",), twin=b, networks=network, paths={"go": None})
    assert len(analyse(make_campaign(tmp_path / "c", scenario))["adverse_paths"]) == (a == "h3")
