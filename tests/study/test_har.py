"""Recorded pages become sites: as Chrome, Firefox, Safari, WebPageTest and Charles write them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.study.sites.site import read_site
from h123.study.sites.site_import import ImportedSite, import_site

HOME = "https://www.example.org/"
GZIP = [{"name": "Content-Encoding", "value": "gzip"}]


def entry(url: str, at_ms: int = 0, took_ms: float = 50, **more: Any) -> dict[str, Any]:
    """What all have; of `more`, `response` and `request` go into these, the rest beside them."""
    content = {"size": more.pop("content", 0), "mimeType": more.pop("mime", "text/html")}
    request = {"method": "GET", "url": url, "headers": [], **more.pop("request", {})}
    response = {"status": 200, "headers": [], "content": content, "redirectURL": "", "headersSize": -1, "bodySize": -1}
    response |= more.pop("response", {})
    when = f"2026-05-01T10:00:{at_ms / 1000:06.3f}Z"
    return {"startedDateTime": when, "time": took_ms, "request": request, "response": response, **more}


def har(*entries: dict[str, Any], creator: str = "WebInspector", **more: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": creator, "version": "537.36"}, "entries": entries, **more}}


def imported(tmp_path: Path, what: object, *, apart: bool = False) -> ImportedSite:
    """What becomes of it; its file says the same."""
    path = tmp_path / "page.har"
    path.write_text(json.dumps(what))
    found = import_site(path, "page", apart=apart)
    (tmp_path / "page.yaml").write_text(found.text)
    assert read_site(tmp_path / "page.yaml")[1] == found.site
    return found


def told(found: ImportedSite) -> list[tuple[str, str, int, str | None]]:
    return [(one.name, one.type, one.size, one.by) for one in found.site.resources]


def chrome(url: str, at_ms: int, kind: str, sent: int, initiator: dict[str, Any] | None = None, **more: Any) -> Any:
    """Chrome over HTTP/2: no size of headers, bodySize is the transfer's less that of headers."""
    response = {"bodySize": sent, "_transferSize": sent, **more.pop("response", {})}
    given = {"_initiator": initiator or {"type": "other"}, "_resourceType": kind, "_priority": "High", **more}
    return entry(url, at_ms, response=response, **given)


def test_chrome(tmp_path: Path) -> None:
    """Redirects, stacks of calls with those that led to them, caches, data:, aborted requests, WebSockets, beacons."""
    script = "https://www.example.org/app.js?v=1"
    frames = {"callFrames": [], "parent": {"callFrames": [{"url": "extension.js"}, {"url": script}]}}
    by_script = {"type": "script", "stack": frames}
    parsed = {"type": "parser", "url": HOME + "#top", "lineNumber": 3}
    found = imported(
        tmp_path,
        har(
            chrome("http://example.org/", 0, "document", 0, response={"status": 301, "redirectURL": HOME}),
            chrome(HOME, 100, "document", 9000, _priority="VeryHigh"),
            chrome(script, 160, "script", 30_000, parsed, took_ms=100),
            chrome(f"{HOME}hero.png", 165, "image", 70_000, parsed, _priority="Low"),
            chrome("https://api.example.net/items?page=1", 300, "fetch", 500, by_script),
            chrome("https://api.example.net/items?page=2", 400, "xhr", 600, by_script),
            chrome(f"{HOME}logo.png", 410, "image", 0, parsed, content=4000, response={"_transferSize": 0}),
            chrome("data:image/png;base64,AAAA", 420, "image", 0, parsed),
            chrome("https://ads.example.com/a.js", 430, "script", 0, parsed, response={"status": 0}),
            chrome("wss://www.example.org/live", 440, "websocket", 0, by_script, response={"status": 101}),
            chrome("https://www.example.org/beacon", 450, "ping", 0, by_script, request={"method": "POST"}),
        ),
    )
    assert told(found) == [
        ("/", "document", 1, None),
        ("//www.example.org/", "document", 9000, "/"),
        ("//www.example.org/app.js", "script", 30_000, "//www.example.org/"),
        ("//www.example.org/hero.png", "image", 70_000, "//www.example.org/"),
        ("//api.example.net/items", "data", 500, "//www.example.org/app.js"),
        ("//api.example.net/items#2", "data", 600, "//www.example.org/app.js"),
        ("//www.example.org/logo.png", "image", 4000, "//www.example.org/"),
        ("//www.example.org/beacon", "other", 1, "//www.example.org/app.js"),
    ]
    assert [one.urgency for one in found.site.resources] == [1, None, None, None, None, None, 1, 1]
    # The document's last byte was at 150 ms, its first request at 160; the script's at 260, its first at 300.
    assert [one.run / 1e6 for one in found.site.resources] == [0, 10, 40, 0, 0, 0, 0, 0]
    assert found.notes == [
        "The site has one host instead of 3: www.example.org (5 requests, 113 kB, 99 % of the bytes), api.example.net "
        "(2 requests, 1.1 kB, 0.96 % of the bytes), example.org (1 request, 0 B, 0 % of the bytes).",
        "Left out: 1 that took no network (data:, blob:, extensions), 1 without a response (aborted, blocked, failed), "
        "1 of WebSockets.",
        "Requests by other methods, made with GET and no body here: 1.",
        "Responses from a cache, which each visit loads here: 1.",
        "Sizes that include headers, because no other was recorded: 5.",
        "Uncompressed sizes, because no other was recorded: 1.",
        "Resources without a body, which have 1 byte here: 2.",
    ]
    assert "page=1" not in found.text


