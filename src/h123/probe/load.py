"""What a drafted study asks of a server: the requests of a survey, each equally often, or visits of a page."""

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
"""Of a study's file, as YAML writes it."""
_TRIAL_S = 1.5
"""About so long the requests of a trial take, without those that open connections."""
_REQUESTS, _VISITS = (5, 100), (3, 20)
"""Of a user, the fewest and the most."""
_TAIL = TAIL.needs.requests
"""Requests of a trial with which its 99th percentile is known."""
_TAIL_S = 12.0
"""So long a trial may take for the sake of it, where nothing asks for it."""
_RATE_S = 2.0
"""About so long requests at a rate are sent, where nobody says how many."""
_LOSSES = 2
_STUCK, _PATIENCE_S = 4, 30
"""So many times longer than it should have taken, losses included, and no less than so many seconds: then a trial is
stuck, and ended."""


@dataclass(frozen=True)
class OfferedLoad:
    """Users, each of which sends its next request, or begins its next visit, when the last one has ended."""

    users: int = 4
    requests: int | None = None
    """Of each user; None: as many as take a second or two."""
    rate: float | None = None
    """Requests a second of all users together, whether or not the last ones are answered."""
    least: int = 0
    """Requests that each trial must have, for what is asked of it."""
    virtual: bool = False
    """Under the virtual clock, where a longer trial costs little."""


class DraftedWorkload(Protocol):
    """What is asked."""

    @property
    def what(self) -> str:
        """`/orders and 2 more`."""

    @property
    def settings(self) -> Part:
        """Of the study."""

    @property
    def families(self) -> Sequence[Family]:
        """What the question is about, and what else is told."""

    @property
    def load(self) -> OfferedLoad:
        """Users, and what each makes."""

    def seconds(self, network: Network) -> float:
        """About so long a request, or a visit, takes over the network."""

    def times(self, network: Network) -> int:
        """Requests, or visits, of a user over the network: as many as take the time of a trial, if nobody said."""

    def lasts(self, network: Network) -> float:
        """About so many seconds all of them take there."""

    def tail(self, network: Network, /) -> bool:
        """Whether a trial there has requests enough for its 99th percentile."""


@dataclass(frozen=True)
class DraftedRequests:
    """The survey's, each equally often."""

    inquiry: Inquiry
    answers: Sequence[Sequence[Answer]]
    """By path, those of all servers over all protocols; at least one each."""
    load: OfferedLoad = OfferedLoad()

    @property
    def what(self) -> str:
        """`/orders and 2 more`."""
        paths = self.inquiry.site.paths
        first = hidden(paths[0])
        return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"

    @property
    def settings(self) -> Part:
        """Of the study."""
        mix = [self._entry(number, path) for number, path in enumerate(self.inquiry.site.paths)]
        rate = {"rate": self.load.rate} if self.load.rate else {}
        return {"kind": "mix", "users": self.load.users, "cold": True, **rate, "mix": mix}

    def _entry(self, number: int, path: str) -> Part:
        first = self.answers[number][0]
        sizes = {answer.bytes for answer in self.answers[number]}
        entry: Part = {"method": self.inquiry.method, "path": path}
        if self.inquiry.body:
            entry["file"] = str(real(self.inquiry.body))
        # Of an answer that is not always of one length, none can be held against it.
        return entry | ({"answer": f"{first.bytes}B"} if len(sizes) == 1 else {})

    @property
    def families(self) -> Sequence[Family]:
        """A study's usual ones, and of each metric the one of cold requests too."""
        answer, details = OF_REQUESTS
        cold = [of for name in (*answer.metrics, *details.metrics) if (of := METRICS[name].cold)]
        metrics = [of for name in details.metrics for of in ((name, *cold) if name in cold else (name,))]
        return answer, details.model_copy(update={"metrics": list(dict.fromkeys(metrics))})

    def seconds(self, network: Network) -> float:
        """By what the survey saw and the network's arithmetic, a mean over the paths."""
        return mean(self._seconds(answers, network) for answers in self.answers)

    def _seconds(self, answers: Sequence[Answer], network: Network) -> float:
        return _usual(answers) + network.round_trip_ns / 1e9 + self._bits(answers) / _rate(network)

    def _bits(self, answers: Sequence[Answer]) -> float:
        return self.load.users * max(answer.bytes for answer in answers) * 8

    def _at_worst(self, network: Network) -> float:
        """The same where losses hold one connection back."""
        slowed = min(_rate(network), _lossy(network))
        return mean(
            _usual(answers) + network.round_trip_ns / 1e9 + self._bits(answers) / slowed for answers in self.answers
        )

    def times(self, network: Network) -> int:
        """Of a user."""
        load = self.load
        if load.requests:
            return load.requests
        requests = math.ceil(load.rate * _RATE_S / load.users) if load.rate else 0
        requests = requests or _within(_REQUESTS, load, self.seconds(network))
        tail = math.ceil(_TAIL / load.users)
        affordable = load.virtual or tail * self._each(network) <= _TAIL_S
        return max(requests, tail if affordable else 1, math.ceil(load.least / load.users))

    def _each(self, network: Network) -> float:
        """Seconds of one of a user's requests, with losses, and at the rate that is asked for."""
        return max(self.load.users / self.load.rate if self.load.rate else 0.0, self._at_worst(network))

    def lasts(self, network: Network) -> float:
        """By the rate, or one after another."""
        return self.times(network) * self._each(network)

    def tail(self, network: Network, /) -> bool:
        """Of all users' requests."""
        return self.load.users * self.times(network) >= _TAIL


