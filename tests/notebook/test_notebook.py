"""Campaigns as notebooks see them; and docs/notebook.md to the letter."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc
import pytest

import h123.notebook as h
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import project_root, typed
from h123.measures import export
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign

ROOT = project_root()
CODE = re.compile(r"^```python ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGAIN = "b01-t01-lan-h2-twin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    """A campaign one of whose attempts does not count."""
    made = make_campaign(tmp_path_factory.mktemp("campaigns") / "quick", Scenario(blocks=3, invalid=frozenset([AGAIN])))
    analyse(made)
    return made


def test_the_page_runs_as_it_stands(
    folder: CampaignFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.path.parents[1])
    (Path.cwd() / "campaigns").symlink_to(folder.path.parent)
    blocks = CODE.findall((ROOT / "docs/notebook.md").read_text("utf-8"))
    assert [library for library, _ in blocks] == ["", "", "", "", "pandas", "polars"]
    known: dict[str, Any] = {}
    for _, code in blocks:
        exec(compile(code, "docs/notebook.md", "exec"), known)  # the page is ours
        assert capsys.readouterr().out, code
    assert len(known["ratios"].fetchall()) == 3 * folder.blocks
    assert known["slow"].num_rows
    assert known["medians"]["poor", "h3"] < known["medians"]["poor", "h2"]
    assert known["frame"].height == known["table"].shape[0] == known["trials"].num_rows


def test_the_page_tells_how_to_start_it() -> None:
    assert "PYTHONPATH=src .venv/bin/python\n" in (ROOT / "docs/notebook.md").read_text("utf-8")
    asked = [sys.executable, "-c", "import h123.notebook as h; print(h.METRICS['latency'].title)"]
    plain = {"PATH": os.environ["PATH"], "PYTHONPATH": "src"}
    told = subprocess.run(asked, cwd=ROOT, env=plain, capture_output=True, text=True, check=True)
    assert told.stdout == "Latency\n"


def test_trials_are_those_that_verdicts_rest_on(folder: CampaignFolder) -> None:
    campaign = h.open(str(folder.path))
    trials, values = campaign.trials.to_pylist(), campaign.verdicts["values"]
    assert len(trials) == len(values) == 12 * folder.blocks
    by_name = {f"{row['trial']}~{row['attempt']}": row for row in trials}
    assert f"{AGAIN}~2" in by_name
    assert f"{AGAIN}~1" not in by_name
    for value in values:
        row = by_name[value["trial"]]
        assert {name: row[name] for name in h.METRICS} == value["metrics"]
        assert {factor: row[f"cell_{factor}"] for factor in value["cell"]} == value["cell"]


def test_samples_are_of_these_trials(folder: CampaignFolder) -> None:
    campaign = h.open(folder.path)
    samples = campaign.samples()
    assert set(zip(*(samples[name].to_pylist() for name in ("trial", "attempt")), strict=True)) == {
        (row["trial"], row["attempt"]) for row in campaign.trials.to_pylist()
    }
    poor = campaign.samples("cell_network = 'poor' OR cell_network = 'lan'", ["cell_network", "end_ns"])
    assert poor.column_names == ["cell_network", "end_ns"]
    assert set(poor["cell_network"].to_pylist()) == {"poor", "lan"}
    assert poor.num_rows == samples.filter(pc.field("cell_network") != "medium").num_rows


def test_tables_have_the_columns_of_an_export(folder: CampaignFolder, tmp_path: Path) -> None:
    campaign = h.open(folder.path)
    for path, table in zip(export(folder, "parquet", tmp_path), (campaign.samples(), campaign.trials), strict=True):
        assert duckdb.read_parquet(str(path)).columns == table.column_names


def test_what_it_says_of_itself(folder: CampaignFolder) -> None:
    campaign = h.open(folder.path)
    assert repr(campaign) == f"<campaign {folder.path}, of study synthetic>"
    assert campaign.study.compare.factor == "protocol"
    assert campaign.networks["poor"].title == "50 ms, 10 Mbit/s, 2 % loss"
    assert not any(row["twin"] for row in campaign.comparisons)
    assert len(campaign.comparisons) + 3 * 7 == len(campaign.verdicts["comparisons"])  # twins: networks x metrics


def test_a_condition_or_column_that_is_none_is_said(folder: CampaignFolder) -> None:
    campaign = h.open(folder.path)
    with pytest.raises(UserError, match="pase"):
        campaign.samples("pase = 'warm'")
    with pytest.raises(UserError, match="it's"):
        campaign.samples(columns=["it's"])
    with pytest.raises(UserError, match="Permission"):
        campaign.samples("EXISTS (FROM read_csv('/etc/passwd'))")


def test_a_folder_that_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a campaign") as refused:
        h.open(tmp_path)
    assert refused.value.__notes__ == [refused.value.remedy], "a traceback shows what to do"


def test_one_that_has_not_been_analysed(tmp_path: Path) -> None:
    campaign = h.open(make_campaign(tmp_path / "c", Scenario(blocks=1)).path)
    assert campaign.trials.num_rows == 12
    with pytest.raises(UserError, match="has not been analysed") as refused:
        _ = campaign.comparisons
    assert refused.value.remedy == f"run `h123 analyse {typed(tmp_path / 'c')}`"


def test_a_plan_that_has_changed_is_refused(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1))
    file = folder.path / "campaign.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "seed": 2}))
    with pytest.raises(UserError, match="has changed since h123 wrote it"):
        h.open(folder.path)


def test_verdicts_of_another_shape_are_refused(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1))
    verdicts = analyse(folder)
    folder.verdicts.write_text(json.dumps({**verdicts, "margin": "small"}))
    with pytest.raises(UserError, match="margin"):
        _ = h.open(folder.path).verdicts


def test_a_trial_whose_files_have_changed_is_left_out_with_a_warning(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        h.open(folder.path)
    lost = sorted(folder.trials.iterdir())[0]
    (lost / "client.json").write_text("{}")
    with pytest.warns(UserWarning, match=rf"1 trial is left out.*{lost.name}.*restore the files") as told:
        campaign = h.open(folder.path)
    assert told[0].filename == __file__
    assert campaign.trials.num_rows == 11
    assert f"{lost.name}" not in {f"{row['trial']}~{row['attempt']}" for row in campaign.trials.to_pylist()}
    assert campaign.samples(f"trial = '{lost.name.partition('~')[0]}'").num_rows == 0
