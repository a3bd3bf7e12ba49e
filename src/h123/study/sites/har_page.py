"""Assigns each request of a HAR file to one of its pages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from h123.base.errors import UserError
from h123.base.files.textfile import unprintable
from h123.study.sites.har_part import HarPart

_MOST_LINES = 20
_LONGEST = 80


@dataclass(frozen=True)
class HarPage:
    """A page that the browser opened, as the file lists it."""

    key: str | None
    """The key by which requests refer to the page."""
    title: str
    start: float | None
    on_load_s: float | None
    """The seconds from the page's start to the browser's load event."""


@dataclass(frozen=True)
class RequestsByPage:
    """The pages of a file, and the page of each request."""

    pages: Sequence[HarPage]
    of: Sequence[int]
    """For each request, the index of its page."""

    def index_of(self, path: object, number: int | None) -> int:
        """Return the index of page `number` (counted from 1), or of the first request's page if `number` is None.
        Raises UserError."""
        if number is None:
            return self.of[0]
        if not 1 <= number <= len(self.pages):
            raise UserError(
                f"{path}: there is no page {number}; it has {len(self.pages)}: {self.listed()}",
                remedy="choose one with --page N",
            )
        if number - 1 not in self.of:
            raise UserError(
                f"{path}: page {number} has no requests; all pages: {self.listed()}", remedy="choose one with --page N"
            )
        return number - 1

    def listed(self) -> str:
        counts = Counter(self.of)
        lines = [
            f"{index + 1} ({page.title or 'without a title'}, {counts[index]} "
            f"{'request' if counts[index] == 1 else 'requests'})"
            for index, page in enumerate(self.pages[:_MOST_LINES])
        ]
        return ", ".join([*lines, "..."] if len(self.pages) > _MOST_LINES else lines)


def paged(log: HarPart, entries: Sequence[HarPart]) -> RequestsByPage:
    """Assign requests to pages. A request that names a page belongs to it. Any other request belongs to the page that
    was open when it began."""
    pages = [_page(log, index, value) for index, value in enumerate(log.items("pages"))]
    refs = [entry.text("pageref") for entry in entries]
    # A file may list no pages although its requests name some.
    listed = {page.key for page in pages}
    pages += [HarPage(ref, "", None, None) for ref in dict.fromkeys(filter(None, refs)) if ref not in listed]
    pages = pages or [HarPage(None, "", None, None)]
    places = {page.key: index for index, page in reversed(list(enumerate(pages)))}
    first = next((places[ref] for ref in refs if ref in places), 0)
    of = [
        places[ref] if ref in places else _open_at(entry, pages, first)
        for entry, ref in zip(entries, refs, strict=True)
    ]
    return RequestsByPage(pages, of)


def _page(log: HarPart, index: int, value: object) -> HarPage:
    page = HarPart.of(f"{log.place}.pages[{index}]", value)
    timings = page.part("pageTimings")
    return HarPage(
        page.text("id") or None, plain(page.text("title")), page.moment("startedDateTime"), timings.seconds("onLoad")
    )


def _open_at(entry: HarPart, pages: Sequence[HarPage], first: int) -> int:
    if len(pages) == 1:
        return 0
    when = entry.moment("startedDateTime")
    starts = [(page.start, index) for index, page in enumerate(pages) if page.start is not None]
    return max(((start, index) for start, index in starts if when is not None and start <= when), default=(0, first))[1]


def plain(title: str) -> str:
    """Return a title as one printable line. Many titles are URLs. They lose their query, which may be private."""
    line = " ".join("".join(" " if unprintable(character) else character for character in title).split())
    line = re.sub(r"^(https?://[^?\s]*)\?.*", r"\1", line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
