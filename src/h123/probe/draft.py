"""Drafts the study that a survey suggests. `h123 compare` runs it, and the user may keep and change its text."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import yaml

from h123.base.paths import real
from h123.base.terminal.redaction import holds_secrets
from h123.catalogue import OwnServer
from h123.probe.inquiry import Inquiry
from h123.probe.load import DraftedWorkload, Part, by_network, patience
from h123.study import METRICS, TAIL, Condition, Network


@dataclass(frozen=True)
class Draft:
    servers: Mapping[str, OwnServer]
    """The servers. If there is one, its protocols are compared; if there are more, each is compared with the first."""
    inquiry: Inquiry
    protocols: Sequence[str]
    """The protocols to compare. All servers speak them."""
    workload: DraftedWorkload
    networks: Mapping[str, Network]
    client: str = "go"
    """The client: a subject that can send requests to servers that are not subjects."""
    clock: str = "wall"
    congestion: str = "default"
    seed: int = 1
    require: Sequence[Condition] = ()
    transport: str = "deployed"
    answers: str = "alike"
    """`alike`, or `any` to compare servers even if their responses differ."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The paths of the networks that were given as files, by the networks' names."""

    @property
    def builds(self) -> bool:
        """Whether the study compares servers rather than protocols."""
        return len(self.servers) > 1

    def text(self) -> str:
        return f"{_HEAD}{yaml.safe_dump(self.content(), sort_keys=False, width=120, default_flow_style=None)}"

    @property
    def private(self) -> bool:
        """Whether the study contains secrets, which other people must not read."""
        return holds_secrets(self.content())

    def content(self) -> Part:
        factors: Part = {
            "protocol": list(self.protocols),
            "network": by_network(self.workload, self.networks, self.files),
        }
        if self.builds:
            factors["server"] = list(self.servers)
        return {
            "h123": "study/1",
            "name": STUDY,
            "question": self.question,
            "servers": {name: _described(server) for name, server in self.servers.items()},
            "factors": {name: levels for name, levels in factors.items() if len(levels) > 1 or name != "protocol"},
            "settings": self._settings(),
            "compare": self._compare(),
            **({"require": [_required(condition) for condition in self.require]} if self.require else {}),
            "blocks": 8,
            "seed": self.seed,
        }

    @property
    def question(self) -> str:
        if self.builds:
            old, *new = self.servers
            return f"Does {' or '.join(new)} answer {self.workload.what} faster than {old}?"
        return f"Which HTTP version serves {self.workload.what} faster?"

    def _settings(self) -> Part:
        settings: Part = {"client": self.client, "port": self.inquiry.site.port, "congestion": self.congestion}
        if not self.builds:
            settings["server"] = next(iter(self.servers))
        if len(self.protocols) == 1:
            settings["protocol"] = self.protocols[0]
        settings |= {"transport": self.transport} if self.transport != "deployed" else {}
        headers = [{"name": header.name, "value": header.value} for header in self.inquiry.headers]
        settings |= {"clock": self.clock, **patience(self.workload, self.networks)}
        return settings | ({"headers": headers} if headers else {}) | self.workload.settings

    def _compare(self) -> Part:
        levels = list(self.servers) if self.builds else list(reversed(self.protocols))
        old = levels[0] if self.builds else levels[-1]
        couples = [(new, old) for new in levels[1:]] if self.builds else _couples(levels)
        pairs = [f"{a}/{b}" for a, b in couples]
        each = ["network", "protocol"] if self.builds and len(self.protocols) > 1 else ["network"]

        return {
            "factor": "server" if self.builds else "protocol",
            "pairs": pairs,
            "twin": old,
            "margin": "5%",
            **({"answers": self.answers} if self.answers != "alike" else {}),
            "families": list(self._families(each)),
        }

    def _families(self, each: Sequence[str]) -> Iterator[Part]:
        """Yield the families of the study. Each further metric, such as one that a condition names, has its own family,
        because eight blocks are too few to find a difference in a family of several metrics."""
        answer, details = self.workload.families
        yield answer.model_copy(update={"each": [*each]}).model_dump(exclude_none=True)
        required = [condition.metric for condition in self.require if condition.metric not in answer.metrics]
        tail = [TAIL.name] if any(map(self.workload.tail, self.networks.values())) else []
        # The processor time of a server that runs elsewhere is unknown here.
        elsewhere = any(server.command is None for server in self.servers.values())
        metrics = [name for name in details.metrics if not (elsewhere and METRICS[name].of_the_server)]
        for metric in dict.fromkeys([*metrics, *tail, *required]):
            alone = {"name": metric.replace("_", "-"), "metrics": [metric], "each": [*each]}
            yield details.model_copy(update=alone).model_dump(exclude_none=True)


STUDY = "compare"
"""The name of every drafted study."""
_HEAD = """\
# Written by `h123 compare`. `h123 plan FILE` shows what will run, `h123 run FILE` runs it.
# What each line means: docs/contracts/study.md; the server's: docs/compare.md.
"""


def _required(condition: Condition) -> Part | str:
    return condition.holds if condition.by == "interval" else condition.model_dump()


def _couples(levels: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each level with its neighbour, and the first with the last: h3/h2, h2/h1, h3/h1."""
    near = list(pairwise(levels))
    return near + ([(levels[0], levels[-1])] if len(levels) > 2 else [])


def _described(server: OwnServer) -> Part:
    fields = server.model_dump(mode="json", exclude_defaults=True, exclude={"starts_within"})
    if server.command is None:
        return {name: value for name, value in fields.items() if name != "folder"}
    return fields | {"command": shlex.join(shlex.split(server.command)), "folder": str(real(Path(server.folder)))}
