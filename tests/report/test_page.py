"""The page of synthetic campaigns: whole, self-contained, safe, and there even where data are not."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from altair.utils import schemapi
from markupsafe import escape

from documents import changed_campaign, changed_events
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.report import write_report
from h123.report.page.template import PLACE, with_contents
from h123.store import CampaignFolder
from h123.study import PlannedTrial
from hasty import NO_PICTURES
from printing import summary
from synthetic import FAMILIES, Scenario, changed_samples, make_campaign

ROOT = Path(__file__).resolve().parents[2]
VOID = {"meta", "br", "img", "hr", "link", "input"}


class Page(HTMLParser):
    """Open elements, and everything that a browser would load."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.labels: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        within = tag == "use" and (known.get("href") or "").startswith("#")  # a shape of the page itself
        if not within and (tag in ("link", "iframe", "img", "object", "embed", "image", "use") or "src" in known):
            self.loads.append(tag)
        self.scripts += tag == "script"
        if tag == "svg" and known.get("role") == "img":
            self.labels.append(known.get("aria-label") or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


Reported = tuple[CampaignFolder, dict[str, Any], str]
"""A campaign, its verdicts, and its page."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    folder = make_campaign(tmp_path_factory.mktemp("campaign") / "c", Scenario(seed=3))
    verdicts = analyse(folder)
    with schemapi.debug_mode(True):  # a chart that Vega-Lite's schema has not is refused
        return folder, verdicts, write_report(folder).read_text()


def test_page_is_well_formed_and_loads_nothing(campaign: Reported) -> None:
    page = Page(campaign[2])
    assert page.open == []
    assert page.loads == []
    assert page.scripts == 1
    assert not re.search(r"url\(\s*['\"]?(https?:)?//", campaign[2])
    assert len(campaign[2]) < 700_000


def test_contents_lead_to_every_section(campaign: Reported) -> None:
    sections = re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', campaign[2])
    assert len(dict(sections)) == campaign[2].count("<h2") >= 12
    assert re.findall(r'<li><a href="#([^"]+)">([^<]+)</a></li>', campaign[2]) == sections


def test_sections_of_one_title_have_names_of_their_own() -> None:
    page = with_contents(f"{PLACE}<h2>Published claims</h2><h2>A/A twin</h2><h2>Published claims</h2>")
    assert re.findall(r'<h2 id="([^"]+)">', page) == ["published-claims", "a-a-twin", "published-claims-2"]


def test_every_comparison_is_on_the_page(campaign: Reported) -> None:
    rows = re.findall(r"<tr>\s*<td>.*?</tr>", campaign[2], re.DOTALL)
    verdicts = campaign[1]
    assert len([row for row in rows if 'class="verdict' in row and " / " in row]) == len(verdicts["comparisons"])


def test_pictures_have_words_and_files(campaign: Reported) -> None:
    folder, _, text = campaign
    labels = Page(text).labels
    assert len(labels) >= 8  # each for a desk and for a phone
    assert all(len(label) > 40 for label in labels)
    names = {path.stem for path in (folder.path / "figures").glob("*.svg")}
    assert names == {path.stem for path in (folder.path / "figures").glob("*.png")}
    assert {"answer", "details", "trials-latency", "distribution", "requests", "cpu"} == names


def test_long_names_keep_every_figure_on_a_phone(tmp_path: Path) -> None:
    loads = {"eight users who ask for a hundred objects each": {"users": 2}, "night": {"users": 1}}
    scenario = Scenario(seed=3, blocks=2, protocols=("h2", "h3"), loads=loads, as_published=True)
    folder = make_campaign(tmp_path / "c", scenario)
    analyse(folder)
    text = write_report(folder).read_text()
    narrow = re.findall(r'<svg [^>]*data-size="narrow"[^>]* width="(\d+)"', text)
    assert len(narrow) == text.count("<figure") >= 9
    assert max(map(int, narrow)) <= 358  # what a screen of 390 pixels has between its margins
    assert "…" not in text


def test_the_same_campaign_gives_the_same_page(campaign: Reported) -> None:
    folder, _, text = campaign
    before = {path.name: path.read_bytes() for path in (folder.path / "figures").iterdir()}
    assert write_report(folder).read_text() == text
    assert {path.name: path.read_bytes() for path in (folder.path / "figures").iterdir()} == before


def test_a_page_alone_has_no_dead_link(campaign: Reported) -> None:
    assert not dead_links(campaign[2], None)


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/results/*/*.html")), ids=lambda path: path.parent.name)
def test_published_pages_have_no_dead_links(page: Path) -> None:
    assert not dead_links(page.read_text(), page.parent)


def dead_links(text: str, beside: Path | None) -> list[str]:
    """Links into the page that lead nowhere in it, and links to files that are not in the folder `beside`."""
    targets, names = re.findall(r'href="([^"]+)"', text), set(re.findall(r'\bid="([^"]+)"', text))
    local = [target for target in targets if not target.startswith("https://")]
    inner = [target for target in local if target.startswith("#")]
    files = [target for target in local if not target.startswith("#") and not (beside and (beside / target).exists())]
    return [target for target in inner if target[1:] not in names] + files


def test_the_order_of_a_block_is_a_list(campaign: Reported) -> None:
    lists = re.findall(r'<ol class="order">(.*?)</ol>', campaign[2])
    assert [text.count("<li>") for text in lists] == [12] * 6


def test_an_audit_says_in_how_many_trials_its_fault_was_found(campaign: Reported) -> None:
    """`blocks-too-few passed: there are blocks enough` read as its opposite, and so did one that failed."""
    _, verdicts, html = campaign
    section = " ".join(html[html.index(">Audits<") :].split())
    for row in verdicts["audit_summary"]:
        found = f"in {row['failed'] or 'none'} of {row['checked']}" if row["checked"] else "nothing to check"
        words = re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(row["failure"] or row["meaning"])))
        assert re.search(f"<td>{row['audit']}</td><td [^>]*>{found}</td> <td [^>]*>{re.escape(words)}</td>", section)


def test_terminal_summary_fits_80_columns(campaign: Reported) -> None:
    text = summary(campaign[1])
    assert max(map(len, text.splitlines())) <= 80
    assert "On poor, HTTP/3 is " in text
    assert "A/A twin" in text


def test_many_pairs_stand_below_one_another(campaign: Reported) -> None:
    shown = [c for c in campaign[1]["comparisons"] if not c["twin"]]
    many = [{**c, "a": f"server-{number}", "b": "go"} for c in shown for number in range(20)]
    text = summary({**campaign[1], "comparisons": many})
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"server-{number} / go" in text for number in range(20))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """One block, and a question of hostile words."""
    folder = make_campaign(tmp_path_factory.mktemp("short") / "c", Scenario(seed=1, blocks=1))
    with changed_campaign(folder.path) as content:
        content["study"]["question"] = "<script>alert(1)</script> & [bold]?"
    folder = CampaignFolder.open(folder.path)
    with NO_PICTURES:
        return analyse(folder), write_report(folder).read_text()


READS_OF_THE_CLOCK = {("lan", "h1"): 0.03, ("lan", "h2"): 0.05, ("lan", "h3"): 0.1}
NO_TIME_ON_LAN = Scenario(blocks=6, settings={"clock": "virtual"}, effects=READS_OF_THE_CLOCK)


def test_the_page_has_no_value_of_a_network_that_takes_no_time(tmp_path: Path) -> None:
    """Its tables and pictures showed 70 µs that are what a program takes to read a virtual clock."""
    folder = make_campaign(tmp_path / "c", NO_TIME_ON_LAN)
    verdicts = analyse(folder)
    assert any("against" in t and t["against"] == "lan" for i in verdicts["interactions"] for t in i["term"].values())
    text = write_report(folder).read_text()
    answered = text[: text.index(">The links</h2>")]
    shown = re.sub(r"the [\d.]+ µs that were measured", "", " ".join(Page(answered).words))
    assert "µs" not in shown
    assert "against lan" not in shown
    labels = re.findall(r'aria-label="([^"]*)"', answered)
    assert any("medium, block 1: " in label for label in labels)
    assert not [label for label in labels if re.search(r"\blan\b.*\d [µm]?s", label)]


def test_a_network_that_takes_no_time_comes_last(tmp_path: Path) -> None:
    """A phone, which shows one cell at a time, began with nothing but dashes."""
    folder = make_campaign(tmp_path / "c", NO_TIME_ON_LAN)
    analyse(folder)
    with NO_PICTURES:
        page = write_report(folder).read_text()
    assert re.findall(r'<th scope="row" class="cell"[^>]*>(\w+)</th>', page) == ["medium", "poor", "lan"]
    answers = page[page.index('<ul class="answers">') :]
    assert answers.index("On poor") < answers.index("On lan")


def test_hostile_words_stay_words(short: tuple[dict[str, Any], str]) -> None:
    page = Page(short[1])
    assert page.loads == []
    assert page.scripts == 1
    assert any("<script>alert(1)</script> & [bold]?" in words for words in page.words)
    assert "[bold]?" in summary(short[0])


def test_one_block_says_that_it_is_too_few(short: tuple[dict[str, Any], str]) -> None:
    assert "too few for an interval" in short[1]


def test_campaign_without_a_valid_trial_has_a_page(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=1, blocks=2))
    with changed_events(folder.path) as events:
        for event in events:
            if event["event"] == "trial":
                event.update(valid=False, reasons=[{"code": "link-late", "detail": "by 3 ms <b>"}])
    folder = CampaignFolder.open(folder.path)
    verdicts = analyse(folder)
    text = write_report(folder).read_text()
    assert Page(text).open == []
    assert f"{verdicts['trials']['planned']} of {verdicts['trials']['planned']} trials have no valid attempt" in text
    assert "by 3 ms &lt;b&gt;" in text


def test_campaign_with_nothing_but_the_twin_has_a_page(tmp_path: Path) -> None:
    """It has no panel for the distribution: torture left one."""
    one = {"lan": Scenario().networks["lan"]}
    whole = analyse(make_campaign(tmp_path / "whole", Scenario(blocks=1, networks=one)))
    lost = frozenset(value["trial"].split("~")[0] for value in whole["values"] if not value["twin"])
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1, networks=one, missing=lost))
    analyse(folder)
    assert Page(write_report(folder).read_text()).open == []


def test_a_campaign_that_compares_nothing_but_the_twin_says_so(tmp_path: Path) -> None:
    one, asked = {"lan": Scenario().networks["lan"]}, [{**FAMILIES[0], "each": []}]
    only = {"protocol": ["h1", "h2"]}
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1, networks=one, families=asked, only=only))
    said = "No answer: none of what the study compares is in this campaign."
    text = summary(analyse(folder))
    assert said in text
    assert "First against second" not in text
    with NO_PICTURES:
        assert said in write_report(folder).read_text()


def test_a_campaign_whose_question_has_no_value_has_a_page(tmp_path: Path) -> None:
    """Where most requests of all levels fail, latency has no ratio, but the goodput of what is left has one."""

    def spoil(_: PlannedTrial, place: Path) -> None:
        with changed_samples(place) as rows:
            for row in rows[:-1]:
                if row["phase"] == "warm":
                    row.update(status="0", error="timeout")

    one, both = {"lan": Scenario().networks["lan"]}, [{**FAMILIES[0], "metrics": ["latency", "goodput"], "each": []}]
    folder = make_campaign(tmp_path / "c", Scenario(blocks=2, networks=one, families=both, spoil=spoil))
    verdicts = analyse(folder)
    asked = [c for c in verdicts["comparisons"] if not c["twin"]]
    assert [(c["metric"], c["ratio"] is None) for c in asked] == [("latency", True), ("goodput", False)]
    assert Page(write_report(folder).read_text()).open == []


def test_report_before_analysis_says_what_to_do(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=1, blocks=1))
    folder.verdicts.unlink(missing_ok=True)
    with pytest.raises(UserError, match=r"no verdicts\.json"):
        write_report(folder)


def test_commands_in_the_page_are_set_as_code(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=2))
    verdicts = analyse(folder)
    assert "`cpu_warm`" in json.dumps(verdicts["comparisons"])
    with NO_PICTURES:
        page = write_report(folder).read_text()
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert "`" not in shown


def test_a_legend_explains_what_is_there_and_nothing_else(tmp_path: Path) -> None:
    """Of three campaigns: one with question marks, one without; one where levels are alike."""
    for number, scenario in enumerate([Scenario(seed=2, blocks=6), Scenario(seed=2, blocks=12), Scenario(seed=5)]):
        said = summary(analyse(make_campaign(tmp_path / str(number), scenario)))
        table, _, legend = said.partition("First against second:")
        legend = " ".join(legend.partition("Intervals and p values")[0].split())
        for mark, meaning in {"▲": "better", "▼": "worse", "=": "the same", "?": "undecided"}.items():
            there = bool(re.search(rf"(%|×[\d.,]+) {re.escape(mark)}", table.replace("\u00a0", " ")))
            assert (f"{mark} {meaning}" in legend) is there
        _, _, below = table.partition("*: fastest")
        assert bool(below) is bool(re.search(r"s\*", table))
        assert below.lstrip().startswith(", or alike") is (
            "alike" in below.partition("\n\n")[0].replace("or alike", "")
        )