def test_hosts_that_are_kept_apart(tmp_path: Path) -> None:
    """Each but the page's has a label, made of its name; who would have another's is numbered, even if it is long."""
    long = "a" * 61
    hosts = [
        "api.example.net",
        "api-example-net",
        "api.example.net:8443",
        "me@api.example.net",
        f"{long}.b.c",
        f"{long}.b-c",
    ]
    others = [entry(f"https://{host}/{index}", index, content=10) for index, host in enumerate(hosts, 1)]
    found = imported(tmp_path, har(entry(HOME, content=10), *others, entry(f"{HOME}a", 9, content=10)), apart=True)
    assert [one.host for one in found.site.resources] == [
        None,
        "api-example-net",
        "api-example-net-2",
        "api-example-net-8443",
        "api-example-net",
        f"{long}-b",
        f"{long}-2",
        None,
    ]
    assert found.notes[0].startswith(
        "The site keeps 6 hosts: api-example-net was api.example.net, api-example-net-2 was"
    )
    alone = imported(tmp_path, har(entry(HOME, content=10), entry(f"{HOME}a", 9, content=10)), apart=True)
    assert (alone.site.hosts, [note for note in alone.notes if "hosts" in note]) == ([], [])


def test_resources_of_two_hosts_are_not_alike(tmp_path: Path) -> None:
    pictures = [f"https://{host}.example.net/{n}.png" for host in ("a", "b") for n in (1, 2)]
    shown = [entry(url, n, mime="image/png", content=5) for n, url in enumerate(pictures, 1)]
    found = imported(tmp_path, har(entry(HOME, content=10), *shown), apart=True)
    told_of = [(one.host, one.count) for one in found.site.resources]
    assert told_of == [(None, 1), ("a-example-net", 2), ("b-example-net", 2)]
    assert [one.count for one in imported(tmp_path, har(entry(HOME, content=10), *shown)).site.resources] == [1, 4]


