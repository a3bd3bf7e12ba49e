"""What kinds of made causes are, and how a seed draws cases of them."""

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from adversary.zoo import Program
from causes.scene import Scene, network
from h123.study.networks.network import Network

Truth = frozenset[str]
"""Groups of causes, or single causes of them, any of which is right to name."""
TCP: Final = ("h1", "h2")
MANY: Final = ("h2", "h3")
EVERY: Final = ("h1", "h2", "h3")
QUIC: Final = ("h3",)
CLIENTS: Final = ("go", "load", "curl-openssl", "pycurl")
CURL: Final = ("curl-openssl", "pycurl")
LOADS: Final = (1, 4, 16)
_REQUESTS: Final = {1: 6, 4: 4, 16: 3}
SAY_BLOCKED: Final = ("go", "load")
"""Clients that say over QUIC when flow control holds them back, which the server then writes down."""
_RENO: Final = ("curl-openssl",)
"""Clients whose QUIC has that controller alone."""

ON_NODE: Final = {
    *("--think", "--think-most", "--think-every", "--pause", "--head-first", "--chunked", "--piece", "--pieces"),
    *("--nagle", "--window", "--stream-window", "--streams"),
}
"""What the made server on Node.js can be asked for."""

SERVER: Final = Truth({"server"})
STREAMING: Final = Truth({"idle", "server"})
LIMIT: Final = Truth({"limit"})
PLACE: Final = Truth({"place"})
LOSS: Final = Truth({"mending", "cut"})
QUEUE_LOSS: Final = Truth({"queue-loss"})
POLICED: Final = Truth({"policed"})
TOO_LARGE: Final = Truth({"too-large"})
MARKED: Final = Truth({"marked"})
CROSS: Final = Truth({"cross"})
QUEUE: Final = Truth({"queue"})
OTHERS: Final = Truth({"cross", "queue-loss"})
RATE: Final = Truth({"rate"})
SHARED_RATE: Final = Truth({"rate", "queue"})
CONNECTING: Final = Truth({"connecting"})
CHAIN: Final = Truth({"amplification"})
SLOW_START: Final = Truth({"slow-start"})
SMALL: Final = Truth({"slow-start", "window", "limit"})
NAGLE: Final = Truth({"nagle"})


@dataclass(frozen=True)
class Pair:
    """A trial with a cause, and without."""

    made: Scene
    without: Scene | None = None
    """None: the cause cannot be taken away; the trial's own time counts."""
    each: Sequence[tuple[Truth, Scene]] = ()
    """Of two causes: each, with the trial that has the other one alone."""
    exact: Truth | None = None
    """What is right to name, where this pair says it more closely than its kind."""


@dataclass(frozen=True)
class Kind:
    """One kind of cause."""

    name: str
    truth: Truth
    why: str
    """Why this is the truth."""
    draw: Callable[["Drawing"], Pair]
    protocols: Sequence[str] = EVERY
    clients: Sequence[str] = CLIENTS
    loads: Sequence[int] = LOADS
    either: bool = False
    """Of two causes that feed each other: each is right to name, whichever costs more by itself."""


@dataclass(frozen=True)
class Case:
    """One that was drawn."""

    number: int
    seed: int
    kind: Kind
    pair: Pair

    def __str__(self) -> str:
        made = self.pair.made
        shown = {name: value for name, value in made.parameters.items() if name != "requests"}
        words = [f"{made.over.round_trip_ns / 1e6:g} ms", *(f"{name}={value}" for name, value in shown.items())]
        words += [made.program, *made.server, *made.asking, *(["qlog"] if made.qlog else [])]
        return f"{self.number}: {self.kind.name}, {made.protocol}, {made.client}, {' '.join(words)}"


@dataclass
class Drawing:
    """What a kind's cases are drawn from."""

    random: random.Random
    protocol: str
    client: str
    users: int

    def between(self, low: float, high: float) -> int:
        """A whole number; small ones as likely as large ones, by their ratio."""
        return round(low * math.pow(high / low, self.random.random()))

    def of(self, *choices: Any) -> Any:
        """One of them."""
        return self.random.choice(choices)

    def scene(
        self, *, over: Network | None = None, ms: float = 0, mbit: float = 100, phase: str = "warm", **parameters: Any
    ) -> Scene:
        """Of the client and the load that were drawn."""
        over = over or network(ms=ms or self.between(8, 100), mbit=mbit)
        requests = 1 if phase == "cold" else _REQUESTS.get(self.users, 3)
        given = {"users": self.users, "requests": requests, "size": "5kB", **parameters}
        if given.get("method") == "POST" and self.protocol == "h3" and self.client in _RENO:
            given["congestion"] = "reno"
        return Scene(over, self.protocol, self.client, given, phase=phase)

    def by_server(self, *reasons: str, less: Sequence[str] = (), **scene: Any) -> Pair:
        """Made by the server, which has `less` of it in the other trial."""
        without = replace(self.scene(**scene), program=self.program(reasons))
        return Pair(without.but(server=reasons), without.but(server=tuple(less)))

    def program(self, reasons: Sequence[str]) -> Program:
        """What the server is written in."""
        can = self.protocol in TCP and all(one in ON_NODE for one in reasons if one.startswith("--"))
        return self.of("go", "node") if can else "go"


Draw = Callable[[Drawing], Pair]
KINDS: list[Kind] = []


def kind(name: str, truth: Truth, why: str, **of: Any) -> Callable[[Draw], Draw]:
    """Adds one."""

    def add(draw: Draw) -> Draw:
        KINDS.append(Kind(name, truth, why, draw, **of))
        return draw

    return add


def drawn(seed: int, number: int, kinds: Sequence[Kind] | None = None, again: int = 0) -> Case:
    """The case of this number. Each kind comes once before any comes twice. `again`: how often it was drawn in vain."""
    kinds = kinds or KINDS
    turn, place = divmod(number, len(kinds))
    order = random.Random(f"{seed} {turn}").sample(range(len(kinds)), len(kinds))
    one = kinds[order[place]]
    of = random.Random(f"{seed} {one.name} {turn} {again}")  # whatever other kinds there are
    drawing = Drawing(of, of.choice(one.protocols), of.choice(one.clients), of.choice(one.loads))
    return Case(number, of.randrange(2**32), one, one.draw(drawing))


def named(names: Collection[str]) -> list[Kind]:
    """Those whose names have one of these words in them; all, for none."""
    return [one for one in KINDS if not names or any(name in one.name for name in names)]
