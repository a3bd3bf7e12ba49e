"""Shapes in which programs write recordings, each with what its fields mean there."""

import json
from pathlib import Path
from typing import Any

import pytest

from h123.study.sites.har import read_har

HOME = "https://shop.test/"


def header(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def entry(url: str, second: float, response: dict[str, Any], mime: str, size: int, **more: Any) -> dict[str, Any]:
    content = {"size": size, "mimeType": mime, **response.pop("content", {})}
    made = {"status": 200, "headers": [], "redirectURL": "", "headersSize": -1, "bodySize": -1, "content": content}
    when = more.pop("when", f"2026-03-01T12:00:{second:06.3f}Z")
    request = {"method": "GET", "url": url, "headers": []}
    return {"startedDateTime": when, "time": 40, "request": request, "response": made | response, **more}


PROGRAMS: dict[str, tuple[list[dict[str, Any]], list[int | None]]] = {
    # The size of the body is that of all frames of the stream, headers included; of the headers nothing is known.
    "chrome-har": (
        [
            entry(HOME, 0, {"bodySize": 2300, "_transferSize": 2300, "headers": [header("content-encoding", "br")]},
                  "text/html", 9000, _resourceType="document"),
            entry(f"{HOME}a.png", 0.1, {"bodySize": 1250, "_transferSize": 1250,
                  "headers": [header("content-length", "1000")]}, "image/png", 1000, _resourceType="image"),
        ],
        [2300, 1000],
    ),
    # Sizes are of the body alone, and headers have a size of their own.
    "Playwright": (
        [
            entry(HOME, 0, {"bodySize": 2000, "headersSize": 300, "_transferSize": 2300}, "text/html", 9000,
                  pageref="page@1", _monotonicTime=1.0),
            entry(f"{HOME}a.json", 0.1, {"bodySize": 0, "headersSize": 90, "_transferSize": 90}, "application/json", 0),
        ],
        [2000, 0],
    ),
    # A time zone of the machine, seconds with seven digits, content that is unpacked, its saving beside it.
    "Fiddler": (
        [
            entry(HOME, 0, {"bodySize": 2000, "content": {"compression": 7000}}, "text/html", 9000,
                  when="2026-03-01T14:00:00.1234567+02:00"),
            entry(f"{HOME}a.png", 0, {"bodySize": 1000}, "image/png", 1000, when="2026-03-01T14:00:00.2234567+02:00"),
        ],
        [2000, 1000],
    ),
    # Unpacked content; what compression saved is negative where it made the body larger.
    "mitmproxy": (
        [
            entry(HOME, 0, {"bodySize": 2000, "headersSize": 200, "content": {"compression": 7000}}, "text/html", 9000),
            entry(f"{HOME}a", 0.1, {"bodySize": 60, "headersSize": 200, "content": {"compression": -20}}, "font/woff2",
                  40),
        ],
        [2000, 60],
    ),
    # An older form of time zones; whole files from the cache with their size.
    "Firebug": (
        [
            entry(HOME, 0, {"bodySize": 2000, "headersSize": 300, "headers": [header("Content-Length", "2000")]},
                  "text/html", 9000, when="2026-03-01T13:00:00.000+0100"),
            entry(f"{HOME}a.png", 0, {"status": 304, "bodySize": 800, "headersSize": 90}, "image/png", 800,
                  when="2026-03-01T13:00:00.100+0100"),
        ],
        [2000, 800],
    ),
    # No page, no type, nothing but the content's size.
    "Insomnia REST Client": ([entry(HOME, 0, {}, "text/html; charset=utf-8", 900)], [900]),
    # Whole messages are counted.
    "Internet Explorer Network Inspector": (
        [entry(HOME, 0, {"bodySize": 2400, "headersSize": 400, "headers": [header("Content-Length", "2000")]},
               "text/html", 2000)],
        [2000],
    ),
    # Puppeteer's add-ons write whole transfers, and no size of the body at all.
    "Chrome HAR Capturer": (
        [entry(HOME, 0, {"_transferSize": 2300, "headersSize": 300}, "text/html", 9000, _resourceType="Document")],
        [2000],
    ),
    "Postman": (
        [entry(HOME, 0, {"bodySize": 0, "headers": [header("Content-Length", "700")]}, "text/html", 700)],
        [700],
    ),
    "HttpWatch": (
        [entry(HOME, 0, {"bodySize": 2000, "headersSize": 300, "content": {"compression": 0}}, "text/html", 2000,
               when="2026-03-01T04:00:00.000-08:00")],
        [2000],
    ),
}  # fmt: skip


def written(folder: Path, program: str, entries: list[dict[str, Any]]) -> Path:
    path = folder / f"{program.replace(' ', '-')}.har"
    path.write_text(json.dumps({"log": {"creator": {"name": program, "version": "1"}, "entries": entries}}))
    return path


@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_and_page_of_each(tmp_path: Path, program: str) -> None:
    entries, sizes = PROGRAMS[program]
    found = read_har(written(tmp_path, program, entries))
    assert [entry.size for entry in found.entries] == sizes
    assert found.entries[found.document].url == HOME
    assert found.source.endswith(f"recorded by {program} 1 on 2026-03-01")
    assert not found.left_out
