"""Campaigns in which requests are made again at one level, and at another they are not."""

from pathlib import Path

import pytest

from h123.analysis import analyse
from h123.measures import export, load_attempts
from h123.store import connect
from synthetic import NETWORKS, Scenario, make_campaign

AGAIN = {"after": 10**9, "at_most": 2}


@pytest.mark.parametrize("levels", [("once", "again"), ("again", "once")])
def test_files_with_and_without_tries_are_read_beside_one_another(tmp_path: Path, levels: tuple[str, str]) -> None:
    """Of four users the first one's requests were made twice."""
    loads = {level: {"retry": AGAIN if level == "again" else None} for level in levels}
    scenario = Scenario(blocks=2, loads=loads, networks={"lan": NETWORKS["lan"]})
    folder = make_campaign(tmp_path / "campaign", scenario)
    told = connect(folder).execute(
        "SELECT cell_load, bool_and(tries IS NULL), avg(tries) FROM samples JOIN attempts USING (trial, attempt) "
        "WHERE phase = 'warm' GROUP BY cell_load ORDER BY cell_load"
    )
    assert told.fetchall() == [("again", False, 1.25), ("once", True, None)]
    retried = {(attempt.cell["load"], attempt.metrics["retried"]) for attempt in load_attempts(folder)}
    assert retried == {("again", 25.0), ("once", None)}
    assert all(file.stat().st_size for file in export(folder, "csv", tmp_path / "out"))
    assert analyse(folder)["comparisons"]
