"""Which of a recording's requests load the page, which page it is, and how large its bodies were."""

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.study.sites.har import read_har
from h123.study.sites.page_load import IDLE_S, QUIET_S, RecordedRequest, page_load
from h123.study.sites.recorded_page import recorded_page
from h123.study.sites.site_import import ImportedSite, import_site
from study.shop import HOME, recording


def entry(path: str, at_ms: float, took_ms: float = 40, kind: str | None = "image", **more: Any) -> dict[str, Any]:
    """As Chrome writes it; `kind` None: as programs do that do not name types."""
    mimes = {"document": "text/html", "image": "image/png", "fetch": "application/json", "script": "text/javascript"}
    content = {"size": more.pop("content", 1000), "mimeType": more.pop("mime", mimes.get(kind or "", "text/html"))}
    response = {"status": 200, "headers": [], "content": content, "headersSize": -1, "bodySize": -1}
    when = f"2026-03-01T12:{int(at_ms // 60000):02}:{at_ms % 60000 / 1000:06.3f}Z"
    url = path if "//" in path else HOME + path.lstrip("/")
    made = {"startedDateTime": when, "time": took_ms, "request": {"method": more.pop("method", "GET"), "url": url}}
    named = {} if kind is None else {"_resourceType": kind}
    return {**made, "response": response | more.pop("response", {}), **named, **more}


def written(folder: Path, *entries: dict[str, Any], load_ms: float | None = None, **log: Any) -> Path:
    pages = [{"id": "p1", "title": HOME, "startedDateTime": "2026-03-01T12:00:00Z", "pageTimings": {"onLoad": load_ms}}]
    path = folder / "page.har"
    path.write_text(json.dumps({"log": {"pages": pages, "entries": entries, **log}}))
    return path


def paths(path: Path, page: int | None = None) -> list[str]:
    return [one.url.removeprefix(HOME) for one in read_har(path, page).entries]


def case(folder: Path, name: str, page: int | None = None) -> ImportedSite:
    return import_site(recording(folder, name), "page", page=page)


def lines(found: ImportedSite) -> list[tuple[str, int, int, int]]:
    return [(one.name, one.size, one.count, one.run) for one in found.site.resources]


def test_a_click_is_no_part_of_the_load(tmp_path: Path) -> None:
    clicked, loaded = case(tmp_path, "load-and-click"), case(tmp_path, "load")
    assert lines(clicked) == lines(loaded)
    assert clicked.notes == [
        "Left out: 1 after the page had loaded (the load event at 300 ms and 500 ms without a request; the first, GET "
        "https://shop.test/api/search, at 12 s)."
    ]
    assert loaded.notes == []
    with_click, without = (recorded_page(recording(tmp_path, name)) for name in ("load-and-click", "load"))
    assert [one.run for one in with_click.resources] == [one.run for one in without.resources]
    assert "after the page had loaded" in " ".join(with_click.notes)


def test_days_later_is_no_part_of_the_load(tmp_path: Path) -> None:
    found = case(tmp_path, "days-apart")
    assert [one.name for one in found.site.resources] == ["/", "/app.js"]
    assert "at 144 h 0 min)" in found.notes[0]


def test_pixels_have_the_size_of_their_bodies(tmp_path: Path) -> None:
    found = case(tmp_path, "pixels")
    assert [(one.size, one.count) for one in found.site.resources] == [(8000, 1), (43, 30)]


def test_a_document_that_failed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the page's document failed: https://shop\.test/ has no response"):
        case(tmp_path, "document-failed")


def test_pages_are_chosen_by_number(tmp_path: Path) -> None:
    first, second = case(tmp_path, "second-page"), case(tmp_path, "second-page", 2)
    assert [one.name for one in first.site.resources] == ["/login"]
    assert "page 1 of 2; --page N chooses another: 1 (https://shop.test/, 1 request), 2" in first.notes[0]
    assert len(second.site.loads()) == 5
    assert "The recording has no document: its first request, https://shop.test/home0.png (image)" in second.notes[1]
    with pytest.raises(UserError, match="there is no page 3; it has 2: 1 ") as refused:
        case(tmp_path, "second-page", 3)
    assert refused.value.remedy == "choose one with --page N"


