"""A page as a browser or a proxy recorded it (HAR 1.2), with what each of them writes otherwise made alike.

Of a request only what a site needs is kept: no header, no cookie and no body leaves this module.
"""

import datetime as dt
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from h123.errors import UserError
from h123.strict import shown
from h123.study.site import Type
from h123.textfile import read_text

MOST_BYTES = 500_000_000
"""Of a recording: those with bodies have tens of megabytes."""
NO_BODY = {204, 205, 304}
CACHEABLE = {200, 203, 301, 304, 308}
"""Of answers to GET, those that a cache keeps; a 304 speaks of what it has."""
_LISTS = {"cache-control", "vary"}
URGENCY = {"highest": 0, "veryhigh": 0, "high": 1, "medium": 2, "low": 3, "lowest": 4, "verylow": 4}
"""By Chrome's `_priority` and WebPageTest's, as Chrome itself says it in `priority: u=`."""
TYPES: dict[str, Type] = {
    "document": "document",
    "stylesheet": "style",
    "script": "script",
    "font": "font",
    "image": "image",
    "media": "media",
    "texttrack": "media",
    "xhr": "data",
    "fetch": "data",
    "eventsource": "data",
    "manifest": "data",
}
"""By Chrome's `_resourceType`; all its others are other."""
MIME: tuple[tuple[str, Type], ...] = (
    ("text/html", "document"),
    ("application/xhtml", "document"),
    ("text/css", "style"),
    ("font", "font"),
    ("javascript", "script"),
    ("ecmascript", "script"),
    ("image/", "image"),
    ("audio/", "media"),
    ("video/", "media"),
    ("mpegurl", "media"),
    ("json", "data"),
    ("xml", "data"),
    ("text/plain", "data"),
)
"""By what a media type contains, the first that fits."""


@dataclass(frozen=True)
class Entry:
    """A request that went over the network, or would have with an empty cache."""

    url: str
    """Without a fragment."""
    start: float | None
    """Seconds since the epoch; None: nobody wrote it."""
    time: float | None
    """Seconds until its last byte."""
    status: int
    type: Type
    size: int | None
    """Of its body as it was sent; None: nobody wrote it."""
    unpacked: bool
    """Whether the size is that before compression, because no other was written."""
    cached: bool
    get: bool
    urgency: int | None
    askers: tuple[str, ...]
    """URLs that may have asked for it, the likeliest first: initiators."""
    referer: str | None
    redirect: str | None
    """Where it sent the browser instead."""
    cacheable: bool
    """Whether a returning visitor need not ask for it."""

    @property
    def host(self) -> str:
        """With the port, where the address names one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


@dataclass
class Recording:
    """What a file has of its first page."""

    title: str
    source: str
    entries: list[Entry]
    """In the order in which they were asked for."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Requests that are none of a page, by why."""


def read_har(path: Path) -> Recording:
    """Raises UserError naming the file and the place in it."""
    log = _log(path, _json(path))
    every = log.get("entries")
    if not isinstance(every, list):
        raise UserError(f"{path}: log.entries: expected a list of requests, found {shown(every)}")
    if not every:
        raise UserError(f"{path}: log.entries is empty: nothing was recorded", remedy=_AGAIN)
    pages = [page for page in _list(log.get("pages")) if isinstance(page, dict)]
    recording = Recording(_title(pages), _source(path, log), [])
    first = _first_page(pages, every)
    for place, given in enumerate(every):
        written = _Written(path, f"log.entries[{place}]", given)
        if first is not None and written.whole.get("pageref") not in (first, None):
            recording.left_out["of other pages"] += 1
        elif reason := written.unusable():
            recording.left_out[reason] += 1
        else:
            recording.entries.append(written.entry())
    if not recording.entries:
        why = ", ".join(f"{count} {reason}" for reason, count in recording.left_out.items())
        raise UserError(f"{path}: none of its {len(every)} requests can be part of a page: {why}", remedy=_AGAIN)
    # Proxies write requests as they end. Whoever wrote no time keeps its place: the sort is stable.
    if all(entry.start is not None for entry in recording.entries):
        recording.entries.sort(key=lambda entry: entry.start or 0.0)
    return recording


_AGAIN = "open the network tool first, load the page with an empty cache, and save all as HAR"


def _json(path: Path) -> Any:
    text = read_text(path, MOST_BYTES).removeprefix("\ufeff")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not JSON, so not a HAR: {error.msg}") from None
    except RecursionError:
        raise UserError(f"{path}: not a HAR: nested too deeply") from None
    except ValueError:
        raise UserError(f"{path}: not a HAR: a number with too many digits") from None


