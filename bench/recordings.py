"""Imports every HAR file below a folder, and checks the result against the file's raw content.

    PYTHONPATH=src .venv/bin/python bench/recordings.py FOLDER [--each]

For each program that wrote recordings, it counts the files that import with the right sizes, page and hosts, the files
that are refused (with --each it prints why), and the files that import wrongly. It computes what is right from the raw
JSON, in a different way than `h123 site import`:

- a size is the content-length, or is between the smallest and the largest size that the file gives;
- the document is the first answer with status 2xx in HTML, or the one that most requests refer to;
- requests that began before the load event are included, and requests that began long after the last of these are not.

Files with the same bytes count once.
"""

import argparse
import datetime as dt
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from h123.base.errors import UserError
from h123.study.sites.har import Recording, read_har
from h123.study.sites.har_entry import HarEntry

HEAD = 8192
"""The bytes by which a size that a program counted may exceed the body's size."""
LONG_S = 30.0
"""The longest silence of a page after its load event, in seconds."""
Raw = Mapping[str, Any]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("folder", type=Path)
    asked.add_argument("--each", action="store_true", help="a line for each file")
    given = asked.parse_args()
    table, seen = defaultdict[str, Counter[str]](Counter), set[str]()
    for path in sorted(path for path in given.folder.rglob("*") if path.is_file()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in seen:
            continue
        seen.add(digest)
        raw = _raw(path)
        outcome, why = _outcome(path, raw)
        table[_producer(raw)][outcome] += 1
        if given.each or outcome == "wrong":
            print(f"{outcome:9} {path.name[:60]:60} {why}")
    print(f"{'written by':40} imported  refused  wrong")
    for name, counts in sorted(table.items()):
        print(f"{name[:40]:40} {counts['imported']:8} {counts['refused']:8} {counts['wrong']:6}")
    total = sum(table.values(), Counter())
    print(f"{'all':40} {total['imported']:8} {total['refused']:8} {total['wrong']:6}")
    return 1 if total["wrong"] else 0


def _raw(path: Path) -> Raw:
    try:
        whole = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return whole if isinstance(whole, dict) else {}


def _producer(raw: Raw) -> str:
    creator = (raw.get("log") or {}).get("creator") if isinstance(raw.get("log"), dict) else None
    return str((creator or {}).get("name") or "no name") if raw else "not JSON"


def _outcome(path: Path, raw: Raw) -> tuple[str, str]:
    try:
        recording = read_har(path)
    except UserError as refused:
        fault = _wrongly_refused(raw)
        return ("wrong", f"refused: {refused.message}: {fault}") if fault else ("refused", refused.message)
    faults = list(_faults(recording, raw["log"]))
    return ("wrong", "; ".join(faults[:3])) if faults else ("imported", f"{len(recording.entries)} requests")


def _wrongly_refused(raw: Raw) -> str:
    """Return why it is wrong to refuse the file: its first request for a document was answered. Empty if it is
    right."""
    entries = [one for one in (raw.get("log") or {}).get("entries") or [] if isinstance(one, dict)]
    answered = [one for one in entries if _document(one)]
    first = next((one for one in entries if str((one.get("request") or {}).get("url")).startswith("http")), None)
    return "its first request is an answered document" if answered and answered[0] is first else ""


def _document(one: Raw) -> bool:
    response = one.get("response") or {}
    html = "html" in str((response.get("content") or {}).get("mimeType"))
    return html and isinstance(response.get("status"), int) and 200 <= response["status"] < 300


def _faults(recording: Recording, log: Raw) -> Iterator[str]:
    of = {(one["request"]["url"].partition("#")[0], _start(one)): one for one in log["entries"]}
    for entry in recording.entries:
        one = of.get((entry.url, entry.start)) or next(
            one for one in log["entries"] if urldefrag(one["request"]["url"]).url == entry.url
        )
        if fault := _wrong_size(entry, one):
            yield f"{entry.url[:80]} {fault}"
    page = [one for one in log["entries"] if one.get("pageref") == log["entries"][0].get("pageref") and _counts(one)]
    document = recording.entries[recording.document]
    answered = [urldefrag(one["request"]["url"]).url for one in page if _document(one)]
    referred = Counter(_header(one["request"], "referer") for one in page)
    likely = {*answered[:1], max(answered, key=lambda url: referred[url], default="")}
    if answered and document.type == "document" and document.url not in likely:
        yield f"its document is {document.url[:60]}, not {' or '.join(likely)[:120]}"
    yield from _wrong_span(recording, log, page)


def _wrong_size(entry: HarEntry, one: Raw) -> str | None:
    response = one["response"]
    length = _header(response, "content-length")
    content = (response.get("content") or {}).get("size") or 0
    sizes = [response.get("bodySize"), response.get("_transferSize"), one.get("_objectSize"), one.get("_bytesIn")]
    counted = [int(size) for size in sizes if size not in (None, "") and int(size) > 0]
    if length.isdigit() and entry.status != 304 and entry.method != "HEAD":
        right = {int(length), *(size for size in counted if size < int(length) and content < int(length))}
        return None if entry.size in right else f"{entry.size} B, content-length {length}"
    saved = (response.get("content") or {}).get("compression") or 0
    known = [*counted, *([content] if content > 0 else []), *([content - saved] if content > saved > 0 else [])]
    if not known:
        return f"{entry.size} B, of which nothing is known" if entry.size else None
    return None if min(known) - HEAD <= (entry.size or 0) <= max(known) else f"{entry.size} B, not of {known}"


def _header(part: Raw, name: str) -> str:
    return next((h["value"] for h in part.get("headers") or [] if h["name"].lower() == name), "")


def _counts(one: Raw) -> bool:
    url, status = one["request"]["url"], one["response"].get("status") or 0
    return url.startswith("http") and status > 0 and status != 101 and one["request"].get("method") != "CONNECT"


def _start(one: Raw) -> float | None:
    written = one.get("startedDateTime")
    return dt.datetime.fromisoformat(written).timestamp() if written else None


def _wrong_span(recording: Recording, log: Raw, page: list[Raw]) -> Iterator[str]:
    """Yield the faults of the recorded span: hosts left out although they were asked before the load event, and
    requests after a long silence."""
    hosts = {entry.host for entry in recording.entries}
    starts = sorted(entry.start for entry in recording.entries if entry.start is not None)
    known = [one for one in log.get("pages") or [] if one.get("id") == log["entries"][0].get("pageref")]
    load = ((known[0].get("pageTimings") or {}).get("onLoad") or -1) if known else -1
    if not starts:
        return
    event = starts[0] + load / 1000 if load > 0 else starts[0]
    ends = [entry.start + (entry.time or 0) for entry in recording.entries if entry.start is not None]
    for at in starts:
        if at > max([event, *(end for start, end in zip(starts, ends, strict=False) if start < at)]) + LONG_S:
            yield f"a request {at - event:.0f} s after its load event"
    before = [one for one in page if starts[0] <= (_start(one) or 0) <= event]
    missing = {urlsplit(one["request"]["url"]).netloc.rpartition("@")[2] for one in before} - hosts
    if missing and not any(reason.startswith(("again", "of event")) for reason in recording.left_out):
        yield f"hosts left out: {', '.join(sorted(missing)[:3])}"


if __name__ == "__main__":
    sys.exit(main())
