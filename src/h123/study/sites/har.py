"""Reads a page that a browser or a proxy recorded (HAR 1.2): the requests that load it, and notes about the rest of the
file."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import read_text
from h123.base.units import format_seconds, format_span
from h123.study.sites.har_entry import NO_RESPONSE, HarEntry, WrittenHarEntry
from h123.study.sites.har_page import HarPage, RequestsByPage, paged, plain
from h123.study.sites.har_part import HarPart
from h123.study.sites.page_load import IDLE_S, QUIET_S, PageLoad, RecordedRequest, page_load

MOST_BYTES = 500_000_000
"""The largest size of a recording in bytes. Recordings with bodies take tens of megabytes."""
_AGAIN = "open the network tool first, load the page with an empty cache, and save all as HAR"
_FAR_S = 60.0
"""The time in s between the start of a page and the request for its document above which their times are from different
clocks."""
_FIRST_FAILURE = 400
_SPAN_S = 60.0


@dataclass
class Recording:
    """One page of a recording."""

    title: str
    source: str
    entries: list[HarEntry]
    document: int
    """The index of the document. Redirects that led to it come before it."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of requests that are not part of the page's load, by reason."""
    notes: list[str] = field(default_factory=list)


def read_har(path: Path, page: int | None = None) -> Recording:
    """Read one page of a HAR: page number `page`, or the page of the first request. Raises UserError with the file and
    the place in it."""
    log = _log(path, _json(path))
    every = _entries(path, log)
    pages = paged(log, every)
    page_number = pages.index_of(path, page)
    recording = Recording(pages.pages[page_number].title, _source(path, log), [], 0)
    recording.notes += _of_several(pages, page_number)
    failed = list[WrittenHarEntry]()
    for index, part in enumerate(every):
        if pages.of[index] != page_number:
            recording.left_out["of other pages"] += 1
            continue
        entry_part = WrittenHarEntry(part)
        if reason := entry_part.unusable():
            recording.left_out[reason] += 1
            if reason == NO_RESPONSE and entry_part.may_be_document():
                failed.append(entry_part)
        else:
            recording.entries.append(entry_part.entry())
    _check_some(path, len(every), recording)
    # Proxies write requests as they end. The sort is stable, so requests without a time keep their places.
    if all(entry.start is not None for entry in recording.entries):
        recording.entries.sort(key=lambda entry: entry.start or 0.0)
    _start_at_document(path, recording, failed)
    _end_with_load(recording, pages.pages[page_number])
    return recording


def _json(path: Path) -> Any:
    text = read_text(path, MOST_BYTES).removeprefix("\ufeff")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not JSON, so not a HAR: {error.msg}", remedy=_AGAIN) from None
    except RecursionError:
        raise UserError(f"{path}: not a HAR: nested too deeply") from None
    except ValueError:
        raise UserError(f"{path}: not a HAR: a number with too many digits") from None


def _log(path: Path, whole: object) -> HarPart:
    log = whole.get("log") if isinstance(whole, dict) else None
    if not isinstance(log, dict):
        description = f"keys {', '.join(map(excerpt, list(whole)[:5]))}" if isinstance(whole, dict) else excerpt(whole)
        raise UserError(
            f"{path}: not a HAR: expected an object with `log` at the top, found {description}", remedy=_AGAIN
        )
    return HarPart(f"{path}: log", log)


def _entries(path: Path, log: HarPart) -> list[HarPart]:
    every = log.values.get("entries")
    if not isinstance(every, list):
        raise UserError(f"{path}: log.entries: expected a list of requests, found {excerpt(every)}", remedy=_AGAIN)
    if not every:
        raise UserError(f"{path}: log.entries is empty: nothing was recorded", remedy=_AGAIN)
    return [HarPart.of(f"{path}: log.entries[{index}]", value) for index, value in enumerate(every)]


def _source(path: Path, log: HarPart) -> str:
    """Return the name of the file, the names of the programs that recorded the page, and the date."""
    programs = []
    for part in (log.part("creator"), log.part("browser")):
        if part.text("name"):
            version = part.values.get("version")
            programs.append(" ".join([part.text("name"), *([str(version)] if version else [])]))
    first: Mapping[str, Any] = log.items("entries")[0]
    started = first.get("startedDateTime")
    when = f" on {started[:10]}" if isinstance(started, str) else ""
    return f"{path.name}, recorded by {', '.join(programs) or 'an unnamed program'}{when}"


def _of_several(pages: RequestsByPage, number: int) -> list[str]:
    if len(pages.pages) == 1:
        return []
    return [f"This is page {number + 1} of {len(pages.pages)}; --page N chooses another: {pages.listed()}."]


def _check_some(path: Path, count: int, recording: Recording) -> None:
    if not recording.entries:
        why = ", ".join(f"{count} {reason}" for reason, count in recording.left_out.items())
        raise UserError(f"{path}: none of its {count} requests can be part of a page: {why}", remedy=_AGAIN)