DATE = {"Date": "Fri, 01 May 2026 10:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "more", "cacheable"),
    [
        ({"Cache-Control": "max-age=60"}, {}, True),
        ({"cache-control": "private, Max-Age=31536000, immutable"}, {}, True),
        ({"cache-control": 'max-age="60"'}, {"status": 304}, True),
        ({"cache-control": "max-age=60"}, {"status": 301, "redirectURL": ""}, True),
        ({"cache-control": "max-age=60"}, {"status": 404}, False),
        ({"cache-control": "max-age=0"}, {}, False),
        ({"cache-control": "max-age=60, no-store"}, {}, False),
        ({"cache-control": "no-cache, max-age=60"}, {}, False),
        ({"cache-control": "s-maxage=60"}, {}, False),
        ({"cache-control": "public"}, {}, False),
        ({"cache-control": "max-age=soon"}, {}, False),
        ({"cache-control": "max-age=60", "age": "60"}, {}, False),
        ({"cache-control": "max-age=60", "age": "59"}, {}, True),
        ({"cache-control": "max-age=60", "vary": "*"}, {}, False),
        ({"cache-control": "max-age=60", "vary": "accept-encoding"}, {}, True),
        ({**DATE, "Expires": "Fri, 01 May 2026 11:00:00 GMT"}, {}, True),
        ({**DATE, "Expires": "Fri, 01 May 2026 11:00:00 GMT", "cache-control": "max-age=0"}, {}, False),
        ({**DATE, "Expires": "Fri, 01 May 2026 09:00:00 GMT"}, {}, False),
        ({**DATE, "Expires": "0"}, {}, False),
        ({"Expires": "Fri, 01 May 2026 11:00:00 GMT"}, {}, False),
        ({"last-modified": "Fri, 01 May 2020 11:00:00 GMT", "etag": "x"}, {}, False),
        ({}, {}, False),
    ],
)
def test_what_a_returning_visitor_has(
    tmp_path: Path, headers: dict[str, str], more: dict[str, Any], cacheable: bool
) -> None:
    """RFC 9111: what says of itself for how long it is fresh."""
    written = [{"name": name, "value": value} for name, value in headers.items()]
    answer = {"headers": written, **more}
    found = imported(tmp_path, har(entry(HOME, content=10), entry(f"{HOME}a", 9, content=10, response=answer)))
    assert [one.cacheable for one in found.site.resources] == [False, cacheable]
    posted = entry(f"{HOME}a", 9, content=10, response=answer, request={"method": "POST"})
    assert not imported(tmp_path, har(entry(HOME, content=10), posted)).site.resources[1].cacheable


def test_a_header_may_be_in_several_lines(tmp_path: Path) -> None:
    lines = [{"name": "Cache-Control", "value": value} for value in ("max-age=60", "no-store")]
    kept = entry(f"{HOME}a", 9, content=10, response={"headers": lines[:1]})
    not_kept = entry(f"{HOME}b", 10, content=10, response={"headers": lines})
    found = imported(tmp_path, har(entry(HOME, content=10), kept, not_kept))
    assert [one.cacheable for one in found.site.resources] == [False, True, False]


def test_chrome_sizes_without_those_of_headers(tmp_path: Path) -> None:
    """Over HTTP/1.1 the transfer has headers of a known size; exported by an extension, bodySize is -1."""
    sizes = {"headersSize": 300, "bodySize": -1, "_transferSize": 1300}
    assert told(imported(tmp_path, har(entry(HOME, content=5000, response=sizes)))) == [("/", "document", 1000, None)]