def _log(path: Path, whole: object) -> Mapping[str, Any]:
    log = whole.get("log") if isinstance(whole, dict) else None
    if not isinstance(log, dict):
        found = f"keys {', '.join(map(shown, list(whole)[:5]))}" if isinstance(whole, dict) else shown(whole)
        raise UserError(f"{path}: not a HAR: expected an object with `log` at the top, found {found}")
    return log


def _first_page(pages: Sequence[Mapping[str, Any]], every: list[Any]) -> object:
    """The id of the page that the first request belongs to, where there are several: later views come from caches."""
    names = [page.get("id") for page in pages]
    refs = (entry.get("pageref") for entry in every if isinstance(entry, dict))
    return next((ref for ref in refs if ref in names), None) if len(names) > 1 else None


def _title(pages: Sequence[Mapping[str, Any]]) -> str:
    title = pages[0].get("title") if pages else None
    return title if isinstance(title, str) else ""


def _source(path: Path, log: Mapping[str, Any]) -> str:
    """By which programs, and when."""
    programs = []
    for part in (log.get("creator"), log.get("browser")):
        if isinstance(part, dict) and isinstance(part.get("name"), str):
            programs.append(" ".join(str(part[key]) for key in ("name", "version") if part.get(key)))
    started = next((_dict(entry).get("startedDateTime") for entry in log["entries"]), None)
    when = f" on {started[:10]}" if isinstance(started, str) else ""
    return f"{path.name}, recorded by {', '.join(programs) or 'an unnamed program'}{when}"


class _Written:
    """One entry as a file has it."""

    def __init__(self, path: Path, place: str, given: object) -> None:
        self.whole = _dict(given, f"{path}: {place}")
        self.request = _dict(self.whole.get("request"), f"{path}: {place}.request")
        self.response = _dict(self.whole.get("response"), f"{path}: {place}.response")
        self.content = _dict(self.response.get("content"))
        url = self.request.get("url")
        if not isinstance(url, str) or not url:
            raise UserError(f"{path}: {place}.request.url: expected an address, found {shown(url)}")
        self.url = url
        self.status = int(_number(self.response.get("status")) or 0)
        self.method = str(self.request.get("method", "GET")).upper()
        self.kind = str(self.whole.get("_resourceType", "")).lower()

    def unusable(self) -> str | None:
        """Why it is no request of a page; None: it is one."""
        scheme = self.url.partition(":")[0].lower()
        if scheme in ("ws", "wss") or self.kind == "websocket" or self.status == 101:
            return "of WebSockets"
        if scheme not in ("http", "https"):
            return "that took no network (data:, blob:, extensions)"
        try:
            named = urlsplit(self.url).hostname
        except ValueError:
            named = None
        if not named:
            return "without a host"
        if self.method == "CONNECT":
            return "that opened a proxy's tunnel"
        return None if self.status > 0 else "without an answer (aborted, blocked, failed)"

    def entry(self) -> Entry:
        size, unpacked = self._size()
        headers = _headers(self.request)
        target = self.response.get("redirectURL") or _headers(self.response).get("location")
        redirects = 300 <= self.status < 400 and self.status != 304 and isinstance(target, str)
        duration = _number(self.whole.get("time"))
        return Entry(
            url=urldefrag(self.url).url,
            start=_seconds(self.whole.get("startedDateTime")),
            time=None if duration is None or duration < 0 else duration / 1000,
            status=self.status,
            type=self._type(),
            size=size,
            unpacked=unpacked,
            cached=self._cached(),
            get=self.method == "GET",
            urgency=URGENCY.get(str(self.whole.get("_priority", "")).lower().replace(" ", "")),
            askers=tuple(urldefrag(url).url for url in _askers(self.whole.get("_initiator"))),
            referer=_plain(headers.get("referer")),
            redirect=_plain(_joined(self.url, str(target))) if redirects else None,
            cacheable=self.method == "GET" and self.status in CACHEABLE and _fresh_s(_headers(self.response)) > 0,
        )

    def _type(self) -> Type:
        if self.kind:
            return TYPES.get(self.kind, "other")
        named = self.content.get("mimeType") or _headers(self.response).get("content-type") or ""
        mime = str(named).partition(";")[0].lower()
        return next((kind for part, kind in MIME if part in mime), "other")

    def _cached(self) -> bool:
        """Chrome says so, or its transfer had no byte though there is content; 304: the browser had it."""
        from_cache = self.whole.get("_fromCache") or self.response.get("_fromCache")
        unsent = _number(self.response.get("_transferSize")) == 0 and (_number(self.content.get("size")) or 0) > 0
        return bool(from_cache) or unsent or self.status == 304

    def _size(self) -> tuple[int | None, bool]:
        """Of the body as sent, from the one of many fields that has it; and whether it is unpacked instead."""
        if self.method == "HEAD":
            return 0, False
        sent = None if self._cached() else self._sent()
        headers = _headers(self.response)
        if sent is None and "content-length" in headers and self.status != 304:
            sent = _count(headers["content-length"])
        if sent is not None:
            return sent, False
        content = _count(self.content.get("size"))
        saved = _count(self.content.get("compression")) or 0
        if content and 0 < saved < content:
            return content - saved, False
        if content is None and self.status in NO_BODY:
            return 0, False
        coded = headers.get("content-encoding", "identity").lower() != "identity"
        return content, bool(content) and (coded or self._cached())

    def _sent(self) -> int | None:
        """A 0 says nothing where there is content: many write it for what they do not know."""
        head = max(_number(self.response.get("headersSize")) or 0, 0)
        wholes = (self.response.get("_transferSize"), self.whole.get("_bytesIn"))
        bodies = [_count(self.response.get("bodySize")), _count(self.whole.get("_objectSize"))]
        bodies += [None if (one := _count(whole)) is None else max(one - int(head), 0) for whole in wholes]
        known = [body for body in bodies if body is not None]
        empty = 0 if known and not (_number(self.content.get("size")) or 0) > 0 else None
        return next((body for body in known if body > 0), empty)


