"""A recorded page as its own server is asked for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.study import RecordedAnswer, RecordedPage, recorded_page
from study.test_har import HOME, chrome, entry, har

BY_HOME = {"type": "parser", "url": HOME}
FINE = RecordedAnswer(frozenset({5000}), None)


def page(tmp_path: Path, *entries: Any) -> RecordedPage:
    path = tmp_path / "page.har"
    path.write_text(json.dumps(har(*entries)))
    return recorded_page(path)


def whole(tmp_path: Path) -> RecordedPage:
    """A redirect, queries, another server that asks for something of this one, an upload, the same twice."""
    other = "https://cdn.example.net/lib.js"
    return page(
        tmp_path,
        chrome("http://www.example.org/", 0, "document", 0, response={"status": 301, "redirectURL": HOME}),
        chrome(HOME, 10, "document", 3000),
        chrome(HOME + "app.css?v=3", 70, "stylesheet", 900, BY_HOME),
        chrome(other, 71, "script", 7000, BY_HOME),
        chrome(HOME + "data.json?a=1 2", 150, "fetch", 40, {"type": "script", "url": other}),
        chrome(HOME + "save", 160, "fetch", 5, BY_HOME, request={"method": "POST"}),
        chrome(HOME + "app.css?v=3", 170, "stylesheet", 900, BY_HOME),
        chrome(HOME + "x.png", 200, "image", 80, {"type": "parser", "url": HOME + "app.css?v=3"}),
    )


def test_paths_are_kept_and_what_is_elsewhere_is_not(tmp_path: Path) -> None:
    found = whole(tmp_path)
    assert found.address == HOME
    assert [(one.path, one.type, one.by) for one in found.resources] == [
        ("/", "document", None),
        ("/app.css?v=3", "style", "/"),
        ("/data.json?a=1%202", "data", "/"),  # what asked for it is not here, but what asked for that is
        ("/app.css?v=3", "style", "/"),
        ("/x.png", "image", "/app.css#2"),
    ]
    assert found.paths == ("/", "/app.css?v=3", "/data.json?a=1%202", "/x.png")
    assert found.notes == [
        "Left out: 1 request that led elsewhere",
        "Left out: 1 request of other hosts, 59 % of the page's bytes: cdn.example.net (1 request, 7 kB, 59 % of the "
        "bytes). --hosts all asks this server for them too",
        "Left out: 1 request not by GET",
    ]
    assert found.site.bytes


def test_sizes_are_those_that_the_server_has_now(tmp_path: Path) -> None:
    served = dict.fromkeys(whole(tmp_path).paths, FINE)
    served["/app.css?v=3"] = RecordedAnswer(frozenset({0}), "was answered with 404")
    served["/data.json?a=1%202"] = RecordedAnswer(frozenset({7, 9}), None)
    found = whole(tmp_path).as_served(served)
    assert [(one.path, one.size, one.exact, one.by) for one in found.resources] == [
        ("/", 5000, True, None),
        ("/data.json?a=1%202", 9, False, "/"),
        ("/x.png", 5000, True, "/"),
    ]
    assert found.notes[-1] == "Left out: /app.css?v=3, was answered with 404"
    assert len(found.site.loads()) == 3


def test_an_empty_body_has_no_size_to_be_held_against(tmp_path: Path) -> None:
    found = page(tmp_path, entry(HOME)).as_served({"/": RecordedAnswer(frozenset({0}), None)})
    assert [(one.size, one.exact) for one in found.resources] == [(1, False)]


def test_a_page_too_long_for_a_study(tmp_path: Path) -> None:
    many = page(tmp_path, entry(HOME), *(entry(f"{HOME}{number}", number) for number in range(1, 2000)))
    with pytest.raises(UserError, match=r"2000 requests, too many for a study, whose file has at most 100 kB"):
        many.as_served(dict.fromkeys(many.paths, FINE))


def test_a_page_that_was_sent_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"its document, https://www\.example\.org/, not by GET"):
        page(tmp_path, entry(HOME, request={"method": "POST"}))