def test_firefox(tmp_path: Path) -> None:
    """No initiators: the Referer tells some; a request that was blocked has no size; two answers are 304."""
    style = f"{HOME}main.css"
    from_style = {"headers": [{"name": "Referer", "value": style}]}
    from_home = {"headers": [{"name": "referer", "value": HOME}]}
    length = [{"name": "content-length", "value": "2500"}]
    found = imported(
        tmp_path,
        har(
            entry(HOME, 0, mime="text/html; charset=utf-8", content=40_000, response={"bodySize": 8000}),
            entry(style, 60, mime="text/css", request=from_home, response={"bodySize": 3000}, content=9000),
            entry(f"{HOME}a.woff2", 120, mime="font/woff2", request=from_style, response={"bodySize": 20_000}),
            entry(f"{HOME}b.svg", 130, mime="image/svg+xml", content=700, response={"status": 304, "bodySize": 0}),
            entry(f"{HOME}c.js", 140, mime="application/x-javascript", content=9, response={"headers": length}),
            entry(f"{HOME}d.js", 150, mime="", response={"status": 0, "bodySize": 0}, time=-1),
            creator="Firefox",
        ),
    )
    assert told(found) == [
        ("/", "document", 8000, None),
        ("/main.css", "style", 3000, "/"),
        ("/a.woff2", "font", 20_000, "/main.css"),
        ("/b.svg", "image", 700, "/"),
        ("/c.js", "script", 2500, "/"),
    ]
    assert "Requests whose cause is known only from their Referer: 2." in found.notes
    assert "Requests without a recorded cause, made by the document here: 2." in found.notes


def test_safari(tmp_path: Path) -> None:
    """No initiators, sizes of -1, and gzip: the content's size is all there is; or nothing is."""
    unknown = entry(f"{HOME}x.js", 90, mime="text/javascript")
    unknown["response"]["content"]["size"] = -1
    found = imported(
        tmp_path,
        har(
            entry(HOME, 0, content=8000, response={"headers": GZIP}),
            entry(f"{HOME}a.css", 80, mime="text/css", content=3000),
            unknown,
            creator="WebKit Web Inspector",
            pages=[{"id": "page_0", "title": "Examples – all of them\u0007\ud83d"}],
        ),
    )
    assert told(found) == [("/", "document", 8000, None), ("/a.css", "style", 3000, "/"), ("/x.js", "script", 1, "/")]
    assert found.notes == [
        "Uncompressed sizes, because no other was recorded: 1.",
        "Resources of unknown size, which have 1 byte here: 1.",
        "Requests without a recorded cause, made by the document here: 2.",
    ]
    assert 'title: "Examples – all of them"' in found.text


def test_webpagetest(tmp_path: Path) -> None:
    """Initiators are URLs, numbers are text, sizes are fields of its own; repeat views are further pages."""
    given = {"pageref": "page_1_0_1", "_initiator": ""}
    found = imported(
        tmp_path,
        har(
            entry(HOME, 0, _bytesIn="9400", _objectSize="9000", _priority="Highest", **given),
            entry(f"{HOME}a.js", 70, mime="text/javascript", _bytesIn="1300", response={"headersSize": 300}, **given),
            entry(f"{HOME}b.js", 90, mime="text/javascript", _bytesIn=800, **{**given, "_initiator": f"{HOME}a.js"}),
            entry(HOME, 5000, _objectSize="", pageref="page_1_1_1"),
            creator="WebPagetest",
            pages=[{"id": "page_1_0_1", "title": "Run 1"}, {"id": "page_1_1_1", "title": "Run 1, repeat view"}],
        ),
    )
    assert told(found) == [
        ("/", "document", 9000, None),
        ("/a.js", "script", 1000, "/"),
        ("/b.js", "script", 800, "/a.js"),
    ]
    assert "Left out: 1 of other pages." in found.notes


def test_charles(tmp_path: Path) -> None:
    """Requests in the order of their ends, the tunnel too; bodySize -1, what gzip saved beside the content's size."""
    packed = entry(HOME, 10, response={"headers": GZIP})
    packed["response"]["content"] = {"size": 10_000, "compression": 7000, "mimeType": "text/html"}
    found = imported(
        tmp_path,
        har(
            entry(f"{HOME}a.png", 80, mime="image/png", content=5000),
            packed,
            entry("http://www.example.org:443/", 0, request={"method": "CONNECT"}),
            creator="Charles Proxy",
        ),
    )
    assert told(found) == [("/", "document", 3000, None), ("/a.png", "image", 5000, "/")]
    assert "recorded by Charles Proxy 537.36 on 2026-05-01" in found.text