def _start_at_document(path: Path, recording: Recording, failed: Sequence[WrittenHarEntry]) -> None:
    """Drop the entries before the page's document. Raises UserError if the document failed."""
    entries = recording.entries
    first = _first_document(entries)
    if first is None and failed:
        raise UserError(
            f"{path}: the page's document failed: {plain(failed[0].url)} has no response (status {failed[0].status})",
            remedy="record the page again when it loads",
        )
    if first:
        recording.left_out["before the page's document"] += first
        del entries[:first]
    document = _after_redirects(path, entries)
    opening = entries[document]
    if opening.status >= _FIRST_FAILURE:
        raise UserError(
            f"{path}: the page's document failed: {plain(opening.url)} returned status {opening.status}",
            remedy="record the page again when it loads",
        )
    if opening.type != "document":
        recording.notes.append(
            f"The recording has no document: its first request, {plain(opening.url)} ({opening.type}), replaces it. "
            "To record the page itself, open the network tool before you load it."
        )
    recording.document = document


def _first_document(entries: Sequence[HarEntry]) -> int | None:
    """Return the index of the page's document, or of the redirect to it.

    If a program does not record types, frames that contain other pages look like documents, too. So unless the file
    begins with a document, the document is the entry that most requests refer to.
    """
    candidates = [index for index, entry in enumerate(entries) if entry.get and (entry.type == "document")]
    if entries[0].redirect and not entries[0].has_browser_type:
        return 0
    if not candidates or candidates[0] == 0 or entries[candidates[0]].has_browser_type:
        return candidates[0] if candidates else None
    refer = Counter(entry.referer for entry in entries)
    most_referred = max(candidates, key=lambda index: refer[entries[index].url])
    return most_referred if refer[entries[most_referred].url] or most_referred <= len(entries) // 2 else None


def _after_redirects(path: Path, entries: Sequence[HarEntry]) -> int:
    at = 0
    while (target := entries[at].redirect) is not None:
        later = range(at + 1, len(entries))
        target_index = next((index for index in later if entries[index].url == target), None)
        # If the target's address is written differently in its own entry, the target is the next entry.
        if target_index is None and at + 1 < len(entries) and entries[at + 1].type == "document":
            target_index = at + 1
        if target_index is None:
            raise UserError(
                f"{path}: the page's document failed: {plain(entries[at].url)} redirects to {plain(target)}, which has "
                "no response in the recording",
                remedy="record the page again when it loads",
            )
        at = target_index
    return at


def _end_with_load(recording: Recording, page: HarPage) -> None:
    """Drop requests that came after the page had loaded, and polls."""
    entries, start_of_load = recording.entries, recording.entries[0].start
    if start_of_load is None:
        return
    timed = [(index, entry.start) for index, entry in enumerate(entries) if entry.start is not None]
    requests = [_page_request(entries[index], start) for index, start in sorted(timed, key=lambda pair: pair[1])]
    places = [index for index, _ in sorted(timed, key=lambda pair: pair[1])]
    on_load = _on_load(recording, page, start_of_load)
    load = page_load(requests, on_load)
    if load.late:
        first = min(load.late)
        recording.left_out[
            _late(requests[first], requests[first].start - start_of_load, on_load and on_load - start_of_load)
        ] = len(load.late)
    if load.polls:
        recording.left_out[f"again and again at even intervals ({_polled(requests, load)})"] = len(load.polls)
    out = {places[index] for index in load.late | load.polls}
    recording.entries = [entry for index, entry in enumerate(entries) if index not in out]


def _page_request(entry: HarEntry, start: float) -> RecordedRequest:
    return RecordedRequest(start, start + (entry.time or 0.0), entry.what, entry.type in ("data", "other", "image"))


def _on_load(recording: Recording, page: HarPage, load_start: float) -> float | None:
    """Return the time of the browser's load event, or None if there is none after the document."""
    if page.on_load_s is None:
        return None
    near = page.start is not None and abs(page.start - load_start) <= _FAR_S
    event = (page.start if near and page.start is not None else load_start) + page.on_load_s
    document = recording.entries[recording.document]
    return event if event >= (document.start or load_start) + (document.time or 0.0) else None


def _late(request: RecordedRequest, after_s: float, load_s: float | None) -> str:
    loaded = f"{format_seconds(QUIET_S)} without a request" if load_s is None else f"the load event at {_s(load_s)}"
    idle = "" if load_s is None else f" and {format_seconds(IDLE_S)} without a request"
    return f"after the page had loaded ({loaded}{idle}; the first, {plain(request.what)}, at {_s(after_s)})"


def _polled(requests: Sequence[RecordedRequest], load: PageLoad) -> str:
    return ", ".join(plain(what) for what in dict.fromkeys(requests[index].what for index in sorted(load.polls)))


def _s(seconds: float) -> str:
    return format_seconds(max(seconds, 0.0)) if seconds < _SPAN_S else format_span(seconds)
