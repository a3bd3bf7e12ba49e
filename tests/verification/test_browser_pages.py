"""A real browser loads a page by its own loader: over each protocol the requests are the page's, and all came whole."""

import json
from pathlib import Path

import pytest

from h123.catalogue import catalogue, install, installations, make_documents
from h123.trial import LocalEngine, campaign_certificate
from h123.trial.files import SERVER_ADDRESS
from h123.verification.assignment import assignments
from h123.verification.client import carry_out, judge
from h123.verification.trial import Trials

pytestmark = pytest.mark.heavy
PAGE = "a workload of kind page"


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_a_browser_asks_for_what_documents_say(name: str, protocol: str, tmp_path: Path) -> None:
    if not (installations() / name).is_dir():
        pytest.skip(f"{name} is not installed")
    browser = catalogue()[name]
    for subject in (browser, catalogue()["go"]):
        install(subject, print)
    asked = next(one for one in assignments(browser) if one.name == PAGE and one.parameters.protocol == protocol)
    made = asked.parameters.workload.documents()
    assert made
    make_documents(made.folder, made.contents)
    trials = Trials(catalogue(), campaign_certificate(tmp_path / "tls", [SERVER_ADDRESS]), LocalEngine())
    carried = carry_out(asked, trials, tmp_path / "trial")
    assert not judge(asked, browser, carried)
    _document_comes_first(carried.rows)
    archives = sorted((tmp_path / "trial").glob("page-*.har"))
    assert len(archives) == 2 * 7  # a visit each
    log = json.loads(archives[0].read_text())["log"]
    assert [entry["request"]["url"].rsplit("/", 1)[1] for entry in log["entries"]][:2] == ["0.html", "1.css"]
    assert log["pages"][0]["pageTimings"]["onLoad"] > log["pages"][0]["pageTimings"]["onContentLoad"] > 0


def _document_comes_first(rows: "list[dict[str, int]]") -> None:
    """And what asks for others has come, at least in part, before these are asked for."""
    visits: dict[tuple[int, int], dict[int, dict[str, int]]] = {}
    for row in rows:
        visits.setdefault((row["user"], row["group"]), {})[row["resource"]] = row
    for visit in visits.values():
        document, style, *images = (visit[resource] for resource in range(len(visit)))
        assert document["first_byte_ns"] <= style["start_ns"]
        assert all(style["first_byte_ns"] <= image["start_ns"] for image in images)