def test_alike_in_a_row_are_one_line(tmp_path: Path) -> None:
    images = [entry(f"{HOME}{n}.png", 60 + n, mime="image/png", response={"bodySize": 43}) for n in range(20)]
    found = imported(tmp_path, har(entry(HOME, 0), *images))
    assert [one.count for one in found.site.resources] == [1, 20]


def test_a_redirect_s_target_asks_for_what_nobody_said(tmp_path: Path) -> None:
    moved = {"status": 302, "redirectURL": "/home"}
    found = imported(tmp_path, har(entry(HOME, 0, response=moved), entry(f"{HOME}home", 60), entry(f"{HOME}a", 120)))
    assert [one.by for one in found.site.resources] == [None, "/", "/home"]


def test_names_that_are_not_plain(tmp_path: Path) -> None:
    """Long, not ASCII, or of signs that YAML reads otherwise."""
    urls = [f"{HOME}{'x' * 3000}", f"{HOME}ä {{b}}: #c", f"{HOME}[1,2]&*!", f"{HOME}\udc80"]
    found = imported(tmp_path, har(entry(HOME, 0), *[entry(url, 60 + n) for n, url in enumerate(urls)]))
    assert len(found.site.loads()) == 5


ONE = entry(HOME)
REFUSED = [
    ('{"log": {\n"entries": [\n}', ":3: not JSON, so not a HAR"),
    ("[" * 100_000, "nested too deeply"),
    ("[]", "expected an object with `log` at the top, found []"),
    ('{"entries": []}', "found keys 'entries'"),
    ('{"log": {}}', "log.entries: expected a list of requests, found None"),
    ('{"log": {"entries": []}}', "log.entries is empty"),
    ('{"log": {"entries": [7]}}', "log.entries[0]: expected an object, found 7"),
    ('{"log": {"entries": [{"request": {}}]}}', "log.entries[0].response: expected an object"),
    ('{"log": {"entries": [{"request": {}, "response": {}}]}}', "log.entries[0].request.url: expected an address"),
    (json.dumps(har(entry("data:,"), entry(HOME, response={"status": 0}))), "none of its 2 requests"),
    (json.dumps(har(entry("http://[/"))), "1 without a host"),
    (json.dumps(har(*[ONE] * 10_001)), "10001 requests; a page has at most 10000"),
]


@pytest.mark.parametrize(("text", "fault"), REFUSED, ids=[fault for _, fault in REFUSED])
def test_what_is_no_page_is_refused_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "page.har"
    path.write_text(text)
    with pytest.raises(UserError) as refused:
        import_site(path, "page")
    assert refused.value.message.startswith(str(path))
    assert fault in refused.value.message


def test_a_page_too_varied_for_a_file_is_refused(tmp_path: Path) -> None:
    """No site's file may be larger than any other that people write."""
    many = [entry(f"{HOME}{n}.png", 60, mime="image/png", response={"bodySize": n + 1}) for n in range(9999)]
    with pytest.raises(UserError, match="10000 resources that differ"):
        imported(tmp_path, har(entry(HOME, 0), *many))


def _calls(what: object, tmp_path: Path) -> int:
    """Of functions, Python's and C's, in an import."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    path = tmp_path / "page.har"
    path.write_text(json.dumps(what))
    sys.setprofile(profile)
    try:
        import_site(path, "page")
    finally:
        sys.setprofile(None)
    return count


def test_ten_thousand_requests_cost_ten_times_a_thousand(tmp_path: Path) -> None:
    """Each asked for by the one before it, and all of one address: the deepest page and the most doubles."""

    def chain(count: int) -> object:
        one = {"mime": "image/png", "response": {"bodySize": 43}, "_initiator": HOME}
        return har(*[entry(HOME, number % 10_000, **one) for number in range(count)])

    small, large = _calls(chain(100), tmp_path), _calls(chain(1000), tmp_path)
    assert large < 11 * small
