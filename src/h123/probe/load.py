"""Defines the workload of a drafted study: the survey's requests, each sent equally often, or visits to a page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, Protocol

from h123.base.paths import real
from h123.base.terminal.redaction import hidden
from h123.probe.findings import Answer
from h123.probe.inquiry import Inquiry
from h123.study import METRICS, OF_REQUESTS, OF_VISITS, TAIL, Family, Network
from h123.study.round_trips import MSS_BYTES
from h123.study.sites.site import Site as Page

Part = dict[str, Any]
"""A part of a study's file, in YAML's types."""
_TRIAL_S = 1.5
"""The target duration, in s, of a trial's requests, not counting requests that open connections."""
_REQUESTS, _VISITS = (5, 100), (3, 20)
"""The smallest and the largest number of requests, or of visits, per user."""
_TAIL = TAIL.needs.requests
"""The smallest number of requests in a trial for which its 99th percentile is known."""
_TAIL_S = 12.0
"""The longest time, in s, to which a trial is extended so that it has enough requests for its 99th percentile. Under
the virtual clock, there is no such limit."""
_RATE_S = 2.0
"""The approximate duration in s of a trial at a given rate, unless the user sets the number of requests."""
_LOSSES = 2
_STUCK, _PATIENCE_S = 4, 30
"""A trial is considered stuck, and is ended, when it has taken _STUCK times as long as expected, including losses, but
not before _PATIENCE_S seconds."""


@dataclass(frozen=True)
class OfferedLoad:
    """The load that users create. Without a `rate`, each user sends the next request, or begins the next visit, when
    the previous one has ended."""

    users: int = 4
    requests: int | None = None
    """Requests per user. None means enough for a second or two."""
    rate: float | None = None
    """Total requests per second across all users. They are sent whether or not earlier requests have ended."""
    least: int = 0
    """The smallest number of requests in a trial that the question needs."""
    virtual: bool = False
    """Whether the virtual clock is used, under which a longer trial costs little."""


class DraftedWorkload(Protocol):
    """The workload of a drafted study."""

    @property
    def what(self) -> str:
        """A description of the workload: `/orders and 2 more`."""

    @property
    def settings(self) -> Part:
        """The study's settings for the workload."""

    @property
    def families(self) -> Sequence[Family]:
        """Two families of metrics: one for the question, and one for the details."""

    @property
    def load(self) -> OfferedLoad:
        """The users, and the number of requests of each."""

    def seconds(self, network: Network) -> float:
        """Return about how many seconds a request, or a visit, takes over the network."""

    def times(self, network: Network) -> int:
        """Return how many requests, or visits, each user in `load` makes over the network: as many as `load` says, or
        enough to fill a trial."""

    def lasts(self, network: Network) -> float:
        """Return about how many seconds all requests, or visits, take over the network."""

    def tail(self, network: Network, /) -> bool:
        """Return whether a trial over the network has enough requests for its 99th percentile."""


@dataclass(frozen=True)
class DraftedRequests:
    """The survey's requests, each sent equally often."""

    inquiry: Inquiry
    answers: Sequence[Sequence[Answer]]
    """For each path, the responses of all servers over all protocols, at least one each."""
    load: OfferedLoad = OfferedLoad()

    @property
    def what(self) -> str:
        """A description of the requests: `/orders and 2 more`."""
        paths = self.inquiry.site.paths
        first = hidden(paths[0])
        return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"

    @property
    def settings(self) -> Part:
        mix = [self._entry(number, path) for number, path in enumerate(self.inquiry.site.paths)]
        rate = {"rate": self.load.rate} if self.load.rate else {}
        return {"kind": "mix", "users": self.load.users, "cold": True, **rate, "mix": mix}

    def _entry(self, number: int, path: str) -> Part:
        first = self.answers[number][0]
        sizes = {answer.bytes for answer in self.answers[number]}
        entry: Part = {"method": self.inquiry.method, "path": path}
        if self.inquiry.body:
            entry["file"] = str(real(self.inquiry.body))
        # If a response's length varies, the study states none, so that no response is wrong because of its length.
        return entry | ({"answer": f"{first.bytes}B"} if len(sizes) == 1 else {})

    @property
    def families(self) -> Sequence[Family]:
        """The usual families of metrics. The details also contain the cold version of each metric that has one."""
        answer, details = OF_REQUESTS
        cold = [of for name in (*answer.metrics, *details.metrics) if (of := METRICS[name].cold)]
        metrics = [of for name in details.metrics for of in ((name, *cold) if name in cold else (name,))]
        return answer, details.model_copy(update={"metrics": list(dict.fromkeys(metrics))})

    def seconds(self, network: Network) -> float:
        """Return the expected time of a request in s, averaged over the paths. It is computed from the survey's
        responses and the network's profile."""
        return mean(self._seconds(answers, network) for answers in self.answers)

    def _seconds(self, answers: Sequence[Answer], network: Network) -> float:
        return _usual(answers) + network.round_trip_ns / 1e9 + self._bits(answers) / _rate(network)

    def _bits(self, answers: Sequence[Answer]) -> float:
        return self.load.users * max(answer.bytes for answer in answers) * 8

    def _at_worst(self, network: Network) -> float:
        """Return the expected time of a request in s if losses slow its connection down."""
        slowed = min(_rate(network), _lossy(network))
        return mean(
            _usual(answers) + network.round_trip_ns / 1e9 + self._bits(answers) / slowed for answers in self.answers
        )

    def times(self, network: Network) -> int:
        load = self.load
        if load.requests:
            return load.requests
        requests = math.ceil(load.rate * _RATE_S / load.users) if load.rate else 0
        requests = requests or _within(_REQUESTS, load, self.seconds(network))
        tail = math.ceil(_TAIL / load.users)
        affordable = load.virtual or tail * self._each(network) <= _TAIL_S
        return max(requests, tail if affordable else 1, math.ceil(load.least / load.users))

    def _each(self, network: Network) -> float:
        """Return the time, in s, from one of a user's requests to the next, with losses and at the requested rate."""
        return max(self.load.users / self.load.rate if self.load.rate else 0.0, self._at_worst(network))

    def lasts(self, network: Network) -> float:
        """Return how many seconds all requests take."""
        return self.times(network) * self._each(network)

    def tail(self, network: Network, /) -> bool:
        """Return whether there are enough requests, across all users, for a 99th percentile."""
        return self.load.users * self.times(network) >= _TAIL


