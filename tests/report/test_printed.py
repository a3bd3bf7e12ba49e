"""The page with a paper's printed values: beside one campaign, beside two, and why some cannot stand beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.report import write_report
from h123.report.figures.averages import averages_figures
from h123.report.figures.axes import log_ticks
from h123.report.text.printed_values import PrintedSide, open_other_side, printed_side, printed_table
from h123.store import CampaignFolder
from study.test_printed import PRINTED, write
from synthetic import Scenario, make_campaign

SMALL: dict[str, Any] = {"blocks": 2, "as_published": True, "protocols": ("h2", "h3"), "pairs": ("h3/h2",)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CampaignFolder]]:
    base = tmp_path_factory.mktemp("printed")
    path = write(base, PRINTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("h123.study.claims.printed_values.list_published", lambda: [path])
        made = {
            "here": make_campaign(base / "here", Scenario(seed=1, effects={("poor", "h3"): 0.5}, **SMALL)),
            "other": make_campaign(base / "other", Scenario(seed=2, effects={("poor", "h3"): 2.0}, **SMALL)),
            "not-asked": make_campaign(base / "not-asked", Scenario(seed=3, **{**SMALL, "as_published": False})),
        }
        for folder in made.values():
            analyse(folder)
        made["raw"] = make_campaign(base / "raw", Scenario(seed=3, **SMALL))
        yield made


def side_of(folder: CampaignFolder) -> PrintedSide | None:
    return printed_side(folder.study, folder.name, json.loads(folder.verdicts.read_text()))


def test_three_side_by_side(folders: dict[str, CampaignFolder]) -> None:
    here, other = folders["here"], folders["other"]
    before = {path: path.stat().st_mtime_ns for path in other.path.rglob("*")}
    text = write_report(here, other.path).read_text()
    assert {path: path.stat().st_mtime_ns for path in other.path.rglob("*")} == before, "the other is only read"
    section = text.partition(">The paper’s printed values and ours</h2>")[2].partition(">A/A twin</h2>")[0]
    assert "40 ms" in section
    assert "-25.0 %" in section
    assert "Of 2 printed values on a limited link, 2 are more than the whole link can carry" in section
    assert "<b>2 ×</b>" in section
    assert section.count("synthetic</th>") == 2 + 2 * 2
    assert "r_rb" in section
    for name in ("printed-values", "published-times", "published-throughput"):
        assert (here.path / "figures" / f"{name}.png").stat().st_size > 1000
        assert f'id="figure-{name}"' in text
    drawn = (here.path / "figures" / "printed-values.svg").read_text()
    for words in ("printed", "synthetic (here)", "synthetic (other)", "poor, HTTP/3, median"):
        assert words in drawn
    times = (here.path / "figures" / "published-times.svg").read_text()
    for words in ("Latency", "First byte", "medium", "HTTP/2"):
        assert words in times


def test_values_of_both_and_how_far_they_are(folders: dict[str, CampaignFolder]) -> None:
    here = side_of(folders["here"])
    assert here
    table = printed_table(here, open_other_side(folders["here"], folders["other"].path))
    ((title, rows), *_) = table.groups
    assert (title, [row["of"] for row in rows]) == ("Latency, median", ["HTTP/2", "HTTP/3"])
    h3 = table.values[1]
    first, second = (found[0]["value"] for found in h3["ours"])
    assert first > 2 * second, "the other campaign, slower by what was put in, comes first"
    assert h3["ratios"] == pytest.approx([first / 0.03, second / 0.03])
    assert any("within a factor of" in remark for remark in table.remarks)
    alone = printed_table(here)
    assert [len(row["ours"]) for row in alone.values] == [1] * 3


def test_scales_and_holes_are_said(folders: dict[str, CampaignFolder]) -> None:
    here = side_of(folders["here"])
    assert here
    holes = {"planned": 12, "valid": 10, "invalid": 0, "missing": 2}
    small = type(here)(**{**vars(here), "campaign": "small", "scale": 0.05, "trials": holes})
    remarks = printed_table(here, small).remarks
    assert "synthetic (small): 10 of 12 trials, 0.05 of the study's requests." in remarks
    assert any("scales differ" in remark for remark in remarks)
    assert not any("scales differ" in remark for remark in printed_table(here, here).remarks)


def test_what_cannot_stand_beside(folders: dict[str, CampaignFolder], tmp_path: Path) -> None:
    here = folders["here"]
    own = side_of(here)
    assert own
    (tmp_path / "link").symlink_to(here.path)
    broken, early = tmp_path / "broken", tmp_path / "early"
    old = {"h123": "verdicts/1", "as_published": {"comparisons": []}}
    for folder, text in ((broken, "{"), (early, json.dumps(old))):
        folder.mkdir()
        (folder / "campaign.json").write_text((here.path / "campaign.json").read_text())
        (folder / "verdicts.json").write_text(text)
    wrong = {
        here.path: "is the campaign itself",
        tmp_path / "link": "is the campaign itself",
        tmp_path: "is not a campaign",  # which has a link in it
        folders["raw"].path: "has not been analysed",
        folders["not-asked"].path: "no file in published/ has values",
        broken: "cannot be read",
        early: "is not as h123 writes it",
    }
    for path, words in wrong.items():
        with pytest.raises(UserError) as fault:
            open_other_side(here, path)
        assert words in fault.value.message
    empty = [{**row, "ours": []} for row in own.rows]
    with pytest.raises(UserError, match="no printed value has data in both"):
        printed_table(own, type(own)(**{**vars(own), "rows": empty}))
    with pytest.raises(UserError, match="different printed values"):
        printed_table(own, type(own)(**{**vars(own), "rows": own.rows[1:]}))
    with pytest.raises(UserError, match="no file in published/ has values"):
        write_report(folders["not-asked"], here.path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"value": 1e999', "rows.0.ours.0.value"),
        ('"value": -1', "must be positive"),
        ('"value": "1"', "rows.0.ours.0.value"),
        ('"low": null, "high": 1, "confidence": 0.9', "low, high and confidence"),
        ('"trials": true', "rows.0.ours.0.trials"),
        ('"cell": null', "rows.0.ours.0.cell"),
    ],
)
def test_forged_values_of_the_other_are_refused_by_their_key(
    folders: dict[str, CampaignFolder], tmp_path: Path, text: str, words: str
) -> None:
    here, forged = folders["here"], tmp_path / "forged"
    forged.mkdir()
    (forged / "campaign.json").write_bytes((folders["other"].path / "campaign.json").read_bytes())
    verdicts = dict(json.loads(folders["other"].verdicts.read_text()))
    row = verdicts["as_published"]["printed"]["rows"][0]["ours"][0]
    row["forged"] = None
    (forged / "verdicts.json").write_text(json.dumps(verdicts).replace('"forged": null', text))
    with pytest.raises(UserError) as fault:
        open_other_side(here, forged)
    assert "is not as h123 writes it" in fault.value.message
    assert words in fault.value.message


def test_ticks_are_few_and_inside() -> None:
    assert log_ticks([0.5, 2000], 10) == [1, 10, 100, 1000]
    assert log_ticks([0.5, 2000], 2) == [1, 100]
    assert log_ticks([1.5, 6], 10) == [2, 5]


def test_one_factor_is_one_panel() -> None:
    rows = [
        {"cell": {"protocol": name}, "metric": "throughput", "link": None, "trials": [{"mean": 1e6}, {"mean": 2e6}]}
        for name in ("h3", "h2")
    ]
    (figure,) = averages_figures(rows, {"protocol": ["h2", "h3"]}, "protocol")
    assert figure.name == "published-throughput"
    assert not averages_figures([{**rows[0], "trials": []}], {"protocol": ["h2", "h3"]}, "protocol")
