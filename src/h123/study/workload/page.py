"""Defines the `page` kind: users who visit a page. A visit loads a document, the resources that the document requests,
the resources that these request, and so on.

docs/contracts/workload.md defines the rules by which a client loads the page. This module computes their consequences
for plans and checks.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, ValidationInfo

from h123.base.errors import UserError
from h123.base.units import format_bytes, format_seconds
from h123.catalogue import ALT_SVC, HTTPS_RECORD, QUIC, Announcement
from h123.study.quantities import Duration
from h123.study.round_trips import INITIAL_WINDOW_BYTES, handshake_round_trips
from h123.study.sites.documents import Documents
from h123.study.sites.site import Resource, Site, load_site
from h123.study.workload.abandon import LEAVING
from h123.study.workload.client_file import Target, VisitOrder, WorkloadFile
from h123.study.workload.headers import Header, WrittenHeader, written_headers
from h123.study.workload.kind import WorkloadKind
from h123.study.workload.load import Exchange, Load, VisitShape

BROWSER_CONNECTIONS = 6
"""The number of HTTP/1.1 connections that Chromium, Firefox and Safari open to a host."""
STREAMS = 100
"""The largest number of simultaneous requests on an HTTP/2 or HTTP/3 connection: the smallest limit of all servers."""


def _read_site(value: object, info: ValidationInfo) -> object:
    """Return the site with this name, or at this path relative to the study."""
    if not isinstance(value, str):
        return value
    try:
        return load_site(value, folder=info.context if isinstance(info.context, Path) else None)
    except UserError as error:
        raise ValueError(error.message) from None


class PageParameters(Load):
    """The parameters of the `page` kind."""

    site: Annotated[Site | None, BeforeValidator(_read_site)] = None
    """The page, which a workload of this kind needs."""
    documents: StrictBool = False
    """Whether the resources are real HTML, styles and scripts, which make a browser request the page's resources. If
    not, they are plain bodies, and the client is given the order of requests."""
    fallback: StrictBool = False
    """Whether the server also supports HTTP/2 at the same address and announces HTTP/3. The client then discovers
    HTTP/3 itself and may use either."""
    announced: Announcement = ALT_SVC
    """The place where HTTP/3 is announced: the server's responses over HTTP/2 (Alt-Svc, RFC 7838), or the DNS before
    the first request (an HTTPS record, RFC 9460)."""
    visit: Literal["first", "repeat"] = "first"
    """first: the client knows nothing about the server. repeat: the client has visited the page before and keeps what
    it learned about the server, but no connection and no part of the page."""
    pause: Duration = 0
    """The pause between a user's visits, from the end of one to the start of the next."""
    cache: Literal["empty", "kept"] = "empty"
    """empty: the client requests the whole page. kept: it requests only what a returning visitor with a full cache
    needs."""


class WrittenResource(BaseModel):
    """A resource of a page in workload.json."""

    model_config = ConfigDict(strict=True, defer_build=True)

    path: str
    headers: list[WrittenHeader]
    initiator: int | None
    """The index of the resource that requests this one. None for the document, which is the first."""
    urgency: int
    run_ns: int
    host: str | None = None
    """The resource's host. Present only if it is not the workload's host."""


class PageFile(WorkloadFile):
    """The content of workload.json for the `page` kind."""

    kind: Literal["page"]
    page: list[WrittenResource]
    at_once: int
    """The largest number of simultaneous requests on each of a visit's `connections`."""
    visit: Literal["repeat"] | None = None
    """Present only if the client has visited the page before."""
    lookup: Literal["dns"] | None = None
    """Present only if the client must look up the server with its host's resolver and must not use `address`."""
    pause_ns: int | None = None
    """The time in ns between the end of a user's visit and the start of the next. Present only if it is not 0."""

    def asking(self) -> VisitOrder:
        askers, runs = [resource.initiator for resource in self.page], [resource.run_ns for resource in self.page]
        return VisitOrder(askers, runs, self.at_once)