def test_polls_are_left_out(tmp_path: Path) -> None:
    """By a timer of 400 ms, with a query that differs, before silence could end the load."""
    polls = [entry(f"alive?{n}", 400 + 400 * n, kind="fetch") for n in range(30)]
    path = written(tmp_path, entry("", 0, kind="document"), entry("a.png", 60), *polls, load_ms=300)
    assert paths(path) == ["", "a.png"]
    assert read_har(path).left_out == {"again and again at even intervals (GET https://shop.test/alive)": 30}


def test_long_polls_do_not_hold_the_load_open(tmp_path: Path) -> None:
    polls = [entry("wait", 200 + 30_000 * n, 30_000, kind="fetch") for n in range(2)]
    path = written(tmp_path, entry("", 0, kind="document"), *polls, entry("click.png", 20_000), load_ms=300)
    assert paths(path) == ["", "wait"]


def test_without_a_load_event_two_seconds_of_silence_end_it(tmp_path: Path) -> None:
    """As proxies record; a slow answer is no silence."""
    slow = [entry("", 0, 8000, kind=None), entry("a.png", 8100, kind=None, mime="image/png")]
    path = written(tmp_path, *slow, entry("next", 10_500, kind=None), pages=[])
    assert paths(path) == ["", "a.png"]
    assert "after the page had loaded (2 s without a request; the first, GET https://shop.test/next, at 10.5 s)" in (
        read_har(path).left_out
    )


def test_a_load_event_before_the_document_had_come_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, entry("", 0, 3000, kind="document"), entry("a.png", 4500), load_ms=1)
    assert paths(path) == ["", "a.png"]


def test_what_follows_the_load_at_once_belongs_to_it(tmp_path: Path) -> None:
    later = [entry(f"{n}.png", 300 + 400 * n, 50) for n in range(1, 6)]
    assert len(paths(written(tmp_path, entry("", 0, kind="document"), *later, load_ms=300))) == 6


