"""Claims on the page and in the summary of a synthetic campaign of the REST study."""

import re
from html import unescape
from pathlib import Path
from typing import Any

from h123.analysis import analyse
from h123.report import write_report
from h123.report.text.claims import remarks, verdict_words
from h123.study import find_study, load_study
from hasty import NO_PICTURES
from printing import summary
from synthetic import Scenario, make_campaign


def test_the_page_and_the_summary_have_the_verdicts(tmp_path: Path) -> None:
    study = load_study(find_study("rest-api")).scaled(0.1)
    only = {"network": ["baseline", "poor"], "method": ["GET"], "load": ["high"]}
    effects = {("lan", "h3"): 1.6, ("poor", "h3"): 1.3}
    folder = make_campaign(tmp_path / "c", Scenario(study=study, only=only, effects=effects, blocks=7))
    verdicts = analyse(folder)
    ledger, rest_of_text = verdicts["claims"]
    found = {claim["id"]: claim["verdict"] for claim in ledger["claims"]}
    assert found["C01"] == "refuted"
    assert found["C02"] in ("confirmed", "direction only")
    assert found["C03"] == found["C04"] == "undecided"
    assert found["C01a"] == "impossible"

    with NO_PICTURES:
        text = unescape(write_report(folder).read_text()).replace("\u00a0", " ")
    section = text[text.index(">Published claims</h2>") : text.index(">All comparisons</h2>")]
    rows = dict(re.findall(r"<tr><td>(\S+)</td><td class=\"verdict \S+\">([^<]+)</td>", section))
    assert rows == found | {claim["id"]: verdict_words(claim) for claim in rest_of_text["claims"]}
    assert rows["R05"] == "impossible"
    assert "The campaign ran at --scale 0.1" in section
    assert "because the whole interval lies on the other side" in section
    assert "cannot be: 2 MB x 8 / 1.03 s = 15.6 Mbit/s" in section

    lines = summary(verdicts, width=200).splitlines()
    line, _ = [line for line in lines if line.startswith("Published claims")]
    assert line.startswith("Published claims at scale 0.1: ")
    assert "refuted C01; impossible C01a, C01b, C02a, C04a; undecided C03, C04, C05, C06" in line


def test_a_reason_is_never_a_bare_campaign() -> None:
    row: Any = {"figures": [], "reason": "a campaign of study rest-api with 6 blocks or more", "note": None}
    assert remarks({**row, "verdict": "open"}) == [f"decided by: {row['reason']}"]
    assert remarks({**row, "verdict": "impossible"}) == [f"what the figures leave is decided by: {row['reason']}"]
