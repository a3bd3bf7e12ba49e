"""How both analyses are shown: in the terminal, on the page, in figures; and not at all unless asked for."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.report import write_report
from h123.report.text.as_published import disagreements, terminal_lines, verdict_words
from h123.store import CampaignFolder
from hasty import BLANK_PICTURES
from printing import summary
from synthetic import Scenario, make_campaign

SCENARIO = Scenario(seed=5, blocks=6, as_published=True, effects={("poor", "h3"): 0.6}, trial_noise=0.3)


Reported = tuple[CampaignFolder, dict[str, Any], str]
"""A campaign, its verdicts, and its page."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    folder = make_campaign(tmp_path_factory.mktemp("both") / "c", SCENARIO)
    verdicts = analyse(folder)
    return folder, verdicts, write_report(folder).read_text()


def test_the_page_has_every_comparison_and_reason(campaign: Reported) -> None:
    _, verdicts, text = campaign
    published = verdicts["as_published"]
    section = text.partition(">As published, next to the sound analysis</h2>")[2].partition("<h2 ")[0]
    table = section.partition("All comparisons, side by side")[2].partition("</details>")[0]
    assert table.count("<tr><td>") == len(published["comparisons"]) == 27
    reasons = section.partition("Where they disagree")[2].partition("</ul>")[0]
    assert reasons.count("<li>") == published["agreement"]["disagree"] > 0
    assert "are independent" not in reasons
    assert "pooling counts 240 requests" in reasons


def test_the_equivalents_of_figures_7_and_8(campaign: Reported) -> None:
    folder, verdicts, text = campaign
    effects = (folder.path / "figures" / "published-effects.svg").read_text()
    for words in ("Latency", "First byte", "Throughput per request", "not significant", "medium"):
        assert words in effects
    factors = (folder.path / "figures" / "published-factors.svg").read_text()
    for test in verdicts["as_published"]["kruskal_wallis"]:
        assert test["factor"] in factors
        assert (f"{test['h']:.2f}" if test["h"] < 10 else f"{test['h']:.0f}") in factors
    assert text.count('id="figure-published-') == 4


def test_the_terminal_counts_and_names_a_few(campaign: Reported) -> None:
    verdicts = campaign[1]
    text = summary(verdicts)
    counts = verdicts["as_published"]["agreement"]
    assert f"agrees with the sound analysis in {counts['agree']} of" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    lines = terminal_lines(verdicts["as_published"])
    assert len(lines) == 1 + min(3, counts["disagree"]) + (counts["disagree"] > 3)
    first = disagreements(verdicts["as_published"])[0]
    assert f"published {verdict_words(first)}" in lines[1]


def test_a_study_that_does_not_ask_shows_nothing_of_it(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=3, blocks=1))
    verdicts = analyse(folder)
    with BLANK_PICTURES:
        text = write_report(folder).read_text()
    assert "As published" not in text
    assert not list((folder.path / "figures").glob("published-*"))
    assert "As published" not in summary(verdicts)
