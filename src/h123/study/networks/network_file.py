"""Reads networks/*.yaml, in which quantities have units, and `both` sets two equal directions."""

import itertools
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from h123.base.strict import Strict, fault_at
from h123.study.networks import network as resolved
from h123.study.networks.direction_file import DirectionFile
from h123.study.networks.record import RecordPair
from h123.study.quantities import BitRate, Duration
from h123.study.yaml_document import YamlDocument

MOST_MOVES = 250
"""The largest number of moves for which the lab has addresses."""
MOST_CONNECTIONS = 100
LONGEST_AHEAD = 60 * 1_000_000_000
"""The longest time in ns from the start of cross traffic to the client's start."""
LEAST_STREAM, MOST_STREAM = 1_000, 10_000_000_000
"""The smallest and the largest UDP rate of cross traffic, in bit/s."""


class MoveFile(Strict):
    """A move, such as `{at: 2s, new: address, overlap: 200ms}`, which gives the client a new address or port."""

    at: Duration
    """The time of the move, from the start of the client's run."""
    new: Literal["port", "address"]
    """`port`: a new port for each flow (NAT rebinding). `address`: a new address and new ports."""
    overlap: Duration = 0
    """The time for which packets to the old address or port still arrive."""

    def resolve(self) -> resolved.Move:
        return resolved.Move(at_ns=self.at, new=self.new, overlap_ns=self.overlap)


class TrafficFile(Strict):
    """Cross traffic in one direction: `{tcp: 4}` for bulk transfers, or `{udp: 30Mbit/s}` for a constant stream."""

    tcp: Annotated[StrictInt, Field(ge=1, le=MOST_CONNECTIONS)] | None = None
    """The number of connections, which use Linux's TCP with CUBIC and always have data to send."""
    udp: Annotated[BitRate, Field(ge=LEAST_STREAM, le=MOST_STREAM)] | None = None
    """The rate of a stream of evenly spaced full packets."""

    @model_validator(mode="after")
    def _one_kind(self) -> "TrafficFile":
        if (self.tcp is None) == (self.udp is None):
            raise ValueError("write either `tcp`, a number of bulk transfers, or `udp`, a rate")
        return self

    def resolve(self) -> resolved.Traffic:
        return resolved.Traffic(tcp=self.tcp, udp=self.udp)


class CrossFile(Strict):
    """Traffic that other hosts send through the link's queue: `{down: {tcp: 4}, ahead: 3s, spread: 2s}`."""

    up: TrafficFile | None = None
    down: TrafficFile | None = None
    ahead: Annotated[Duration, Field(le=LONGEST_AHEAD)] = 1_000_000_000
    """The time from the start of the traffic to the start of the client."""
    spread: Duration = 0
    """The traffic starts up to this much earlier, by an amount that depends only on the seed and the block."""

    @model_validator(mode="after")
    def _some_way(self) -> "CrossFile":
        if self.up is None and self.down is None:
            raise ValueError("cross traffic goes `up`, `down` or both ways: {down: {tcp: 1}}")
        if self.ahead + self.spread > LONGEST_AHEAD:
            longest = LONGEST_AHEAD / 1e9
            raise ValueError(f"`ahead` and `spread` together must be at most {longest:g} s")
        return self

    def resolve(self) -> resolved.Cross:
        up = self.up.resolve() if self.up else None
        down = self.down.resolve() if self.down else None
        return resolved.Cross(up=up, down=down, ahead_ns=self.ahead, spread_ns=self.spread)


class NetworkFile(Strict):
    """A network's file: `both`, or `up` and `down`, or `unshaped: true`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
    title: str
    both: DirectionFile | None = None
    """Two equal directions."""
    up: DirectionFile | None = None
    """The direction from client to server."""
    down: DirectionFile | None = None
    """The direction from server to client."""
    moves: list[MoveFile] = Field(default=[], max_length=MOST_MOVES)
    cross: CrossFile | None = None
    unshaped: StrictBool = False
    """Whether the link is a plain veth pair."""

    @model_validator(mode="after")
    def _moves_in_order(self) -> "NetworkFile":
        if self.moves and self.unshaped:
            raise fault_at(["moves"], "clients cannot move over a plain veth pair: write `both`, or `up` and `down`")
        for index, (earlier, later) in enumerate(itertools.pairwise(self.moves), 1):
            if later.at <= earlier.at:
                raise fault_at(["moves", index, "at"], "`moves` must be in order of time, each at a different time")
        return self

    @model_validator(mode="after")
    def _something_to_share(self) -> "NetworkFile":
        for name in ("up", "down") if self.cross else ():
            way = self.both or getattr(self, name)
            if getattr(self.cross, name) and not (way and way.limited):
                raise fault_at(["cross", name], "cross traffic needs a queue, and so a `rate` or `trace`")
        return self

    @model_validator(mode="after")
    def _one_shape(self) -> "NetworkFile":
        ways = [self.both is not None, self.up is not None or self.down is not None, self.unshaped]
        if ways.count(True) != 1 or (self.up is None) != (self.down is None):
            raise ValueError("write either `both`, or `up` and `down`, or `unshaped: true`")
        return self

    def resolve(self) -> resolved.Network:
        up, down = self.both or self.up, self.both or self.down
        records = RecordPair(up=up.record if up else None, down=down.record if down else None)
        return resolved.Network(
            name=self.name,
            title=self.title,
            up=up.resolve() if up else None,
            down=down.resolve() if down else None,
            moves=[move.resolve() for move in self.moves] or None,
            cross=self.cross.resolve() if self.cross else None,
            records=records if records.up or records.down else None,
        )


def read_network(path: Path) -> resolved.Network:
    """Read a network from its file. Raises UserError with the file and the line."""
    document = YamlDocument.read(path, "network/1")
    return document.validate(NetworkFile, document.data, context=path.parent).resolve()