@dataclass(frozen=True)
class Page(WorkloadKind):
    """A workload of the `page` kind."""

    load: PageParameters

    @cached_property
    def site(self) -> Site:
        """The part of the site that is requested. `fault` has checked that a site is given."""
        assert self.load.site is not None
        return self.load.site.repeat_requests() if self.load.cache == "kept" else self.load.site

    def hosts(self) -> Sequence[str]:
        return self.site.hosts

    def host(self, resource: int, /) -> str | None:
        return self.site.loads()[resource][0].host

    def exchanges(self) -> Sequence[Exchange]:
        loads = self.site.loads()
        return [
            Exchange("GET", down=resource.size if resource.exact else None, share=1 / len(loads))
            for resource, _ in loads
        ]

    def moved(self, way: str) -> float:
        """Return the average body bytes of a request. Unlike the base class, this builds no `Exchange`, because plans
        call it often."""
        exact = [resource for resource in self.site.resources if resource.exact] if way == "down" else []
        return sum(resource.size * resource.count for resource in exact) / sum(
            resource.count for resource in self.site.resources
        )

    def fault(self) -> str | None:
        if self.load.site is None:
            return "a workload of the kind page needs `site`, the name of a page (`h123 site show`)"
        if self.open_loop:
            return "page visits run one after another: leave out `rate` and `arrivals`"
        if self.abandons:
            return "a page visit is always complete: leave out `abandon`"
        if self.retries:
            return "a page visit requests each resource once: leave out `retry`"
        if self.load.connections != "shared":
            rule = f"{BROWSER_CONNECTIONS} over h1, one over h2 and h3"
            return f"a page visit uses as many connections as a browser, {rule}: leave out `connections`"
        if self.load.fallback and self.load.protocol != QUIC:
            return f"`fallback` is from HTTP/3 to HTTP/2: leave it out for {self.load.protocol}"
        if self.load.announced == HTTPS_RECORD and not self.load.fallback:
            return "`announced` only applies to a client that may use both protocols: write `fallback: true` too"
        if not self.load.cold and (self.load.fallback or self.repeats):
            which = "`visit: repeat`" if self.repeats else "`fallback`"
            return f"{which} needs visits with new connections: leave out `cold: false`"
        if self.repeats and self.load.users > 1:
            return "a browser closes the connections of all users at once: leave out `users`, or `visit: repeat`"
        return self._cache_fault() or self._documents_fault()

    def _cache_fault(self) -> str | None:
        if self.load.cache == "empty":
            return None
        if self.load.documents:
            return (
                "browsers, which `documents` are for, start each visit with an empty cache here: "
                "leave out `cache: kept`, or `documents`"
            )
        if len(self.site.loads()) == len(self.load.site.loads() if self.load.site else ()):
            return (
                f"nothing but the document of the site {self.site.name} is `cacheable`, so a returning visitor "
                "requests all of it: leave out `cache: kept`, or mark resources of the site as `cacheable`"
            )
        return None

    def _documents_fault(self) -> str | None:
        documents = self.documents()
        if documents and self.hosts():
            return (
                f"the site {self.site.name} has resources of several hosts, which here are one server at one address "
                "with one certificate for all names: a browser would share its connections between them, "
                "unlike on the real page; leave out `documents`, or import the page with all hosts "
                "as one"
            )
        if documents and (fault := documents.fault()):
            return f"the site {self.site.name} cannot be real documents: {fault}; leave out `documents`, or change it"
        return None

    @property
    def fallback(self) -> Literal["h2"] | None:
        return "h2" if self.load.fallback else None

    @property
    def announcement(self) -> Announcement | None:
        return self.load.announced if self.load.fallback else None

    @property
    def repeats(self) -> bool:
        return self.load.visit == "repeat"

    def documents(self) -> Documents | None:
        return Documents(self.site) if self.load.documents else None

    def label(self, unknown: Collection[str] = (), /) -> str:
        facts = {
            "fallback": self.announcement == ALT_SVC and "(HTTP/3 to be found)",
            "announced": self.announcement == HTTPS_RECORD and "(HTTP/3 in the DNS)",
            "visit": self.repeats and "(repeat visits)",
            "cache": self.load.cache == "kept" and "(returning visitors)",
            "pause": self.load.pause and f"({format_seconds(self.load.pause / 1e9)} between visits)",
        }
        page = f"page {self.site.name}, {len(self.site.loads())} requests, {format_bytes(self.site.bytes)}"
        return " ".join([page, *(word for name, word in facts.items() if word and name not in unknown)])

    def served(self) -> Sequence[int]:
        if self.load.documents:
            return []
        return list(dict.fromkeys(resource.size for resource in self.site.resources if resource.path is None))

    def resource(self, number: int, _: int) -> int:
        return number % len(self.site.loads())

    def visit(self) -> VisitShape:
        sizes = [resource.size for resource, _ in self.site.loads()]
        return VisitShape(len(sizes), max(range(len(sizes)), key=sizes.__getitem__))

    # Amounts

    @property
    def _at_once(self) -> int:
        return 1 if self.load.protocol == "h1" else STREAMS

    @property
    def _of_visit(self) -> int:
        return BROWSER_CONNECTIONS if self.load.protocol == "h1" else len(self.protocols())

    @cached_property
    def _of_hosts(self) -> Mapping[str | None, Counter[int]]:
        """For each host, the number of resources at each depth."""
        depths: dict[str | None, Counter[int]] = {}
        for (resource, _), depth in zip(self.site.loads(), self.site.depth(), strict=True):
            depths.setdefault(resource.host, Counter())[depth] += 1
        return depths

    def connection_count(self) -> int:
        """Return the largest number of simultaneous connections from all users to all hosts."""
        return self.load.users * self._of_visit * len(self._of_hosts)

    def connections_opened(self) -> int:
        """Return the largest number of connections that a trial opens. A page with many parallel requests opens all
        HTTP/1.1 connections of a visit. If HTTP/3 must be discovered, the connections of both protocols are
        included."""
        needed = sum(min(max(depths.values()), self._of_visit) for depths in self._of_hosts.values())
        return self.load.users * needed * (super().each() if self.load.cold else 1)

    def rows(self) -> dict[str, int] | None:
        """Return the number of samples in each phase. No sample is cold, because the first request of a visit opens the
        connection."""
        each = self.load.users * len(self.site.loads())
        return {"warm": each * self.load.requests, LEAVING: 0, "warmup": each * self.load.warmup, "cold": 0}

    def each(self) -> int:
        return super().each() * len(self.site.loads())

    def most_in_flight(self) -> int | None:
        """Return None: a visit may have any number of requests in progress, because requests wait for connections."""
        return None

    def most_on_connection(self) -> int | None:
        return min(self._at_once, max(depths.total() for depths in self._of_hosts.values()))

    def round_trips(self) -> float:
        """Return the round trips of one user's visits: for opening connections (to other hosts when they are first
        needed), for the resources of each depth after those of the previous depth, and for slow start."""
        room, hosts = self._of_visit * self._at_once, self._of_hosts.values()
        depths = {depth for of in hosts for depth in of}
        turns = sum(max(math.ceil(of[depth] / room) for of in hosts) for depth in depths)
        largest = max(self._bytes_of(host) for host in self._of_hosts) / self._of_visit
        first = self.load.protocol if self.announcement == HTTPS_RECORD else self.fallback or self.load.protocol
        handshakes = len({min(of) for of in hosts}) * handshake_round_trips(first)
        opened = handshakes + math.log2(1 + largest / INITIAL_WINDOW_BYTES)
        visits = self.load.requests + self.load.warmup
        return visits * turns + (visits if self.load.cold else 1) * opened

    def _bytes_of(self, host: str | None) -> int:
        return sum(resource.size * resource.count for resource in self.site.resources if resource.host == host)

    def pause_s(self) -> float:
        """Return the average pause before a request, in seconds. A repeat visit follows another visit without a pause
        between the two."""
        visits = super().each()
        paused = (visits - 1) * self.load.pause / (2 if self.repeats else 1)
        return (visits * self.site.running_ns() + paused) / 1e9 / self.each()

    def longest_pause_ns(self) -> int:
        return max(self.site.running_ns(), self.load.pause or 0)

    def longest_silence_ns(self) -> int:
        """Return the longest time in ns in which a connection may have no request in progress. Connections close at the
        end of a visit, unless the user's visits share them."""
        return self.site.running_ns() if self.load.cold else self.longest_pause_ns()

    # The file for a client

    def file(self, target: Target) -> WorkloadFile:
        common = {**self.common(target), "headers": [], "connections": self._of_visit}
        documents, loads = self.documents(), self.site.loads()
        paths = (
            documents.paths() if documents else [resource.path or f"/bytes/{resource.size}" for resource, _ in loads]
        )
        page = [
            self._resource(path, resource, asker, target) for path, (resource, asker) in zip(paths, loads, strict=True)
        ]
        optional = {
            "visit": self.repeats and "repeat",
            "lookup": self.announcement == HTTPS_RECORD and "dns",
            "pause_ns": self.load.pause,
        }
        common |= {name: value for name, value in optional.items() if value}
        return PageFile(
            **common | {"protocol": "-or-".join(self.protocols())},
            kind="page",
            page=page,
            at_once=self._at_once,
        )

    def _resource(self, path: str, resource: Resource, asker: int | None, target: Target) -> WrittenResource:
        urgency: dict[str, Header] = {}
        if self.load.protocol != "h1":
            urgency = {"priority": Header(name="priority", value=f"u={resource.priority}")}
        own = {header.name: header for header in self.load.headers}
        return WrittenResource(
            path=path,
            headers=list(written_headers({**urgency, **own}.values())),
            initiator=asker,
            urgency=resource.priority,
            run_ns=resource.run,
            **({} if resource.host is None else {"host": f"{resource.host}.{target.host}"}),
        )


def example(_: Collection[str], /, documents: bool = False) -> Mapping[str, Any]:
    """Return parameters of a small page: a document that requests a resource, which requests several at once."""
    parts = [
        {"name": "document", "type": "document", "size": 2000, "run": "1ms"},
        {"name": "style", "type": "style", "size": 10_000, "by": "document"},
        {"name": "images", "type": "image", "size": 20_000, "by": "style", "count": 8},
    ]
    return {"site": {"name": "example", "resources": parts}, **({"documents": True} if documents else {})}
