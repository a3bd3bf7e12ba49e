"""The study that a survey suggests: what `h123 compare` runs, as text that a person may keep and change."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from h123.catalogue import OwnServer
from h123.study import Comparison, Condition, Network
from h123.survey.found import Answer
from h123.survey.inquiry import Inquiry

CLIENT = "go"
"""The embedded subject that asks servers which are no subjects."""
_TRIAL_S = 1.5
"""About so long the requests of a trial take, without those that open connections."""
_FEWEST, _MOST = 5, 100
"""Requests of a user."""
_Part = dict[str, Any]
"""Of the file, as YAML writes it."""


@dataclass(frozen=True)
class Load:
    """Users, each of which sends its next request when the last one is answered."""

    users: int = 4
    requests: int | None = None
    """Of each user; None: as many as take a second or two."""


@dataclass(frozen=True)
class Draft:
    """What is compared."""

    servers: Mapping[str, OwnServer]
    """One: its protocols are compared. Two: the second is compared with the first."""
    inquiry: Inquiry
    protocols: Sequence[str]
    """Those that all of them speak, of what is to be compared."""
    answers: Sequence[Sequence[Answer]]
    """By path, those of all servers over all these protocols; at least one each."""
    networks: Mapping[str, Network]
    load: Load = field(default=Load())
    clock: str = "wall"
    congestion: str = "own"
    seed: int = 1
    require: Sequence[Condition] = ()

    @property
    def builds(self) -> bool:
        """Whether two servers are compared, not two protocols."""
        return len(self.servers) > 1

    def text(self) -> str:
        """As a study file."""
        return f"{_HEAD}{yaml.safe_dump(self._study(), sort_keys=False, width=120, default_flow_style=None)}"

    def _study(self) -> _Part:
        factors: _Part = {"protocol": list(self.protocols), "network": self._levels()}
        if self.builds:
            factors["server"] = list(self.servers)
        return {
            "h123": "study/1",
            "name": "compare",
            "question": self.question,
            "servers": {name: _described(server) for name, server in self.servers.items()},
            "factors": {name: levels for name, levels in factors.items() if len(levels) > 1 or name != "protocol"},
            "settings": self._settings(),
            "compare": self._compare(),
            **({"require": [_required(one) for one in self.require]} if self.require else {}),
            "blocks": 8,
            "seed": self.seed,
        }

    @property
    def question(self) -> str:
        """In words."""
        site = self.inquiry.site
        what = site.paths[0] if len(site.paths) == 1 else f"{site.paths[0]} and {len(site.paths) - 1} more"
        if self.builds:
            old, new = self.servers
            return f"Does {new} answer {what} faster than {old}?"
        return f"Which HTTP version serves {what} faster?"

    def _settings(self) -> _Part:
        settings: _Part = {"client": CLIENT, "port": self.inquiry.site.port, "congestion": self.congestion}
        if not self.builds:
            settings["server"] = next(iter(self.servers))
        if len(self.protocols) == 1:
            settings["protocol"] = self.protocols[0]
        headers = [{"name": header.name, "value": header.value} for header in self.inquiry.headers]
        settings |= {"clock": self.clock, "kind": "mix", "users": self.load.users, "cold": True}
        return settings | ({"headers": headers} if headers else {}) | {"mix": self._mix()}

    def _mix(self) -> list[_Part]:
        return [self._entry(number, path) for number, path in enumerate(self.inquiry.site.paths)]

    def _entry(self, number: int, path: str) -> _Part:
        first = self.answers[number][0]
        sizes = {answer.bytes for answer in self.answers[number]}
        entry: _Part = {"method": self.inquiry.method, "path": path, "status": first.status}
        if self.inquiry.body:
            entry["file"] = str(self.inquiry.body.resolve())
        # Of an answer that is not always of one length, none can be held against it.
        return entry | ({"answer": f"{first.bytes}B"} if len(sizes) == 1 else {})

    def _levels(self) -> _Part:
        return {name: {"network": name, "requests": self._requests(net)} for name, net in self.networks.items()}

    def _requests(self, network: Network) -> int:
        """Of a user: as many as take the time of a trial, by what the survey saw and the network's arithmetic."""
        if self.load.requests:
            return self.load.requests
        counts = range(len(self.inquiry.site.paths))
        seconds = sum(self._seconds(number, network) for number in counts) / len(counts)
        return max(_FEWEST, min(_MOST, math.floor(_TRIAL_S / seconds)))

    def _seconds(self, number: int, network: Network) -> float:
        answers = self.answers[number]
        size, quickest = max(answer.bytes for answer in answers), min(answer.ns for answer in answers) / 1e9
        rate = network.down.rate.mean_bps if network.down and network.down.rate else 1e9
        return quickest + network.round_trip_ns / 1e9 + self.load.users * size * 8 / rate

    def _compare(self) -> _Part:
        levels = list(self.servers) if self.builds else list(reversed(self.protocols))
        old = levels[0] if self.builds else levels[-1]
        pairs = [f"{levels[1]}/{levels[0]}"] if self.builds else [f"{a}/{b}" for a, b in _couples(levels)]
        each = ["network", "protocol"] if self.builds and len(self.protocols) > 1 else ["network"]

        return {
            "factor": "server" if self.builds else "protocol",
            "pairs": pairs,
            "twin": old,
            "margin": "5%",
            "families": list(_families(each)),
        }


_HEAD = """\
# Written by `h123 compare`. `h123 plan FILE` shows what will run, `h123 run FILE` runs it.
# What each line means: docs/contracts/study.md; the server's: docs/compare.md.
"""


def _families(each: Sequence[str]) -> Iterator[_Part]:
    """A study's usual ones, but each further metric by itself: eight blocks can then find a difference in one alone."""
    answer, details = Comparison.model_fields["families"].default
    yield answer.model_copy(update={"each": [*each]}).model_dump(exclude_none=True)
    for metric in details.metrics:
        alone = {"name": metric.replace("_", "-"), "metrics": [metric], "each": [*each]}
        yield details.model_copy(update=alone).model_dump(exclude_none=True)


def _required(condition: Condition) -> _Part | str:
    return condition.holds if condition.by == "interval" else condition.model_dump()


def _couples(levels: Sequence[str]) -> list[tuple[str, str]]:
    """Each with its neighbour, and the first with the last: h3/h2, h2/h1, h3/h1."""
    near = list(pairwise(levels))
    return near + ([(levels[0], levels[-1])] if len(levels) > 2 else [])


def _described(server: OwnServer) -> _Part:
    kept = server.model_dump(mode="json", exclude_defaults=True, exclude={"starts_within"})
    return kept | {"command": shlex.join(shlex.split(server.command)), "folder": str(Path(server.folder).resolve())}
