"""Defines the interface of all kinds of workloads, for the code that plans, runs, checks or shows them.

Each kind has a module in this package. The module defines the kind's parameters, a subclass of `Load`; its behaviour, a
subclass of `WorkloadKind`; and its workload.json for clients, a subclass of `WorkloadFile`. Only this package knows
kinds by their names. The optional features of a load each have a module: arrivals, abandonment, retries, headers.
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
"""The fraction of trials in which a random gap between requests may be longer than `longest_silence_ns`."""


@dataclass(frozen=True)
class WorkloadKind(ABC):
    """A workload. The methods return what is right for most kinds, and each kind overrides some of them."""

    load: Load

    @abstractmethod
    def exchanges(self) -> Sequence[Exchange]:
        """Return the distinct requests of the workload. A sample's `resource` is an index into them."""

    @abstractmethod
    def label(self, unknown: Collection[str] = (), /) -> str:
        """Return a short description, such as `GET 100 kB`, without parameters that are `unknown`."""

    @abstractmethod
    def file(self, target: Target) -> WorkloadFile:
        """Return the content of workload.json."""

    @abstractmethod
    def served(self) -> Sequence[int]:
        """Return the sizes n of the bodies that the client downloads from `/bytes/<n>`."""

    def documents(self) -> Documents | None:
        """Return the documents of the page if servers must have real ones, otherwise None."""
        return None

    def uploads(self) -> Sequence[Upload]:
        """Return the files that are uploaded."""
        return ()

    def fault(self) -> str | None:
        """Return why the parameters do not fit together, or None."""
        load = self.load
        count, warm = load.users * self.each(), load.users * load.requests
        if load.abandon is not None and load.retry is not None:
            return "a request is either abandoned or retried: leave out `abandon`, or `retry`"
        faults = [
            load.arrivals and load.arrivals.fault(count, rate=load.rate is not None),
            load.abandon and load.abandon.fault(warm, load.timeout),
            load.retry and load.retry.fault(load.timeout),
        ]
        return next((fault for fault in faults if fault), None)

    @property
    def open_loop(self) -> bool:
        """Whether requests are sent when they are due, even if earlier ones have no response yet."""
        return self.load.rate is not None or self.load.arrivals is not None

    @property
    def schedules_requests(self) -> bool:
        """Whether workload.json gives a time for each request."""
        return self.load.arrivals is not None

    @property
    def schedules_connections(self) -> bool:
        """Whether workload.json gives a connection for each request."""
        return self.load.arrivals is not None and self.load.arrivals.per == "connection"

    @property
    def abandons(self) -> bool:
        """Whether the client must abandon requests."""
        return self.load.abandon is not None

    @property
    def retries(self) -> bool:
        """Whether the client must retry requests."""
        return self.load.retry is not None

    def resource(self, _number: int, _seed: int) -> int:
        """Return the index of the resource that this request fetches. Requests are numbered user by user: first all
        requests of the first user, then all of the second, and so on."""
        return 0

    def visit(self) -> VisitShape | None:
        """Return the shape of the visit that requests belong to, or None if each request is independent."""
        return None

    def hosts(self) -> Sequence[str]:
        """Return the labels of additional hosts, below the server's name, that receive requests."""
        return ()

    def host(self, _resource: int, /) -> str | None:
        """Return the label of a resource's host, or None for the server's own name."""
        return None

    # Participants

    def methods(self) -> list[str]:
        return list(dict.fromkeys(exchange.method for exchange in self.exchanges() if exchange.method))

    def senders(self) -> list[Sender]:
        """Return the roles that send bodies, starting with the one that sends the most."""
        weight = dict.fromkeys(SENDERS.values(), 0.0)
        for exchange in self.exchanges():
            if exchange.method:
                weight[SENDERS[exchange.method]] += exchange.share * max(
                    exchange.moved("up"), exchange.moved("down"), 1
                )
        return [sender for sender in sorted(weight, key=lambda each: -weight[each]) if weight[sender]]

    @property
    def has_headers(self) -> bool:
        return bool(self.load.headers)

    def fresh_bytes(self) -> int:
        """Return how many bytes of each request's headers differ from those of all earlier requests."""
        return sum(header.bytes or 0 for header in self.load.headers if header.changes == "request")

    # Amounts

    def connection_count(self) -> int:
        """Return the number of connections according to the parameter `connections`: one shared, one per user, or a
        number.

        HTTP/1.1 carries one request at a time, so "shared" means one per user there.
        """
        connections = self.load.connections
        if isinstance(connections, int):
            return connections
        return self.load.users if connections == "per-user" or self.load.protocol == "h1" else 1

    def connections_opened(self) -> int:
        """Return the number of connections that a trial opens if no connection breaks."""
        return self.connection_count()

    def connections_again(self) -> int:
        """Return the largest number of HTTP/1.1 connections that may have to be reopened after abandoned or retried
        requests closed them."""
        rows = self.rows()
        if self.load.protocol != "h1" or rows is None:
            return 0
        retries = self.load.retry.at_most if self.load.retry else 0
        return rows[LEAVING] + retries * (rows["warm"] + rows["warmup"])

    def connections_uncounted(self) -> int:
        """Return the number of connections that no sample records, such as those that obtain a session to resume."""
        return 0

    @property
    def sessions(self) -> str:
        """The name of the way in which connections are opened, such as full handshakes (catalogue.openings)."""
        return FULL

    @property
    def early(self) -> bool:
        """Whether the first request of a connection is sent before its handshake is complete."""
        return self.opening.early

    @property
    def opening(self) -> SessionOpening:
        """The way in which connections of cold requests are opened."""
        return opening(self.sessions)

    @property
    def fallback(self) -> Literal["h2"] | None:
        """The protocol that the client may use if its preferred one does not get through, or None."""
        return None

    @property
    def announcement(self) -> Announcement | None:
        """The place where the client discovers HTTP/3, or None if workload.json names the protocol."""
        return None

    @property
    def repeats(self) -> bool:
        """Whether each visit follows an unrecorded visit, from which the client keeps what it learned."""
        return False

    def protocols(self) -> list[str]:
        """Return the protocols that may carry a request."""
        return [self.load.protocol, *([self.fallback] if self.fallback else [])]

    def rows(self) -> dict[str, int] | None:
        """Return the number of samples in each phase, or None if not all parameters are known."""
        load = self.load
        if _unknown(load, "users", "requests", "warmup", "cold", "connections"):
            return None
        cold = self.connection_count() if load.cold else 0
        warm = load.users * load.requests
        leaving = load.abandon.count(warm) if load.abandon else 0
        return {"warm": warm - leaving, LEAVING: leaving, "warmup": load.users * load.warmup, "cold": cold}

    def each(self) -> int:
        """Return the number of requests that one user sends, without cold requests."""
        return self.load.requests + self.load.warmup

    def round_trips(self) -> float:
        """Return the smallest number of round trips that all requests of one user take in a closed loop, one after
        another."""
        return self.each()

    def all_requests(self) -> int:
        """Return the number of requests in a trial, including cold ones."""
        return sum((self.rows() or {}).values())

    def moved(self, way: str) -> float:
        """Return the average body bytes of a request in direction `up` or `down`."""
        return sum(exchange.share * exchange.moved(way) for exchange in self.exchanges())

    def pause_s(self) -> float:
        """Return a user's average pause in seconds before a request."""
        return sum(exchange.share * exchange.pause_ns for exchange in self.exchanges()) / 1e9

    def longest_pause_ns(self) -> int:
        """Return the longest time in ns in which a user may have no request in progress."""
        return max((exchange.pause_ns for exchange in self.exchanges()), default=0)

    def longest_silence_ns(self) -> int:
        """Return the longest time in ns in which a connection may have no request in progress. In a closed loop this is
        the longest pause of a user. In an open loop it is a gap on one connection that 99 of 100 trials do not
        exceed."""
        if not self.open_loop:
            return self.longest_pause_ns()
        count = self.load.users * self.each()
        if self.load.arrivals:
            return round(self.load.arrivals.longest_gap_s(count, self.connection_count()) * 1e9)
        assert self.load.rate
        each = self.load.rate / self.connection_count()
        return round(math.log(count / RARE) / each * 1e9)

    def most_in_flight(self) -> int | None:
        """Return the number of simultaneous requests in a closed loop, or None if it is unknown or unlimited."""
        return None if self.open_loop else self.load.users

    def most_on_connection(self) -> int | None:
        """Return the largest number of simultaneous requests on one connection. Users are assigned to connections
        round-robin, and HTTP/1.1 carries one request at a time."""
        if self.open_loop or _unknown(self.load, "users", "connections"):
            return None
        return 1 if self.load.protocol == "h1" else -(-self.load.users // self.connection_count())

    def body_bytes(self) -> int | None:
        """Return the body bytes of each request if all have the same size, otherwise None."""
        sizes = {max(exchange.moved("up"), exchange.moved("down")) for exchange in self.exchanges()}
        return sizes.pop() or None if len(sizes) == 1 else None

    def statuses(self) -> list[int]:
        """Return the required status of each resource."""
        return [exchange.status for exchange in self.exchanges()]

    # The file for a client

    def common(self, target: Target) -> dict[str, Any]:
        """Return the fields of workload.json that all kinds have, and the fields of the load's optional features."""
        load, count = self.load, self.load.users * self.each()
        return {
            **common_fields(load, target),
            **(load.arrivals.fields(target.seed, count, self.connection_count()) if load.arrivals else {}),
            **(load.abandon.fields(target.seed, load.users, load.requests, load.warmup) if load.abandon else {}),
            **(load.retry.fields() if load.retry else {}),
        }


def _unknown(load: Load, *names: str) -> bool:
    return any(getattr(load, name) is None for name in names)