@dataclass(frozen=True)
class DraftedVisits:
    """Of a page, each with an empty cache and connections of its own."""

    page: Page
    load: OfferedLoad = OfferedLoad(1)

    @property
    def what(self) -> str:
        """`the page / (31 requests)`."""
        return f"the page {self.page.resources[0].path} ({len(self.page.loads())} requests)"

    @property
    def settings(self) -> Part:
        """Of the study."""
        resources = [resource.model_dump(mode="json", exclude_defaults=True) for resource in self.page.resources]
        for resource in resources:
            resource |= {
                name: f"{resource[name]}{unit}" for name, unit in (("size", "B"), ("run", "ns")) if name in resource
            }
        site = {"name": self.page.name, "resources": resources}
        return {"kind": "page", "users": self.load.users, "cold": True, "site": site}

    @property
    def families(self) -> Sequence[Family]:
        """Of visits."""
        return OF_VISITS

    def seconds(self, network: Network) -> float:
        """By the network's arithmetic: what comes one after another, and all bytes."""
        turns = max(self.page.depth()) + 2
        bits = self.load.users * self.page.bytes * 8
        return turns * network.round_trip_ns / 1e9 + bits / _rate(network) + self.page.running_ns() / 1e9

    def times(self, network: Network) -> int:
        """Of a user."""
        return _within(_VISITS, self.load, self.seconds(network))

    def lasts(self, network: Network) -> float:
        """One after another; losses cost a page more than they do its arithmetic."""
        return _LOSSES * self.times(network) * self.seconds(network)

    def tail(self, _: Network, /) -> bool:
        """The question is about visits."""
        return False


def _rate(network: Network) -> float:
    return network.down.rate.mean_bps if network.down and network.down.rate else 1e9


def _lossy(network: Network) -> float:
    """What one TCP connection gets through by its losses (Mathis et al. 1997), bits a second."""
    loss = network.down.loss.mean if network.down and network.down.loss else 0.0
    if not loss or not network.round_trip_ns:
        return math.inf
    return MSS_BYTES * 8 / (network.round_trip_ns / 1e9) * math.sqrt(1.5 / loss)


def _usual(answers: Sequence[Answer]) -> float:
    return median(answer.ns for answer in answers) / 1e9


def _within(bounds: tuple[int, int], load: OfferedLoad, seconds: float) -> int:
    """The number that is asked for, or of so many seconds each as a trial has time for."""
    return load.requests or max(bounds[0], min(bounds[1], math.floor(_TRIAL_S / max(seconds, 1e-6))))


def by_network(workload: DraftedWorkload, networks: Mapping[str, Network], files: Mapping[str, str]) -> dict[str, Part]:
    """The levels of a factor `network`; `files` has those that are given by a path."""
    return {
        name: {"network": files.get(name, name), "requests": workload.times(network)}
        for name, network in networks.items()
    }


def patience(workload: DraftedWorkload, networks: Mapping[str, Network]) -> Part:
    """The setting after which a trial is ended: a server that is stuck in every other trial must not make minutes of
    seconds."""
    longest = max(workload.lasts(network) for network in networks.values())
    return {"trial_timeout": f"{max(_PATIENCE_S, math.ceil(_STUCK * longest))}s"}
