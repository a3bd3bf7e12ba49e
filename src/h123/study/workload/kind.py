"""What a workload of any kind answers to those who plan, run, check or show it.

A kind is a module in this package. It has its parameters, a subclass of `Load`; its answers, a subclass of
`WorkloadKind`; and what it writes for a client in workload.json, a subclass of `WorkloadFile`. Nothing outside of this
package knows kinds by their names. What a load may ask for besides has a module each: arrivals, abandonment, retries,
headers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from h123.catalogue import FULL, Announcement, SessionOpening, opening
from h123.study.sites.documents import Documents
from h123.study.workload.abandon import LEAVING
from h123.study.workload.client_file import Target, WorkloadFile, common_fields
from h123.study.workload.load import SENDERS, Exchange, Load, Sender, Upload, VisitShape

RARE = 0.01
"""Of trials: those in which chance may have made something longer than is reckoned with."""


@dataclass(frozen=True)
class WorkloadKind(ABC):
    """The answers of a workload. Those that are alike for all kinds so far are given here."""

    load: Load
    """Its parameters."""

    @abstractmethod
    def exchanges(self) -> Sequence[Exchange]:
        """The different requests it is made of; a sample's `resource` is the index of its own."""

    @abstractmethod
    def label(self, unknown: Collection[str] = (), /) -> str:
        """In words, such as `GET 100 kB`; without what parameters that are `unknown` would say."""

    @abstractmethod
    def file(self, target: Target) -> WorkloadFile:
        """workload.json."""

    @abstractmethod
    def served(self) -> Sequence[int]:
        """Sizes of the bodies that it downloads as `/bytes/<n>`."""

    def documents(self) -> Documents | None:
        """The page's own, where servers are to have real ones."""
        return None

    def uploads(self) -> Sequence[Upload]:
        """The files that it uploads."""
        return ()

    def fault(self) -> str | None:
        """Why its parameters make no workload together, in words; None: they do."""
        load = self.load
        count, warm = load.users * self.each(), load.users * load.requests
        if load.abandon is not None and load.retry is not None:
            return "a request is given up for good, or made again: leave out `abandon`, or `retry`"
        faults = [
            load.arrivals and load.arrivals.fault(count, rate=load.rate is not None),
            load.abandon and load.abandon.fault(warm, load.timeout),
            load.retry and load.retry.fault(load.timeout),
        ]
        return next((fault for fault in faults if fault), None)

    @property
    def open_loop(self) -> bool:
        """Whether requests are due whether or not earlier ones have been answered."""
        return self.load.rate is not None or self.load.arrivals is not None

    @property
    def schedules_requests(self) -> bool:
        """Whether the client is told when each request is due."""
        return self.load.arrivals is not None

    @property
    def schedules_connections(self) -> bool:
        """And on which connection."""
        return self.load.arrivals is not None and self.load.arrivals.per == "connection"

    @property
    def abandons(self) -> bool:
        """Whether the client is told to give requests up."""
        return self.load.abandon is not None

    @property
    def retries(self) -> bool:
        """Whether the client is told to make requests again."""
        return self.load.retry is not None

    def resource(self, _number: int, _seed: int) -> int:
        """What a request is for, of those of all users, counted one user after another."""
        return 0

    def visit(self) -> VisitShape | None:
        """What its requests make up; None: each is by itself."""
        return None

    def hosts(self) -> Sequence[str]:
        """Labels of the names, below the server's own, that requests are made of too."""
        return ()

    def host(self, _resource: int, /) -> str | None:
        """That a resource is asked of, by its label; None: the server's own name."""
        return None

    # Who takes part

    def methods(self) -> list[str]:
        """Each that a request has."""
        return list(dict.fromkeys(exchange.method for exchange in self.exchanges() if exchange.method))

    def senders(self) -> list[Sender]:
        """Those that send bodies, whoever sends most of them first."""
        weight = dict.fromkeys(SENDERS.values(), 0.0)
        for exchange in self.exchanges():
            if exchange.method:
                weight[SENDERS[exchange.method]] += exchange.share * max(
                    exchange.moved("up"), exchange.moved("down"), 1
                )
        return [sender for sender in sorted(weight, key=lambda each: -weight[each]) if weight[sender]]

    @property
    def has_headers(self) -> bool:
        """Whether a client must send headers that the study names."""
        return bool(self.load.headers)

    def fresh_bytes(self) -> int:
        """Of headers in each request that no earlier one had."""
        return sum(header.bytes or 0 for header in self.load.headers if header.changes == "request")

    # How much there is of it

    def connection_count(self) -> int:
        """By the parameter `connections`: one that is shared, one per user, or a number.

        HTTP/1.1 carries one request at a time, so there "shared" is one per user too.
        """
        connections = self.load.connections
        if isinstance(connections, int):
            return connections
        return self.load.users if connections == "per-user" or self.load.protocol == "h1" else 1

    def connections_opened(self) -> int:
        """In a trial in which none is lost."""
        return self.connection_count()

    def connections_again(self) -> int:
        """At most, in place of those over HTTP/1.1 that requests have closed which are abandoned or made again."""
        rows = self.rows()
        if self.load.protocol != "h1" or rows is None:
            return 0
        retries = self.load.retry.at_most if self.load.retry else 0
        return rows[LEAVING] + retries * (rows["warm"] + rows["warmup"])

    def connections_uncounted(self) -> int:
        """Beside these: such as earn a session for them to resume, and have no row."""
        return 0

    @property
    def sessions(self) -> str:
        """What handshakes are asked for (catalogue.openings)."""
        return FULL

    @property
    def early(self) -> bool:
        """Whether the first request of a connection goes out before its handshake is complete."""
        return self.opening.early

    @property
    def opening(self) -> SessionOpening:
        """How connections of cold requests are opened."""
        return opening(self.sessions)

    @property
    def fallback(self) -> Literal["h2"] | None:
        """The protocol that the client may take where its own does not come through; None: no other."""
        return None

    @property
    def announcement(self) -> Announcement | None:
        """Where the client finds HTTP/3 by itself; None: it is told of it."""
        return None

    @property
    def repeats(self) -> bool:
        """Whether each visit follows one that has no row, and of which the client has kept what it learnt."""
        return False

    def protocols(self) -> list[str]:
        """That a request may have been carried by."""
        return [self.load.protocol, *([self.fallback] if self.fallback else [])]

    def rows(self) -> dict[str, int] | None:
        """Samples by phase; None where not all parameters are known."""
        load = self.load
        if _unknown(load, "users", "requests", "warmup", "cold", "connections"):
            return None
        cold = self.connection_count() if load.cold else 0
        warm = load.users * load.requests
        leaving = load.abandon.count(warm) if load.abandon else 0
        return {"warm": warm - leaving, LEAVING: leaving, "warmup": load.users * load.warmup, "cold": cold}

    def each(self) -> int:
        """Requests of one user, cold ones apart."""
        return self.load.requests + self.load.warmup

    def round_trips(self) -> float:
        """That one user takes in a closed loop, at least: a request, then the next."""
        return self.each()

    def all_requests(self) -> int:
        """Of a trial, cold ones too."""
        return sum((self.rows() or {}).values())

    def moved(self, way: str) -> float:
        """Body bytes of a request `up` or `down`, on average."""
        return sum(exchange.share * exchange.moved(way) for exchange in self.exchanges())

    def pause_s(self) -> float:
        """That a user takes before a request, on average."""
        return sum(exchange.share * exchange.pause_ns for exchange in self.exchanges()) / 1e9

    def longest_pause_ns(self) -> int:
        """In which a user need not have a request under way."""
        return max((exchange.pause_ns for exchange in self.exchanges()), default=0)

    def longest_silence_ns(self) -> int:
        """In which a connection need not have a request under way: while a user thinks; at a rate, the longest gap
        between starts on one of the connections that one trial in a hundred has."""
        if not self.open_loop:
            return self.longest_pause_ns()
        count = self.load.users * self.each()
        if self.load.arrivals:
            return round(self.load.arrivals.longest_gap_s(count, self.connection_count()) * 1e9)
        assert self.load.rate
        each = self.load.rate / self.connection_count()
        return round(math.log(count / RARE) / each * 1e9)

    def most_in_flight(self) -> int | None:
        """Requests under way at once in a closed loop; None where that is not known, or nothing limits it."""
        return None if self.open_loop else self.load.users

    def most_on_connection(self) -> int | None:
        """Of these, on one connection: users are dealt round robin. HTTP/1.1 has one request at a time there."""
        if self.open_loop or _unknown(self.load, "users", "connections"):
            return None
        return 1 if self.load.protocol == "h1" else -(-self.load.users // self.connection_count())

    def body_bytes(self) -> int | None:
        """Of each request, where all are alike."""
        sizes = {max(exchange.moved("up"), exchange.moved("down")) for exchange in self.exchanges()}
        return sizes.pop() or None if len(sizes) == 1 else None

    def statuses(self) -> list[int]:
        """That each resource must be answered with."""
        return [exchange.status for exchange in self.exchanges()]

    # What a client is told

    def common(self, target: Target) -> dict[str, Any]:
        """The fields of workload.json that all kinds have, and those of what the load asks for besides."""
        load, count = self.load, self.load.users * self.each()
        return {
            **common_fields(load, target),
            **(load.arrivals.fields(target.seed, count, self.connection_count()) if load.arrivals else {}),
            **(load.abandon.fields(target.seed, load.users, load.requests, load.warmup) if load.abandon else {}),
            **(load.retry.fields() if load.retry else {}),
        }


def _unknown(load: Load, *names: str) -> bool:
    return any(getattr(load, name) is None for name in names)
