"""Makes a site from a recorded page: the resources' sizes, types and order, which resource requested which, and how
long each ran before it did so."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from h123.base.errors import UserError
from h123.base.files.textfile import unprintable
from h123.base.units import format_bytes, format_seconds, format_share
from h123.study.quantities import RESOLVED, check_name
from h123.study.sites.har import Recording, read_har
from h123.study.sites.har_entry import HarEntry
from h123.study.sites.har_page import plain
from h123.study.sites.site import FORMAT, MOST_RESOURCES, URGENCIES, Resource, Site
from h123.study.yaml_document import MOST_BYTES

LONGEST_NAME = 60
LONGEST_LABEL = 63
"""The longest label in a DNS name, in bytes (RFC 1035)."""
LONGEST_TITLE = 200
MOST_HOSTS = 12
"""The largest number of hosts that a note lists."""
LONG_RUN_NS = 10**9
"""The length, in ns, above which a `run` probably includes more than processing."""
RESOLUTION_NS = 1_000_000
"""The resolution of `run` times in ns: about the precision of recordings."""


@dataclass(frozen=True)
class ImportedSite:
    """A site made from a recording."""

    site: Site
    text: str
    notes: list[str]
    """Notes about how the site differs from the page."""


def import_site(path: Path, name: str, *, apart: bool = False, page: int | None = None) -> ImportedSite:
    """Turn page number `page` of a HAR, or by default the page of its first request, into a site with this name. All
    hosts become one, unless `apart` keeps them separate. Raises UserError."""
    try:
        check_name(name, "site")
    except ValueError as fault:
        raise UserError(str(fault)) from None
    recording = read_har(path, page)
    graph = graph_of(path, recording)
    hosts = labels(recording.entries) if apart else {}
    site = Site(name=name, resources=tuple(_alike(graph.resources(hosts))))
    notes = [*_notes(recording, hosts), *graph.notes()]
    title = recording.title or plain(recording.entries[0].url)
    text = _file_text(site, title, f"{recording.source}. {' '.join(notes)}".strip())
    if len(text.encode()) > MOST_BYTES:
        most = f"a site's file has at most {format_bytes(MOST_BYTES)}"
        message = f"{path}: the page has {len(site.resources)} resources that differ, too many: {most}"
        raise UserError(message, remedy="save the recording soon after the page has loaded, without later requests")
    return ImportedSite(site, text, notes)


def graph_of(path: Path, recording: Recording) -> "Graph":
    """Return the graph of requests. Raises UserError if there are more requests than a page may have."""
    count = len(recording.entries)
    if count > MOST_RESOURCES:
        raise UserError(
            f"{path}: {count} requests; a page has at most {MOST_RESOURCES}",
            remedy="save the recording soon after the page has loaded, without later requests",
        )
    return Graph(recording.entries, recording.document)


@dataclass
class Graph:
    """A graph that maps each entry to the entry that caused it. A cause comes before its effect, so the graph has no
    cycle."""

    entries: Sequence[HarEntry]
    document: int = 0
    """The index of the entry that all others depend on. Redirects that led to it come before it."""
    asker: list[int] = field(default_factory=list)
    certain: list[bool] = field(default_factory=list)
    """For each entry, whether the recording names the entry that caused it. If not, the cause is a guess."""
    how: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        last, redirected = dict[str, int](), dict[str, int]()
        for index, entry in enumerate(self.entries):
            asker, how = self._find(index, last, redirected) if index else (-1, "document")
            self.asker.append(asker)
            self.certain.append(how != "assumed")
            self.how[how] += 1
            last[entry.url] = index
            if entry.redirect:
                redirected[entry.redirect] = index

    def _find(self, index: int, last: dict[str, int], redirected: dict[str, int]) -> tuple[int, str]:
        entry = self.entries[index]
        if entry.url in redirected:
            return redirected.pop(entry.url), "redirect"
        for url in entry.askers:
            if url in last:
                return last[url], "initiator"
        if entry.referer in last:
            return last[entry.referer], "referer"
        return (self.document if index > self.document else 0), "assumed"

    def resources(self, hosts: Mapping[str, str]) -> list[Resource]:
        """Return the resources. `hosts` maps hosts to labels if they are kept apart from the page's own host."""
        resource_names, runs = names(self.entries), self.runs()
        resources_of_page = []
        for index, entry in enumerate(self.entries):
            kind = "document" if index == 0 else entry.type
            urgency = None if entry.urgency == URGENCIES[kind] else entry.urgency
            fields = {
                "name": resource_names[index],
                "type": kind,
                "size": max(entry.size or 0, 1),
                "by": resource_names[self.asker[index]] if index else None,
                "urgency": urgency,
                "run": runs[index],
                "host": hosts.get(entry.host),
                "cacheable": entry.cacheable,
            }
            resources_of_page.append(Resource.model_validate(fields, context=RESOLVED))
        return resources_of_page

    def runs(self) -> list[int]:
        """Return, for each entry, the time in ns from its end to the first request that it is known to have caused. The
        time is 0 if that request came before the end, or if there is none."""
        least = dict[int, float]()
        for entry, asker, certain in zip(self.entries, self.asker, self.certain, strict=True):
            if asker < 0 or not certain or self.entries[asker].redirect:
                continue
            start, time = self.entries[asker].start, self.entries[asker].time
            if entry.start is None or start is None or time is None:
                continue
            gap = max(entry.start - start - time, 0.0)
            least[asker] = min(gap, least.get(asker, gap))
        resolved = {index: round(gap * 1e9 / RESOLUTION_NS) * RESOLUTION_NS for index, gap in least.items()}
        return [resolved.get(index, 0) for index in range(len(self.entries))]

    def notes(self) -> list[str]:
        words = []
        if long := {index: run for index, run in enumerate(self.runs()) if run > LONG_RUN_NS}:
            worst = max(long, key=lambda index: long[index])
            words.append(
                f"Resources that ran over {format_seconds(LONG_RUN_NS / 1e9)} before requesting others: {len(long)}, "
                f"the longest {format_seconds(long[worst] / 1e9)} ({plain(self.entries[worst].url)}). This may include "
                "timers and waits for the user: shorten their `run` if so."
            )
        if self.how["referer"]:
            words.append(f"Requests whose cause is known only from their Referer: {self.how['referer']}.")
        if self.how["assumed"]:
            words.append(f"Requests without a recorded cause, made by the document here: {self.how['assumed']}.")
        return words


