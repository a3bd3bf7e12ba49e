"""Why the first answers of one side begin later: said only where packets show it of that side alone."""

from dataclasses import replace
from typing import Any, cast

import pytest

from analysis.test_audits import opened, opening
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.gathering import gather
from h123.analysis.verdicts.first_bytes import METRIC, with_reasons
from h123.measures import Attempt, Opening
from h123.report.text.explanations.reasons import later_lines
from synthetic import Scenario, make_campaign

COMPARED = {"metric": METRIC, "cell": {"network": "far"}, "a": "h3", "b": "h2", "twin": False, "verdict": "slower"}
RECORD = opening(4, request_round_trips=2, early_part=True)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Attempt:
    made = gather(make_campaign(tmp_path_factory.mktemp("first") / "c", Scenario(blocks=1)))
    return next(a for a in made.trials.attempts if a.cell == {"network": "poor", "protocol": "h3"})


def _said(sound: Attempt, a: list[Opening], b: list[Opening], **changes: Any) -> list[str]:
    """Of two sides that differ in nothing but how their connections opened."""
    cell = {"network": "far", "protocol": "h3"}
    sides = [replace(opened(*of)(sound), cell={**cell, "protocol": level}) for level, of in (("h3", a), ("h2", b))]
    judged = with_reasons([cast(JudgedComparison, COMPARED | changes)], sides, "protocol")
    return [line.replace("\u00a0", " ") for line in later_lines(judged)]


@pytest.mark.parametrize(
    ("slow", "quick", "said"),
    [
        ([RECORD] * 3, [opening(2)] * 3, "2 more round trips: the response had begun"),
        ([RECORD, RECORD, opening(2)], [opening(2)] * 3, "2 more round trips: the response had begun"),
        ([opening(3, limited=True)] * 3, [opening(2)] * 3, "one more round trip: QUIC's"),
        (
            [opening(3, retried=True)] * 3,
            [opening(2)] * 3,
            "one more round trip: a Retry",
        ),
    ],
)
def test_what_delays_one_side(sound: Attempt, slow: list[Opening], quick: list[Opening], said: str) -> None:
    (line,) = _said(sound, slow, quick)
    assert line.startswith("On far, HTTP/3 takes ")
    assert said in line.replace(" than HTTP/2 to its first byte", "")
    (other,) = _said(sound, quick, slow, verdict="faster")
    assert other.startswith("On far, HTTP/2 takes ")


@pytest.mark.parametrize(
    ("slow", "quick", "changes"),
    [
        ([RECORD] * 3, [RECORD] * 3, {}),
        ([opening(3)] * 3, [opening(2)] * 3, {}),  # nobody knows why
        ([opening(3, request_round_trips=2)] * 3, [opening(2)] * 3, {}),  # the causes say how long the server waited
        ([RECORD, opening(2), opening(2)], [opening(2)] * 3, {}),
        ([], [opening(2)] * 3, {}),
        ([RECORD] * 3, [opening(2)] * 3, {"verdict": "equivalent"}),
        ([RECORD] * 3, [opening(2)] * 3, {"metric": "latency"}),
        ([RECORD] * 3, [opening(2)] * 3, {"twin": True}),
    ],
    ids=["both", "unknown", "server", "some", "no record", "no difference", "warm", "twin"],
)
def test_what_is_not_shown_is_not_said(
    sound: Attempt, slow: list[Opening], quick: list[Opening], changes: dict[str, Any]
) -> None:
    assert _said(sound, slow, quick, **changes) == []