def test_waits_in_the_load_are_said(tmp_path: Path) -> None:
    asked = {"_initiator": {"type": "parser", "url": HOME}}
    path = written(tmp_path, entry("", 0, kind="document"), entry("a.png", 4040, **asked), load_ms=5000)
    assert import_site(path, "page").notes == [
        "Resources that ran over 1 s before requesting others: 1, the longest 4 s (https://shop.test/). This may "
        "include timers and waits for the user: shorten their `run` if so.",
    ]


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry("", 0, kind="document", response={"status": 503})], "returned status 503"),
        ([entry("", 0, kind=None, response={"status": 404})], "returned status 404"),
        (
            [entry("", 0, kind="document", response={"status": 302, "redirectURL": "/in"})],
            "redirects to https://shop.te",
        ),
        (
            [
                entry("", 0, kind=None, response={"status": 301, "redirectURL": f"{HOME}in"}),
                entry("in", 50, kind=None, response={"status": 0}),
                entry("a.png", 90, kind=None, mime="image/png"),
            ],
            f"redirects to {HOME}in, which has no response",
        ),
        ([entry("", 0, kind=None, mime="", response={"status": 0}), entry("a.png", 90)], "has no response (status 0)"),
    ],
)
def test_documents_that_fail_otherwise(tmp_path: Path, entries: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(UserError, match="the page's document failed") as refused:
        read_har(written(tmp_path, *entries))
    assert said in refused.value.message
    assert refused.value.remedy


def test_a_document_that_was_asked_for_twice(tmp_path: Path) -> None:
    """A navigation that was cancelled, and the one that took its place."""
    cancelled = entry("", 0, kind="document", response={"status": 0})
    assert paths(written(tmp_path, cancelled, entry("", 20, kind="document"), entry("a.png", 90))) == ["", "a.png"]


def test_what_came_before_the_document(tmp_path: Path) -> None:
    """Proxies record what the machine does besides; WebPageTest has the checks of certificates."""
    ocsp = entry("http://ocsp.test/", 0, kind=None, method="POST", mime="application/ocsp-response")
    found = read_har(written(tmp_path, ocsp, entry("", 30, kind=None), entry("a.png", 90, kind=None, mime="image/png")))
    assert [one.url for one in found.entries] == [HOME, f"{HOME}a.png"]
    assert found.left_out == {"before the page's document": 1}


def test_requests_without_a_page_belong_to_the_one_that_was_open(tmp_path: Path) -> None:
    pages = [
        {"id": f"p{n}", "title": f"{HOME}{n}?secret=1", "startedDateTime": f"2026-03-01T12:00:0{n}Z"} for n in (0, 5)
    ]
    made = [entry("", 0, kind="document", pageref="p0"), entry("5", 5000, kind="document", pageref="p5")]
    path = written(tmp_path, *made, entry("a.png", 5100), entry("b.png", 100), pages=pages)
    assert paths(path) == ["", "b.png"]
    assert paths(path, 2) == ["5", "a.png"]
    assert "secret" not in " ".join(read_har(path).notes)
    unlisted = written(tmp_path, entry("", 0, pageref="x"), entry("b", 10, kind="document", pageref="y"), pages=[])
    assert paths(unlisted, 2) == ["b"]


LENGTH = [{"name": "Content-Length", "value": "1000"}]
GZIP = [{"name": "content-encoding", "value": "gzip"}]
PLAIN = [{"name": "content-type", "value": "image/png"}]
SIZES = [
    ({"headers": LENGTH, "_transferSize": 1250}, 1000),
    ({"headers": LENGTH, "_transferSize": 0}, 1000),
    ({"headers": LENGTH, "bodySize": 1250, "_transferSize": 1250}, 1000),
    ({"headers": LENGTH, "bodySize": 1300, "headersSize": 300}, 1000),
    ({"headers": [*LENGTH, *GZIP], "content": {"size": 5000, "compression": 3000}}, 1000),
    ({"headers": LENGTH, "bodySize": 400, "content": {"size": 400}}, 400),
    ({"headers": LENGTH, "bodySize": 0, "status": 304, "content": {"size": 800}}, 800),
    ({"headers": [{"name": "content-length", "value": "many"}], "bodySize": 900}, 900),
    ({"headers": PLAIN, "_transferSize": 1250}, 1000),
    ({"headers": PLAIN, "_transferSize": 90_000, "headersSize": 100}, 89_900),
    ({"headers": GZIP, "_transferSize": 700}, 700),
    ({"headers": GZIP, "_transferSize": 700, "headersSize": 200}, 500),
    ({"bodySize": -1, "content": {"size": -1}}, None),
]


@pytest.mark.parametrize(("response", "size"), SIZES)
def test_sizes(tmp_path: Path, response: dict[str, Any], size: int | None) -> None:
    path = written(tmp_path, entry("", 0, kind="document"), entry("a", 60, response=response))
    assert read_har(path).entries[1].size == size


BAD = [
    ("entries[1].response.bodySize", {"response": {"bodySize": 1e308}}, "at most 100000000000 bytes, found 1e+308"),
    ("entries[1].response.bodySize", {"response": {"bodySize": 10**400}}, "found a huge number"),
    ("entries[1].response.bodySize", {"response": {"bodySize": [1]}}, "expected a number, found [1]"),
    ("entries[1].response._transferSize", {"response": {"_transferSize": "1e308"}}, "found '1e308'"),
    ("entries[1].response.content.size", {"response": {"content": {"size": True}}}, "found True"),
    ("entries[1]._bytesIn", {"_bytesIn": float("inf")}, "found inf"),
    ("entries[1].response.status", {"response": {"status": 1e9}}, "at most 999"),
    (
        "entries[1].response.headers.content-length",
        {"response": {"headers": [{**LENGTH[0], "value": "9" * 30}]}},
        "999",
    ),
    ("entries[1].time", {"time": 1e308}, "at most 86400000 ms (a day)"),
    ("entries[1].startedDateTime", {"startedDateTime": "0001-01-01T00:00:00+23:59"}, "between 1970 and 2200"),
    ("entries[1].startedDateTime", {"startedDateTime": "9999-12-31T23:59:59-23:59"}, "between 1970 and 2200"),
    ("entries[1].startedDateTime", {"startedDateTime": "yesterday"}, "a date such as 2026-05-01T10:00:00.000Z"),
    ("entries[1].startedDateTime", {"startedDateTime": 12}, "a date such as"),
]


@pytest.mark.parametrize(("key", "more", "said"), BAD)
def test_values_that_cannot_be_are_refused_with_entry_and_key(
    tmp_path: Path, key: str, more: dict[str, Any], said: str
) -> None:
    path = written(tmp_path, entry("", 0, kind="document"), entry("a.png", 60, **more))
    for read in (lambda: import_site(path, "page"), lambda: recorded_page(path)):
        with pytest.raises(UserError) as refused:
            read()
        assert refused.value.message.startswith(f"{path}: log.{key}: expected")
        assert said in refused.value.message
        assert refused.value.remedy


def test_a_load_event_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"log\.pages\[0\]\.pageTimings\.onLoad: expected a number of at most"):
        read_har(written(tmp_path, entry("", 0), load_ms=1e308))