def _notes(recording: Recording, apart: Mapping[str, str]) -> list[str]:
    """Return notes, with counts, about what a site cannot represent and what the recording lacked."""
    entries = recording.entries
    words = list(recording.notes)
    hosts = {entry.host for entry in entries}
    if len(hosts) > 1 and not apart:
        words.append(f"The site has one host instead of {len(hosts)}: {host_shares(entries)}.")
    elif apart:
        words.append(f"The site keeps {len(hosts)} hosts: {', '.join(f'{apart[host]} was {host}' for host in apart)}.")
    if recording.left_out:
        left_out = ", ".join(f"{count} {why}" for why, count in recording.left_out.items())
        words.append(f"Left out: {left_out}.")
    counts = [
        (sum(not entry.get for entry in entries), "Requests by other methods, made with GET and no body here"),
        (sum(entry.cached for entry in entries), "Responses from a cache, which each visit loads here"),
        (sum(entry.with_head for entry in entries), "Sizes that include headers, because no other was recorded"),
        (sum(entry.unpacked for entry in entries), "Uncompressed sizes, because no other was recorded"),
        (sum(entry.size == 0 for entry in entries), "Resources without a body, which have 1 byte here"),
        (sum(entry.size is None for entry in entries), "Resources of unknown size, which have 1 byte here"),
    ]
    return words + [f"{what}: {count}." for count, what in counts if count]


