"""Reads one request of a HAR file, whatever fields the recording program uses.

The result contains only what a site needs: no headers, cookies or bodies.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin, urlsplit

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.study.sites.freshness import CACHEABLE, fresh_s
from h123.study.sites.har_part import HarPart
from h123.study.sites.site import Type

NO_BODY = {204, 205, 304}
NO_RESPONSE = "without a response (aborted, blocked, failed)"
_LISTS = {"cache-control", "vary"}
_LARGEST_HEAD = 8192
"""The largest size in bytes of a response's headers, or of the overhead of chunks. A measured size may exceed the
content's size by this much."""
URGENCY = {"highest": 0, "veryhigh": 0, "high": 1, "medium": 2, "low": 3, "lowest": 4, "verylow": 4}
"""Maps `_priority` of Chrome and WebPageTest to the urgency that Chrome sends in `priority: u=`."""
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
    "manifest": "data",
}
"""Maps Chrome's `_resourceType` to types of resources. All other types are `other`."""
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
"""Maps parts of media types to types of resources. The first match applies."""


@dataclass(frozen=True)
class HarEntry:
    """A request that went over the network, or that would have done so with an empty cache."""

    url: str
    """The URL without a fragment."""
    start: float | None
    """The time of the request in seconds since the epoch, or None if not recorded."""
    time: float | None
    """The seconds from the request to the response's last byte, or None if not recorded."""
    status: int
    type: Type
    size: int | None
    """The size of the body in bytes, as sent, or None if not recorded."""
    unpacked: bool
    """Whether the size is the uncompressed one, because the file contains no other size."""
    with_head: bool
    """Whether the size includes the response's headers, because the file contains no other size."""
    cached: bool
    method: str
    urgency: int | None
    askers: tuple[str, ...]
    """The URLs of resources that may have caused the request (initiators), the most likely first."""
    referer: str | None
    redirect: str | None
    """The URL to which the response redirected the browser, or None."""
    cacheable: bool
    """Whether a returning visitor need not request the resource again."""
    has_browser_type: bool
    """Whether the browser recorded the type. If not, it is guessed from the media type."""

    @property
    def get(self) -> bool:
        return self.method == "GET"

    @property
    def host(self) -> str:
        """The host, with the port if the URL contains one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def what(self) -> str:
        """The method, and the URL without the query."""
        return f"{self.method} {self.url.partition('?')[0]}"


class WrittenHarEntry:
    """One entry as the file contains it."""

    def __init__(self, whole: HarPart) -> None:
        self.whole = whole
        self.request = whole.required("request")
        self.response = whole.required("response")
        self.content = self.response.part("content")
        self.url = self.request.text("url")
        if not self.url:
            url = excerpt(self.request.values.get("url"))
            raise UserError(f"{self.request.at('url')}: expected an address, found {url}")
        self.status = int(self.response.number("status", 999) or 0)
        self.method = (self.request.text("method") or "GET").upper()
        self.kind = whole.text("_resourceType").lower()
        self.headers = _headers(self.response)

    def unusable(self) -> str | None:
        """Return why the entry cannot be a request of a page, or None."""
        scheme = self.url.partition(":")[0].lower()
        if scheme in ("ws", "wss") or self.kind == "websocket" or self.status == 101:
            return "of WebSockets"
        if scheme not in ("http", "https"):
            return "that took no network (data:, blob:, extensions)"
        try:
            host = urlsplit(self.url).hostname
        except ValueError:
            host = None
        if not host:
            return "without a host"
        if self.method == "CONNECT":
            return "that opened a proxy's tunnel"
        if self.status <= 0:
            return NO_RESPONSE
        return "of event streams" if self.kind == "eventsource" or "event-stream" in self._mime() else None

    def may_be_document(self) -> bool:
        """Return whether the browser may have requested the entry as a page. The entry may lack a response."""
        if self.kind:
            return self.kind == "document"
        return "text/html" in _headers(self.request).get("accept", "text/html") and self.method == "GET"

    def entry(self) -> HarEntry:
        size, unpacked, with_head = self._size()
        headers = _headers(self.request)
        target = self.response.text("redirectURL") or self.headers.get("location")
        redirects = 300 <= self.status < 400 and self.status != 304 and bool(target)
        return HarEntry(
            url=urldefrag(self.url).url,
            start=self.whole.moment("startedDateTime"),
            time=self.whole.seconds("time"),
            status=self.status,
            type=self._type(),
            size=size,
            unpacked=unpacked,
            with_head=with_head,
            cached=self._cached(),
            method=self.method,
            urgency=URGENCY.get(self.whole.text("_priority").lower().replace(" ", "")),
            askers=tuple(urldefrag(url).url for url in _askers(self.whole.values.get("_initiator"))),
            referer=_plain(headers.get("referer")),
            redirect=_plain(_joined(self.url, str(target))) if redirects else None,
            cacheable=self.method == "GET" and self.status in CACHEABLE and fresh_s(self.headers) > 0,
            has_browser_type=bool(self.kind),
        )

    def _mime(self) -> str:
        mime = self.content.text("mimeType") or self.headers.get("content-type") or ""
        return mime.partition(";")[0].lower()

    def _type(self) -> Type:
        if self.kind:
            return TYPES.get(self.kind, "other")
        mime = self._mime()
        return next((kind for part, kind in MIME if part in mime), "other")

    def _cached(self) -> bool:
        """Return whether the content came from the browser's cache: Chrome says so, there is content although nothing
        was transferred, or the status is 304."""
        from_cache = self.whole.values.get("_fromCache") or self.response.values.get("_fromCache")
        unsent = self.response.count("_transferSize") == 0 and (self.content.count("size") or 0) > 0
        return bool(from_cache) or unsent or self.status == 304

    def _size(self) -> tuple[int | None, bool, bool]:
        """Return the size of the body, whether this is its uncompressed size, and whether it includes the headers."""
        if self.method == "HEAD":
            return 0, False, False
        content, cached = self.content.count("size"), self._cached()
        measured, with_head = (None, False) if cached else self._measured()
        length = self._content_length()
        if length is not None:
            # If the transfer was cut short, less content was sent than announced.
            cut = bool(measured and content and content < length and measured < length)
            return (measured if cut else length), False, False
        if measured is not None:
            if content and self._plain_body() and content <= measured <= content + _LARGEST_HEAD:
                return content, False, False
            return measured, False, with_head and measured > 0
        saved = self.content.count("compression") or 0
        if content and 0 < saved < content:
            return content - saved, False, False
        if content is None and self.status in NO_BODY:
            return 0, False, False
        return content, bool(content) and (self._coded() or cached), False

    def _content_length(self) -> int | None:
        """Return the exact size of the body as sent, from Content-Length (RFC 9110, section 8.6), or None without
        it."""
        text = self.headers.get("content-length", "").strip()
        if self.status == 304 or not (text.isascii() and text.isdigit()):
            return None
        return HarPart(self.response.at("headers"), {"content-length": text}).count("content-length")

    def _measured(self) -> tuple[int | None, bool]:
        """Return the size that the program measured, without the headers if their size is known, and whether the size
        still includes the headers.

        A size of 0 is ignored if there is content, because many programs write it for an unknown size.
        """
        head = self.response.count("headersSize") or 0
        body, whole = self.response.count("bodySize"), self.response.count("_transferSize")
        unknown_head = not head and whole is not None and (body is None or body == whole)
        counted = [(body, unknown_head), (self.whole.count("_objectSize"), False)]
        for total in (whole, self.whole.count("_bytesIn")):
            counted.append((None if total is None else max(total - head, 0), not head))
        measurements = [pair for pair in counted if pair[0] is not None]
        for size, with_head in measurements:
            if size:
                return size, with_head
        return (0 if measurements and not self.content.count("size") else None), False

    def _coded(self) -> bool:
        return self.headers.get("content-encoding", "identity").lower() != "identity"

    def _plain_body(self) -> bool:
        """Return whether the body is known to have been sent uncompressed. This is unknown if the program records no
        headers."""
        return bool(self.headers) and not self._coded()


def _askers(initiator: object) -> Iterator[str]:
    """Yield the URLs that caused a request, according to its `initiator`. In Chrome the initiator is an object, with a
    call stack for scripts; in WebPageTest it is a URL."""
    if isinstance(initiator, str) and initiator:
        yield initiator
    if not isinstance(initiator, dict):
        return
    whole = HarPart("_initiator", initiator)
    if whole.text("url"):
        yield whole.text("url")
    stack = whole.part("stack")
    while stack.values:
        for frame in stack.items("callFrames"):
            if isinstance(frame, dict) and (url := HarPart("", frame).text("url")):
                yield url
        stack = stack.part("parent")


def _headers(part: HarPart) -> dict[str, str]:
    """Return the headers by name. Names become lower case, because tools differ. Lists that span several lines are
    joined."""
    headers = dict[str, str]()
    for pair in (pair for pair in part.items("headers") if isinstance(pair, dict)):
        name, value = str(pair.get("name")).lower(), str(pair.get("value"))
        headers[name] = f"{headers[name]}, {value}" if name in _LISTS and name in headers else value
    return headers


def _plain(url: str | None) -> str | None:
    return urldefrag(url).url if url else None


def _joined(url: str, target: str) -> str | None:
    try:
        return urljoin(url, target)
    except ValueError:
        return None
