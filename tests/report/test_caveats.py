"""What metrics are not is said beside the answer: handshakes within CPU, tails of few requests."""

from typing import Any

import pytest

from h123.analysis import analyse
from h123.report import write_report
from h123.report.text.sections import trust
from h123.report.text.trust.caveats import confounded_lines, handshake_lines, repeated_lines, tail_lines
from h123.store import CampaignFolder
from hasty import NO_PICTURES
from synthetic import NETWORKS, Scenario, answer_family, make_campaign

Asked = tuple[CampaignFolder, dict[str, Any]]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Sixty requests a trial, the fewest that have a 95th percentile."""
    families = [answer_family("latency_p95", "cpu")]
    networks = {"poor": NETWORKS["poor"]}
    settings = {"users": 4, "requests": 15}
    scenario = Scenario(blocks=6, families=families, networks=networks, settings=settings)
    folder = make_campaign(tmp_path_factory.mktemp("caveats") / "c", scenario)
    return folder, analyse(folder)


def test_cpu_tells_how_many_handshakes_are_in_it(asked: Asked) -> None:
    _, verdicts = asked
    made = {row["level"]: (row["handshakes"], row["requests"]) for row in verdicts["handshakes"]}
    assert made == {"h1": (4, 64), "h2": (1, 61), "h3": (1, 61)}
    notes = {(c["a"], c["b"]): c["note"] for c in verdicts["comparisons"] if c["metric"] == "cpu" and not c["twin"]}
    assert "handshakes included, in 1 of 61 requests of h2 and 4 of 64 requests of h1" in notes["h2", "h1"]
    assert "handshakes" not in (notes["h3", "h2"] or "")
    (line,) = handshake_lines(verdicts)
    assert ": 4 of 64 requests with HTTP/1.1, 1 of 61" in line
    assert line in trust(verdicts)


def test_a_tail_has_an_interval_and_says_from_how_many_requests(asked: Asked) -> None:
    folder, verdicts = asked
    rows = {row["cell"]["protocol"]: row for row in verdicts["tails"]}
    assert set(rows) == {"h1", "h2", "h3"}
    for row in rows.values():
        assert (row["trials"], row["requests"], row["fewest"]) == (6, 60, True)
        assert row["low"] < row["value"] < row["high"]
        assert row["confidence"] >= 0.95
    (line,) = [line for line in tail_lines(verdicts) if line.startswith("Latency, 95th percentile: from 60 requests")]
    assert "its upper bound is the slowest request" in line
    with NO_PICTURES:
        page = write_report(folder).read_text()
    assert "<h2>Tails</h2>" in page or 'id="tails"' in page


def test_nothing_is_said_of_an_earlier_analysis() -> None:
    for lines in (repeated_lines, confounded_lines, handshake_lines, tail_lines):
        assert lines({}) == []  # type: ignore[arg-type]