def host_shares(entries: Sequence[HarEntry], whole: int | None = None) -> str:
    """List hosts in words, the one with the most bytes first, each with its number of requests and its share of `whole`
    bytes."""
    counts, sizes = Counter(entry.host for entry in entries), Counter[str]()
    for entry in entries:
        sizes[entry.host] += entry.size or 0
    total = sum(sizes.values()) if whole is None else whole
    words = [
        f"{host} ({count} {'request' if count == 1 else 'requests'}, {format_bytes(sizes[host])}"
        f"{f', {format_share(sizes[host] / total)} of the bytes' if total else ''})"
        for host, count in sorted(counts.items(), key=lambda pair: -sizes[pair[0]])
    ]
    return ", ".join([*words[:MOST_HOSTS], f"and {len(words) - MOST_HOSTS} more"] if len(words) > MOST_HOSTS else words)


def labels(entries: Sequence[HarEntry]) -> dict[str, str]:
    """Return a label for each host except the page's own, which is the host of the first request. The label is the
    host's name with hyphens in place of characters other than letters and digits, cut to the length of a DNS label.
    Duplicates get a number."""
    label_of = dict[str, str]()
    for host in dict.fromkeys(entry.host for entry in entries if entry.host != entries[0].host):
        label = whole = re.sub(r"[^a-z0-9]+", "-", host.lower())[:LONGEST_LABEL].strip("-") or "host"
        number = 1
        while label in label_of.values():
            number += 1
            label = f"{whole[: LONGEST_LABEL - len(str(number)) - 1]}-{number}"
        label_of[host] = label
    return label_of


def names(entries: Sequence[HarEntry]) -> list[str]:
    """Return a name for each entry: its path, with the host if it differs from the document's. Duplicates get a
    number."""
    home = urlsplit(entries[0].url).netloc
    counts, unique = Counter[str](), []
    for entry in entries:
        parts = urlsplit(entry.url)
        host = "" if parts.netloc == home else f"//{parts.netloc}"
        name = quote(host + (parts.path or "/"), safe="/:@-._~!$&'()*+,;=%", errors="replace")
        if len(name) > LONGEST_NAME:
            name = f"{name[: LONGEST_NAME - 20]}...{name[-17:]}"
        counts[name] += 1
        # Paths contain no #.
        unique.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return unique


def _alike(resources: Sequence[Resource]) -> list[Resource]:
    """Merge consecutive resources that differ only in their name and request nothing."""
    asking = {resource.by for resource in resources}
    merged: list[Resource] = []
    for resource in resources:
        before = merged[-1] if merged else None
        if (
            before
            and before.by
            and resource.name not in asking
            and before.name not in asking
            and (before.model_copy(update={"name": resource.name, "count": resource.count}) == resource)
        ):
            merged[-1] = before.model_copy(update={"count": before.count + 1})
        else:
            merged.append(resource)
    return merged


def _file_text(site: Site, title: str, source: str) -> str:
    lines = [
        f"h123: {FORMAT}",
        f"name: {_quoted(site.name)}",
        f"title: {_quoted(_printable(title)[:LONGEST_TITLE])}",
        f"source: {_quoted(_printable(source))}",
        "resources:",
    ]
    return "\n".join([*lines, *map(_line, site.resources)]) + "\n"


def _line(resource: Resource) -> str:
    parts = [f"name: {_word(resource.name)}", f"type: {resource.type}", f"size: {resource.size}"]
    if resource.by is not None:
        parts.append(f"by: {_word(resource.by)}")
    if resource.count > 1:
        parts.append(f"count: {resource.count}")
    if resource.urgency is not None:
        parts.append(f"urgency: {resource.urgency}")
    if resource.run:
        parts.append(f"run: {resource.run // RESOLUTION_NS}ms")
    if resource.host is not None:
        parts.append(f"host: {_quoted(resource.host)}")
    if resource.cacheable:
        parts.append("cacheable: true")
    return f"  - {{{', '.join(parts)}}}"


def _word(name: str) -> str:
    return name if re.fullmatch(r"/[A-Za-z0-9/._~-]*", name) else _quoted(name)


def _quoted(text: str) -> str:
    """Quote text so that both YAML and JSON can read it."""
    return json.dumps(text, ensure_ascii=False)


def _printable(text: str) -> str:
    """Return text as one line, without characters that are not allowed in h123's files."""
    return " ".join("".join(" " if unprintable(character) else character for character in text).split())
