"""axe-core finds no violation of WCAG 2.2 AA in the pages, light and dark."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from browser import BROWSER, LOOK, SILENT
from h123.analysis import analyse
from h123.base.paths import project_root
from h123.report import write_report
from h123.report.trial_view import choose, write_trial_view
from synthetic import Scenario, make_campaign

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PROBE = """<pre id="axe"></pre><script>%s</script><script>
document.querySelectorAll("details").forEach((details) => { details.open = true; });
axe.run(document, { runOnly: %s }).then((found) => {
  document.getElementById("axe").textContent = JSON.stringify(
    found.violations.map((one) => [one.id, one.nodes.slice(0, 5).map((node) => node.html.slice(0, 300))]));
}, (error) => { document.getElementById("axe").textContent = JSON.stringify([["failed", [String(error)]]]); });
</script>"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """axe-core's source: the file that H123_AXE names, or what npm installs."""
    if given := os.environ.get("H123_AXE"):
        return Path(given).read_text("utf-8")
    if shutil.which("npm") is None:
        pytest.skip("no npm on this machine, and H123_AXE names no axe.min.js")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "install", "--no-fund", "--no-audit", "--ignore-scripts", "axe-core@4"],
        cwd=folder,
        capture_output=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        pytest.skip("npm could not install axe-core")
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def violations(page: Path, axe: str, *, dark: bool) -> list[Any]:
    assert BROWSER
    asked = page.with_name(f"axe-{page.name}")
    asked.write_text(page.read_text("utf-8").replace("</body>", PROBE % (axe, json.dumps(RULES)) + "</body>"))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    profile = f"--user-data-dir={page.parent / ('dark' if dark else 'light')}"
    flags = [f"--{flag}" for flag in LOOK + SILENT]
    command = [BROWSER, *flags, scheme, profile, "--window-size=1200,900", "--virtual-time-budget=60000", "--dump-dom"]
    done = subprocess.run([*command, asked.as_uri()], capture_output=True, text=True, timeout=900, check=True)
    found = re.search(r'<pre id="axe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found
    assert found[1], done.stderr[-2000:]
    return list(json.loads(unescape(found[1])))


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_report_violates_no_rule(axe: str, tmp_path: Path, *, dark: bool) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=3))
    analyse(folder)
    assert violations(write_report(folder), axe, dark=dark) == []


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make docs` writes, in a folder that the browser may write to."""
    done = subprocess.run(["make", "docs"], cwd=project_root(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return Path(shutil.copytree(project_root() / "target/docs", tmp_path_factory.mktemp("site") / "docs"))


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", ["index", "answer", "command-line", "results/index", "results/quick", "catalogue"])
def test_the_site_violates_no_rule(axe: str, site: Path, page: str, *, dark: bool) -> None:
    assert violations(site / f"{page}.html", axe, dark=dark) == []


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_of_a_trial_violates_no_rule(axe: str, tmp_path: Path, *, dark: bool) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=3, blocks=2))
    trials = sorted(path.name.partition("~")[0] for path in folder.path.glob("trials/b01-*poor*"))
    page = tmp_path / "trial.html"
    write_trial_view(folder, choose(folder, trials[:2]), page)
    assert violations(page, axe, dark=dark) == []