@dataclass(frozen=True)
class DraftedVisits:
    """Visits to a page, each with an empty cache and its own connections."""

    page: Page
    load: OfferedLoad = OfferedLoad(1)

    @property
    def what(self) -> str:
        """A description of the visits: `the page / (31 requests)`."""
        return f"the page {self.page.resources[0].path} ({len(self.page.loads())} requests)"

    @property
    def settings(self) -> Part:
        resources = [resource.model_dump(mode="json", exclude_defaults=True) for resource in self.page.resources]
        for resource in resources:
            resource |= {
                name: f"{resource[name]}{unit}" for name, unit in (("size", "B"), ("run", "ns")) if name in resource
            }
        site = {"name": self.page.name, "resources": resources}
        return {"kind": "page", "users": self.load.users, "cold": True, "site": site}

    @property
    def families(self) -> Sequence[Family]:
        return OF_VISITS

    def seconds(self, network: Network) -> float:
        """Return the expected time of a visit over the network in s: its longest chain of requests, the transfer of all
        bytes, and the running of scripts."""
        turns = max(self.page.depth()) + 2
        bits = self.load.users * self.page.bytes * 8
        return turns * network.round_trip_ns / 1e9 + bits / _rate(network) + self.page.running_ns() / 1e9

    def times(self, network: Network) -> int:
        return _within(_VISITS, self.load, self.seconds(network))

    def lasts(self, network: Network) -> float:
        """Return how long all visits of a user take, in s, with an allowance for losses, which `seconds` ignores."""
        return _LOSSES * self.times(network) * self.seconds(network)

    def tail(self, _: Network, /) -> bool:
        """Return False, because the question is about visits."""
        return False


def _rate(network: Network) -> float:
    return network.down.rate.mean_bps if network.down and network.down.rate else 1e9


def _lossy(network: Network) -> float:
    """Return the rate, in bit/s, of one TCP connection with the network's losses (Mathis et al. 1997)."""
    loss = network.down.loss.mean if network.down and network.down.loss else 0.0
    if not loss or not network.round_trip_ns:
        return math.inf
    return MSS_BYTES * 8 / (network.round_trip_ns / 1e9) * math.sqrt(1.5 / loss)


def _usual(answers: Sequence[Answer]) -> float:
    return median(answer.ns for answer in answers) / 1e9


def _within(bounds: tuple[int, int], load: OfferedLoad, seconds: float) -> int:
    """Return the number of requests or visits that the load sets. If it sets none, return how many that take `seconds`
    each fill a trial, within `bounds`."""
    return load.requests or max(bounds[0], min(bounds[1], math.floor(_TRIAL_S / max(seconds, 1e-6))))


def by_network(workload: DraftedWorkload, networks: Mapping[str, Network], files: Mapping[str, str]) -> dict[str, Part]:
    """Return the levels of a factor `network`. `files` maps the names of networks that were given as files to their
    paths."""
    return {
        name: {"network": files.get(name, name), "requests": workload.times(network)}
        for name, network in networks.items()
    }


def patience(workload: DraftedWorkload, networks: Mapping[str, Network]) -> Part:
    """Return the setting for a trial's time limit. The limit is short, because a server that hangs in many trials would
    otherwise make the campaign very long."""
    longest = max(workload.lasts(network) for network in networks.values())
    return {"trial_timeout": f"{max(_PATIENCE_S, math.ceil(_STUCK * longest))}s"}
