"""Builds, and protocols, that answer the same request differently: named, not judged, and no gate passes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from documents import changed_campaign
from h123.analysis import analyse, gather
from h123.gate import GateFigures, judge
from h123.report.text.sections import first_lines
from h123.study import Condition, PlannedTrial
from synthetic import NETWORKS, Scenario, answer_family, changed_samples, make_campaign

MIX = [{"method": "GET", "path": "/x", "weight": 1}]
"""No size is stated for its answer."""
Size = Callable[[int], int]


def always(size: int) -> Size:
    return lambda _: size


def spoil(sizes: dict[str, Size]) -> Any:
    """Bodies of these sizes, by protocol and the row's number."""

    def change(trial: PlannedTrial, folder: Path) -> None:
        with changed_samples(folder) as rows:
            for number, row in enumerate(rows):
                row["bytes_down"] = str(sizes[trial.cell["protocol"]](number))

    return change


def verdicts(folder: Path, sizes: dict[str, Size], **compare: Any) -> tuple[Any, Any]:
    scenario = Scenario(
        blocks=8,
        networks={"lan": NETWORKS["lan"]},
        protocols=("h1", "h2"),
        twin="h1",
        families=[answer_family("latency")],
        settings={"kind": "mix", "mix": MIX},
        spoil=spoil(sizes),
    )
    campaign = make_campaign(folder / "c", scenario)
    if compare:
        with changed_campaign(campaign.path) as content:
            content["study"]["compare"] |= compare
        campaign = type(campaign).open(campaign.path)
    return campaign, analyse(campaign)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"h1": always(240_000), "h2": always(0)}, "h2 answers with 0 B, h1 with 240000 B"),
        ({"h1": always(240_000), "h2": always(239_999)}, "h2 answers with 239999 B, h1 with 240000 B"),
        ({"h1": always(240_000), "h2": lambda n: 240_000 * (n % 2)}, "h2 answers with 0 to 240000 B"),
        ({"h1": lambda n: 1000 + n % 7, "h2": lambda n: 500 + n % 7}, "h2 answers with 500 to 506 B"),
    ],
)
def test_a_broken_build_is_not_faster(tmp_path: Path, sizes: dict[str, Size], said: str) -> None:
    campaign, found = verdicts(tmp_path, sizes)
    (row,) = found["answers"]
    assert (row["a"], row["b"]) == ("h2", "h1")
    judged = [one for one in found["comparisons"] if not one["twin"]]
    assert {one["withheld"]["kind"] for one in judged} == {"answers"}
    assert {one["verdict"] for one in judged} == {"inconclusive"}
    first = first_lines(found)[0]
    assert said in first
    assert first.endswith("They do different work, so they are not compared.")
    figures = GateFigures(found, lambda: gather(campaign))
    for text in ("latency h2/h1 <= 100", "latency h2 <= 100s", "ttfb h1/h2 > 0.001", "cpu_server h2/h1 < 100"):
        condition = Condition(holds=text)
        passage = judge(condition, figures.of(condition))
        assert passage.word == "undecided", text
        assert "B" in passage.cells[0].why


@pytest.mark.parametrize(
    "sizes",
    [
        {"h1": always(5000), "h2": always(5000)},
        {"h1": lambda n: 1000 + n % 7, "h2": lambda n: 1000 + n % 5},
        {"h1": lambda n: 1000 * (1 + n % 3), "h2": lambda n: 1000 * (1 + (n + 1) % 3)},
    ],
)
def test_answers_that_are_alike(tmp_path: Path, sizes: dict[str, Size]) -> None:
    _, found = verdicts(tmp_path, sizes)
    assert found["answers"] == []
    assert not any(one["withheld"] for one in found["comparisons"])


def test_compared_all_the_same_where_the_study_asks(tmp_path: Path) -> None:
    """It is said first all the same."""
    campaign, found = verdicts(tmp_path, {"h1": always(9000), "h2": always(10)}, answers="any")
    assert len(found["answers"]) == 1
    assert not any(one["withheld"] for one in found["comparisons"])
    assert "asks to compare them all the same" in first_lines(found)[0]
    condition = Condition(holds="latency h2 <= 100s")
    assert judge(condition, GateFigures(found, lambda: gather(campaign)).of(condition)).word == "passed"
