"""Recordings of a shop's pages, as Chrome writes them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HOME = "https://shop.test/"
BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIMES = {"document": "text/html", "script": "text/javascript", "stylesheet": "text/css", "fetch": "application/json"}
Request = tuple[str, int, int, str, int]
"""Path, start and duration (ms), type, and bytes of the body; 0: it failed."""
DOCUMENT: Request = ("", 0, 60, "document", 8000)
APP: Request = ("app.js", 70, 80, "script", 90_000)
LOAD: list[Request] = [
    DOCUMENT,
    APP,
    ("style.css", 70, 50, "stylesheet", 20_000),
    ("widget.js", 70, 70, "script", 30_000),
    ("api/items", 200, 40, "fetch", 5000),
]
RECORDINGS: dict[str, list[list[Request]]] = {
    "load": [LOAD],
    "load-and-click": [[*LOAD, ("api/search", 12_000, 40, "fetch", 3000)]],
    "days-apart": [[DOCUMENT, APP, ("api/items", 6 * 86_400_000, 40, "fetch", 5000)]],
    "document-failed": [[("", 0, 10, "document", 0), ("logo.png", 100, 20, "image", 9000)]],
    "pixels": [[DOCUMENT, *((f"p{n}.gif", 100, 20, "image", 43) for n in range(30))]],
    "second-page": [
        [("login", 0, 40, "document", 900)],
        [(f"home{n}.png", 6000, 30, "image", 20_000) for n in range(5)],
    ],
}
"""The requests of each page."""


def recording(folder: Path, name: str) -> Path:
    """Write one of RECORDINGS as a HAR file, and return its path."""
    path = folder / f"{name}.har"
    path.write_text(har(name))
    return path


def har(name: str) -> str:
    """Return one of RECORDINGS in the format HAR."""
    loaded = {"title": HOME, "startedDateTime": BEGAN.isoformat(), "pageTimings": {"onContentLoad": 150, "onLoad": 300}}
    pages = {f"page_{number}": requests for number, requests in enumerate(RECORDINGS[name], 1)}
    log = {
        "version": "1.2",
        "creator": {"name": "WebInspector", "version": "537.36"},
        "pages": [{"id": page, **loaded} for page in pages],
        "entries": [_entry(page, *request) for page, requests in pages.items() for request in requests],
    }
    return json.dumps({"log": log})


def _entry(page: str, path: str, at_ms: int, took_ms: int, kind: str, size: int) -> dict[str, Any]:
    by: dict[str, Any] = {"type": "parser", "url": HOME, "lineNumber": 3}
    if kind == "document":
        by = {"type": "other"}
    elif kind == "fetch":
        script = HOME + ("widget.js" if path == "api/search" else "app.js")
        by = {"type": "script", "stack": {"callFrames": [{"url": script, "lineNumber": 1, "columnNumber": 1}]}}
    return {
        "startedDateTime": (BEGAN + timedelta(milliseconds=at_ms)).isoformat(),
        "time": took_ms,
        "pageref": page,
        "_resourceType": kind,
        "_initiator": by,
        "request": {"method": "GET", "url": HOME + path, "httpVersion": "h2", "headers": []},
        "response": {
            "status": 200 if size else 0,
            "httpVersion": "h2",
            "headers": [{"name": "content-length", "value": str(size)}],
            "content": {"size": size, "mimeType": MIMES.get(kind) or f"image/{path[-3:]}"},
            "_transferSize": size and size + 250,
        },
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
    }
