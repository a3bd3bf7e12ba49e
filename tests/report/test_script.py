"""What the page's script does, asked of a real browser where there is one."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from browser import BROWSER, LOOK, SILENT
from h123.analysis import analyse
from h123.report import write_report
from h123.report.page.template import template
from synthetic import Scenario, make_campaign

PROBE = """
<pre id="probe"></pre><script>
const heads = [...document.querySelectorAll("h2")];
const table = (title) => {
  const head = heads.find((h2) => h2.textContent === title);
  return [...document.querySelectorAll("table")].find((t) => head.compareDocumentPosition(t) & 4);
};
const column = (t, place) => [...t.tBodies[0].rows].filter((r) => r.cells[place]).map((r) => r.cells[place].innerText);
const comparisons = table("All comparisons");
const group = (t) => {
  const rows = [...t.tBodies[0].rows];
  const first = rows.findIndex((r) => r.textContent.includes("details"));
  return rows.slice(first + 1).map((r) => r.cells[3].innerText);
};
const found = { before: group(comparisons) };
const button = comparisons.tHead.querySelectorAll("button")[3];
button.click();
found.sorted = group(comparisons);
found.said = comparisons.tHead.querySelectorAll("th")[3].getAttribute("aria-sort");
button.click(); found.descending = group(comparisons);
button.click(); found.after = group(comparisons);
const input = document.querySelector(".filter input");
input.value = "POOR handshake"; input.dispatchEvent(new Event("input"));
found.left = [...comparisons.tBodies[0].rows].filter((r) => !r.hidden && r.cells.length > 1).map((r) => r.innerText);
found.count = document.querySelector(".filter output").value;
const svg = [...document.querySelectorAll("#figure-answer svg")].find((s) => s.getClientRects().length);
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
found.tip = document.querySelector(".tip").textContent;
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
found.hidden = document.querySelector(".tip").hidden;
const seen = [...document.querySelectorAll("table.answer td")].filter((cell) => cell.getClientRects().length);
found.answer = { cells: seen.length, right: Math.max(...seen.map((cell) => cell.getBoundingClientRect().right)) };
found.heads = [...document.querySelectorAll("table.answer tbody tr:first-child td")].map(
  (cell) => getComputedStyle(cell, "::before").content);
found.width = document.documentElement.scrollWidth;
const edge = document.querySelector("main").getBoundingClientRect().right;
const boxes = [...document.querySelectorAll(".scroll")].map((box) => box.getBoundingClientRect().right);
found.beyond = Math.max(...boxes) - edge;
found.contents = document.querySelector(".contents").open;
let saved = null;
URL.createObjectURL = (blob) => { saved = blob; return "#"; };
document.querySelector(".take").click();
saved.text().then((text) => {
  found.saved = text;
  document.getElementById("probe").textContent = JSON.stringify(found);
});
</script>
"""


def ask(page: Path, width: int, folder: Path) -> dict[str, Any]:
    assert BROWSER
    asked = folder / "asked.html"
    asked.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
    size = [
        f"--user-data-dir={folder / f'profile-{width}'}",
        f"--window-size={width},900",
        "--virtual-time-budget=3000",
    ]
    command = [BROWSER, *(f"--{flag}" for flag in LOOK + SILENT), *size, "--dump-dom", asked.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found
    assert found[1], done.stderr[-2000:]
    return dict(json.loads(unescape(found[1])))


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_browser_sorts_filters_and_tells(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(seed=3))
    analyse(folder)
    page = write_report(folder)
    desk, phone = (ask(page, width, tmp_path) for width in (1200, 500))  # a headless window has no less
    times = [text for text in desk["sorted"] if text.endswith("s") and not text.endswith("/s")]
    assert len(times) > 40
    assert sorted(desk["sorted"]) == sorted(desk["before"]) != desk["before"]
    assert [seconds(text) for text in times] == sorted(seconds(text) for text in times)
    assert desk["said"] == "ascending"
    assert desk["descending"] != desk["sorted"]
    assert desk["after"] == desk["before"]
    assert len(desk["left"]) == 3
    assert all("poor" in row and "Handshake" in row for row in desk["left"])
    assert desk["count"].startswith("3 of ")
    assert desk["tip"].startswith("Latency, HTTP/3 / HTTP/2, lan: ")
    assert desk["hidden"] is True
    assert desk["saved"].startswith("<svg")
    assert "var(" not in desk["saved"]
    assert (desk["contents"], phone["contents"]) == (True, False)
    # Of the answer everything is in sight, on a phone without a head.
    assert desk["answer"]["cells"] == phone["answer"]["cells"] == 3 * 3 * 7
    assert phone["answer"]["right"] <= 500
    assert set(desk["heads"]) == {"none"}
    assert [text for text in phone["heads"] if "HTTP/" in text and " v " not in text] == [
        '"HTTP/1.1"',
        '"HTTP/2"',
        '"HTTP/3"',
    ]
    assert (desk["width"], phone["width"]) == (1200, 500)  # nothing is wider than the window
    assert max(desk["beyond"], phone["beyond"]) <= 0.5  # two tables stuck out by 12 pixels


def test_the_script_asks_nothing_of_a_network() -> None:
    script = str(template("h123.report.page", "page.html.j2").environment.globals["script"])
    assert not re.search(r"fetch|XMLHttp|import|https?:|WebSocket|localStorage|cookie", script)
