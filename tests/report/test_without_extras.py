"""A default installation: without what draws, and without SciPy, all but figures and tests as published is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from h123.analysis import analyse
from h123.base.extras import NOTEBOOK, PUBLISHED, REPORT
from h123.base.paths import project_root
from synthetic import Scenario, make_campaign

RUN = """
import sys
sys.modules |= dict.fromkeys({missing}, None)  # None: cannot be imported
from h123.cli import main
main()
"""


def h123(*arguments: str, folder: Path, lacks: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """A command where the packages are not installed."""
    return subprocess.run(
        [sys.executable, "-c", RUN.format(missing=lacks), *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(project_root() / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


NOTEBOOK_CODE = """
import sys
sys.modules["pyarrow"] = None
import h123.notebook as h
campaign = h.open(sys.argv[1])
print(campaign.study.name, len(campaign.comparisons))
try:
    campaign.trials
except h.UserError as error:
    print(f"{error.message}: {error.remedy}", error.__notes__)
"""


def test_a_notebook_says_what_its_tables_need(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=8))
    analyse(folder)
    environment = {"PYTHONPATH": str(project_root() / "src")}
    command = [sys.executable, "-c", NOTEBOOK_CODE, folder.path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert int(first.split()[1])
    remedy = "pip install 'h123[notebook]'"
    assert second == f'Arrow tables need pyarrow, which is not installed: {remedy} ["{remedy}"]'


def test_the_page_has_all_but_figures(tmp_path: Path) -> None:
    make_campaign(tmp_path / "c", Scenario(blocks=8))
    lacks = (*NOTEBOOK.packages, *REPORT.packages, *PUBLISHED.packages)
    for command in (["analyse", "c"], ["report", "c"], ["diff", "c", "c"], ["why", "c"]):
        done = h123(*command, folder=tmp_path, lacks=lacks)
        assert "Traceback" not in done.stderr, done.stderr
        assert "not installed" not in done.stderr or command[0] == "report"
    page = (tmp_path / "c/report.html").read_text("utf-8")
    said = "Figures need altair and vl_convert, which are not installed"
    assert said in page
    assert "<code>pip install &#39;h123[report]&#39;</code>" in page
    assert "<figure" not in page
    assert not (tmp_path / "c/figures").exists()
    again = h123("report", "c", folder=tmp_path, lacks=("altair",))
    assert again.returncode == 0
    assert "altair, which is not installed" in " ".join(again.stderr.split())
    whole = h123("report", "c", folder=tmp_path, lacks=())
    assert whole.returncode == 0, whole.stderr
    drawn = (tmp_path / "c/report.html").read_text("utf-8")
    assert "not installed" not in drawn
    assert "<figure" in drawn
    headings, kept = (re.findall(r"<h2[^>]*>(.*?)</h2>", text) for text in (drawn, page))
    assert set(kept) <= set(headings)
    assert len(kept) > 5


def test_tests_as_published_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from h123.analysis.as_published.procedure import kruskal_wallis
    from h123.base.errors import UserError

    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UserError, match="tests as published need scipy, which is not installed") as raised:
        kruskal_wallis([np.array([1.0, 2.0]), np.array([2.0, 3.0])])
    assert raised.value.remedy == "pip install 'h123[published]'"
