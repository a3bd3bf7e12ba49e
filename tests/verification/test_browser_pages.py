"""A real browser loads a page by its own loader: over each protocol the requests are the page's, and all came whole."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from h123.catalogue import catalogue, install, installations, is_edge, make_documents, server_uses
from h123.documents import read_document
from h123.documents.trial_files import ClientFile
from h123.execution import LocalPool, campaign_certificate
from h123.execution.files import SERVER_ADDRESS
from h123.verification.client_cases import FIRST_VISIT, INFORMED_VISIT, REPEAT_VISIT, assignments
from h123.verification.clients.client import ClientTrial, carry_out, judge
from h123.verification.trial import Trials

pytestmark = pytest.mark.heavy
PAGE = "a workload of kind page"
TICK_NS = 1_000_000
"""Firefox tells events to the millisecond."""


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_a_browser_asks_for_what_documents_say(name: str, protocol: str, tmp_path: Path) -> None:
    carried = _carried_out(name, PAGE, protocol, tmp_path)
    _document_comes_first(carried.rows)
    archives = sorted((tmp_path / "trial").glob("page-*.har"))
    assert len(archives) == 2 * 7  # a visit each
    log = json.loads(archives[0].read_text())["log"]
    assert [entry["request"]["url"].rsplit("/", 1)[1] for entry in log["entries"]][:2] == ["0.html", "1.css"]
    assert log["pages"][0]["pageTimings"]["onLoad"] > log["pages"][0]["pageTimings"]["onContentLoad"] > 0
    facts = read_document(tmp_path / "trial/client.json", ClientFile)
    ended = {(row["user"], row["group"]): row["end_ns"] for row in carried.rows if row["resource"] == 0}
    told = {(one.user, one.group): (one.dom_content_loaded_ns or 0, one.load_ns or 0) for one in facts.visits}
    assert told.keys() == ended.keys()
    assert all(ended[visit] - TICK_NS <= dom <= load for visit, (dom, load) in told.items())


@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_a_browser_finds_http_3_and_remembers_it(name: str, tmp_path: Path) -> None:
    """A first visit begins over HTTP/2, and each in a profile that knows nothing; a repeat one is over HTTP/3."""
    first = _carried_out(name, FIRST_VISIT, "h3", tmp_path / "first").rows
    assert {row["protocol"] for row in first if row["resource"] == 0} == {"h2"}
    again = _carried_out(name, REPEAT_VISIT, "h3", tmp_path / "again").rows
    assert {row["protocol"] for row in again if row["resource"] == 0} == {"h3"}
    informed = _carried_out(name, INFORMED_VISIT, "h3", tmp_path / "informed").rows
    assert {row["protocol"] for row in informed if row["resource"] == 0} == {"h3"}


@pytest.mark.parametrize("server", [name for name, one in catalogue().items() if server_uses(one, "alt_svc")])
def test_what_a_server_announces_is_found(server: str, tmp_path: Path) -> None:
    """Repeat visits are over HTTP/3; each server passes all requests on that can."""
    _carried_out("chromium", REPEAT_VISIT, "h3", tmp_path, server=server)


def _carried_out(name: str, check: str, protocol: str, folder: Path, server: str = "go") -> ClientTrial:
    """What comes of a check that the browser passes."""
    browser = catalogue()[name]
    for subject in (browser, catalogue()[server], catalogue()["go"]):
        if not (installations() / subject.name).is_dir():
            pytest.skip(f"{subject.name} is not installed")
        install(subject, print)
    asked = next(one for one in assignments(browser) if one.name == check and one.parameters.protocol == protocol)
    behind = asked.parameters.model_copy(update={"server": server, "backend_network": asked.parameters.network})
    if is_edge(catalogue()[server], behind):
        asked = replace(asked, parameters=behind)
    made = asked.parameters.workload.documents()
    assert made
    make_documents(made.folder, made.contents)
    trials = Trials(catalogue(), campaign_certificate(folder / "tls", [SERVER_ADDRESS]), LocalPool())
    carried = carry_out(asked, trials, folder / "trial")
    assert not judge(asked, browser, carried)
    return carried


def _document_comes_first(rows: "list[dict[str, int]]") -> None:
    """And what asks for others has come, at least in part, before these are asked for."""
    visits: dict[tuple[int, int], dict[int, dict[str, int]]] = {}
    for row in rows:
        visits.setdefault((row["user"], row["group"]), {})[row["resource"]] = row
    for visit in visits.values():
        document, style, *images = (visit[resource] for resource in range(len(visit)))
        assert document["first_byte_ns"] <= style["start_ns"]
        assert all(style["first_byte_ns"] <= image["start_ns"] for image in images)