def test_other_hosts_are_named_with_their_share(tmp_path: Path) -> None:
    made = [entry("", 0, kind="document", content=2000), entry("a.png", 60, content=1000)]
    made += [entry(f"https://cdn.test/{n}.png", 70 + n, content=3000) for n in range(2)]
    path = written(tmp_path, *made, entry("https://ads.test/x?u=1", 80, content=1000), load_ms=200)
    assert recorded_page(path).notes == [
        "Left out: 3 requests of other hosts, 70 % of the page's bytes: cdn.test (2 requests, 6 kB, 60 % of the "
        "bytes), ads.test (1 request, 1 kB, 10 % of the bytes). --hosts all asks this server for them too"
    ]
    whole = recorded_page(path, every_host=True)
    assert (whole.notes, whole.paths) == ([], ("/", "/a.png", "/0.png", "/1.png", "/x?u=1"))


TIMES = st.lists(st.tuples(st.floats(0, 60), st.floats(0, 20)), min_size=1, max_size=20)


@given(TIMES, st.none() | st.floats(0, 30))
def test_a_load_is_without_long_silence(times: list[tuple[float, float]], on_load: float | None) -> None:
    asked = [
        RecordedRequest(start, start + took, str(index), False) for index, (start, took) in enumerate(sorted(times))
    ]
    load = page_load(asked, on_load)
    kept = [one for index, one in enumerate(asked) if index not in load.late]
    silence = QUIET_S if on_load is None else IDLE_S
    busy = asked[0].start if on_load is None else on_load
    for one in kept:
        assert one.start <= busy + silence
        busy = max(busy, one.end)
    assert not load.polls
    assert all(asked[index].start > busy + silence for index in load.late)


FORGED = [None, True, -1, 1e308, 10**400, "", "x", "\ud800", "9" * 400, [], [[]], {}, "0001-01-01T00:00:00+23:59"]


def places(node: object, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Keys, and the first of each list."""
    inner = (
        list(node.items()) if isinstance(node, dict) else list(enumerate(node))[:1] if isinstance(node, list) else []
    )
    return [one for key, value in inner for one in [(*above, key), *places(value, (*above, key))]]


def test_forged_values_are_refused_in_a_sentence_or_not_known(tmp_path: Path) -> None:
    """Every key of a recording times values that it cannot have."""
    text = recording(tmp_path, "load").read_text()
    for place, value in itertools.product(places(json.loads(text)), FORGED):
        whole = part = json.loads(text)
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        path = tmp_path / "forged.har"
        path.write_text(json.dumps(whole))
        for read in (partial(import_site, name="page"), recorded_page):
            said = str(path)
            try:
                read(path)
            except UserError as refused:
                said = refused.message
            assert said.startswith(str(path)), (place, value)