def _fresh_s(headers: Mapping[str, str]) -> float:
    """Seconds for which a browser's cache may answer by itself, by what the response says (RFC 9111, sections 4.2.1 and
    5.2.2): `max-age`, or else `Expires`, less the age that it came with. What is said to shared caches alone
    (`private`, `s-maxage`) is nothing to a browser's; what a cache may guess where nothing is said counts as none."""
    told = dict(_directives(headers.get("cache-control", "")))
    if {"no-store", "no-cache"} & told.keys() or "*" in headers.get("vary", ""):
        return 0.0
    if "max-age" in told:
        lasts = _number(told["max-age"]) or 0.0
    else:
        sent, expires = (_http_seconds(headers.get(name)) for name in ("date", "expires"))
        lasts = 0.0 if sent is None or expires is None else expires - sent
    return lasts - (_number(headers.get("age")) or 0.0)


def _directives(cache_control: str) -> Iterator[tuple[str, str]]:
    for part in cache_control.split(","):
        name, _, value = part.strip().partition("=")
        yield name.strip().lower(), value.strip().strip('"')


def _http_seconds(date: str | None) -> float | None:
    try:
        return None if date is None else parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None


def _askers(initiator: object) -> Iterator[str]:
    """Chrome's is an object, for scripts with a stack of calls and those that led to it; WebPageTest's is an URL."""
    if isinstance(initiator, str) and initiator:
        yield initiator
    if not isinstance(initiator, dict):
        return
    if isinstance(initiator.get("url"), str) and initiator["url"]:
        yield initiator["url"]
    stack = initiator.get("stack")
    while isinstance(stack, dict):
        for frame in _list(stack.get("callFrames")):
            if isinstance(frame, dict) and isinstance(frame.get("url"), str) and frame["url"]:
                yield frame["url"]
        stack = stack.get("parent")


def _headers(part: Mapping[str, Any]) -> dict[str, str]:
    """By name in small letters; HTTP/2 and some tools write them so. Of a list that is in several lines, all."""
    found = dict[str, str]()
    for pair in (pair for pair in _list(part.get("headers")) if isinstance(pair, dict)):
        name, value = str(pair.get("name")).lower(), str(pair.get("value"))
        found[name] = f"{found[name]}, {value}" if name in _LISTS and name in found else value
    return found


def _plain(url: str | None) -> str | None:
    return urldefrag(url).url if url else None


def _joined(url: str, target: str) -> str | None:
    try:
        return urljoin(url, target)
    except ValueError:
        return None


def _dict(value: object, place: str | None = None) -> Mapping[str, Any]:
    """With a `place`, what is no object is refused there."""
    if isinstance(value, dict):
        return value
    if place:
        raise UserError(f"{place}: expected an object, found {shown(value)}")
    return {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    """WebPageTest writes numbers as text."""
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _count(value: object) -> int | None:
    """Of bytes; -1 and the like: not known."""
    number = _number(value)
    return None if number is None or number < 0 else int(number)


def _seconds(written: object) -> float | None:
    try:
        return dt.datetime.fromisoformat(str(written)).timestamp()
    except (ValueError, OverflowError):
        return None
