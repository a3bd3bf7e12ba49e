"""Turns a recorded page into requests to the user's own server, with the recorded paths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

from h123.base.errors import UserError
from h123.base.units import format_bytes, format_share
from h123.study.quantities import RESOLVED
from h123.study.sites.har import Recording, read_har
from h123.study.sites.har_entry import HarEntry
from h123.study.sites.site import URGENCIES, Resource, Site
from h123.study.sites.site_import import Graph, graph_of, host_shares, names
from h123.study.yaml_document import MOST_BYTES

LONGEST_PATH = 2000
_THE_REST = 10_000
"""The number of bytes in a study's file that are reserved for everything except its page."""
_OTHER_HOSTS = "of other hosts"
_PATH_CHARACTERS = "/?%:@!$&'()*+,;=-._~[]"
"""The characters of a path that are not escaped, in addition to letters and digits."""


@dataclass(frozen=True)
class RecordedAnswer:
    """A server's responses to requests for one path. `sizes` contains the sizes of their bodies."""

    sizes: frozenset[int]
    fault: str | None
    """The reason why the path cannot be part of a page, or None."""


@dataclass(frozen=True)
class RecordedPage:
    """A recorded page with the recorded sizes. Its first resource is the document."""

    name: str
    address: str
    resources: Sequence[Resource]
    notes: Sequence[str]
    """Notes about requests that were left out."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The distinct paths of the page's requests."""
        return tuple(dict.fromkeys(path_of(resource) for resource in self.resources))

    def as_served(self, served: Mapping[str, RecordedAnswer]) -> "RecordedPage":
        """Return the page with the sizes that the server sends now, and without paths that have a `fault`. Raises
        UserError if the page is too large for a study's file."""
        served_resources = [resource for resource in self.resources if not served[path_of(resource)].fault]
        askers_of_missing = {
            resource.name: resource.by for resource in self.resources if served[path_of(resource)].fault
        }
        notes = [f"Left out: {path}, {resource.fault}" for path, resource in served.items() if resource.fault]
        settled = [_settled(resource, served[path_of(resource)], askers_of_missing) for resource in served_resources]
        if sum(len(resource.model_dump_json(exclude_defaults=True)) for resource in settled) > MOST_BYTES - _THE_REST:
            raise UserError(
                f"the page has {len(settled)} requests, too many for a study, whose file has at most "
                f"{format_bytes(MOST_BYTES)}",
                remedy="save the recording soon after the page has loaded, without later requests",
            )
        return replace(self, resources=settled, notes=[*self.notes, *notes])

    @property
    def site(self) -> Site:
        return Site(name=self.name, resources=tuple(self.resources))


def path_of(resource: Resource) -> str:
    """Return the resource's path. All resources of a recorded page have one."""
    assert resource.path is not None
    return resource.path


def _settled(resource: Resource, served: RecordedAnswer, askers_of_missing: Mapping[str, str | None]) -> Resource:
    asker = resource.by
    while asker is not None and asker in askers_of_missing:
        asker = askers_of_missing[asker]
    size = max(served.sizes, default=0)
    return resource.model_copy(update={"size": max(size, 1), "exact": served.sizes == {size} and size > 0, "by": asker})


def recorded_page(path: Path, *, page: int | None = None, every_host: bool = False) -> RecordedPage:
    """Read page number `page` of a HAR, or by default the page of its first request, as requests to the document's
    server. With `every_host`, requests to other hosts go to that server, too. Raises UserError."""
    recording = read_har(path, page)
    entries, document = recording.entries, recording.document
    graph = graph_of(path, recording)
    why = [_why_not(entry, entries[document], index < document, every_host) for index, entry in enumerate(entries)]
    indices = [index for index, reason in enumerate(why) if reason is None]
    if document not in indices:
        raise UserError(f"{path}: its document, {entries[document].url[:200]}, {why[document]}")
    resources = list(_resources(entries, graph, indices, document))
    return RecordedPage("page", entries[document].url, resources, list(_notes(recording, why)))


def _why_not(entry: HarEntry, document: HarEntry, before: bool, every_host: bool) -> str | None:
    if before or entry.redirect:
        return "that led elsewhere"
    if not every_host and entry.host != document.host:
        return _OTHER_HOSTS
    if not entry.get:
        return "not by GET"
    return "with too long a path" if len(request_path(urlsplit(entry.url))) > LONGEST_PATH else None


def request_path(url: SplitResult) -> str:
    """Return the path and query of a URL, with unusual characters escaped."""
    return quote((url.path or "/") + (f"?{url.query}" if url.query else ""), safe=_PATH_CHARACTERS, errors="replace")


def _resources(entries: Sequence[HarEntry], graph: Graph, indices: Sequence[int], document: int) -> Iterator[Resource]:
    name_of = dict(zip(indices, names([entries[index] for index in indices]), strict=True))
    runs = graph.runs()
    for index in indices:
        asker = graph.asker[index]
        while asker not in name_of and asker > document:
            asker = graph.asker[asker]
        kind = "document" if index == document else entries[index].type
        urgency = entries[index].urgency
        yield Resource.model_validate(
            {
                "name": name_of[index],
                "type": kind,
                "size": max(entries[index].size or 0, 1),
                "by": None if index == document else name_of.get(asker, name_of[document]),
                "urgency": None if urgency == URGENCIES[kind] else urgency,
                "path": request_path(urlsplit(entries[index].url)),
                "run": runs[index],
            },
            context=RESOLVED,
        )


def _notes(recording: Recording, why: Sequence[str | None]) -> Iterator[str]:
    yield from recording.notes
    for reason, count in recording.left_out.items():
        yield f"Left out: {_requests(count)} {reason}"
    for reason in dict.fromkeys(filter(None, why)):
        excluded = [entry for entry, entry_reason in zip(recording.entries, why, strict=True) if entry_reason == reason]
        if reason != _OTHER_HOSTS:
            yield f"Left out: {_requests(len(excluded))} {reason}"
            continue
        whole, size = (sum(entry.size or 0 for entry in of) for of in (recording.entries, excluded))
        share = f", {format_share(size / whole)} of the page's bytes" if whole else ""
        yield (
            f"Left out: {_requests(len(excluded))} {reason}{share}: {host_shares(excluded, whole)}. "
            "--hosts all asks this server for them too"
        )


def _requests(count: int) -> str:
    return f"{count} {'request' if count == 1 else 'requests'}"
