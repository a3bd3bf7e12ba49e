"""Changes a network as a trial's parameters require: removes losses, queue limits or cross traffic, halves the delay,
or loses a single packet."""

from h123.study.changes.single_loss import single_loss
from h123.study.networks.network import Direction, Network, Queue
from h123.study.parameters import Parameters

ENDLESS = Queue(bytes=10**9)
"""A drop-tail queue so large that no trial fills it."""


def access_link(network: Network, p: Parameters, lost_at: float) -> Network:
    """Return the network between a trial's client and server. With `losses: one`, `lost_at` is the point in the
    transfer, from 0 to 1, at which the packet is lost."""
    if network.up is None or network.down is None:
        return network
    ways = {"up": network.up, "down": network.down}
    if p.losses != "own":
        ways = {name: _without(way, "loss") for name, way in ways.items()}
    if p.losses == "one":
        name, loss = single_loss(p, lost_at)
        ways[name] = ways[name].model_copy(update={"loss": loss})
    if p.queue_limit == "none":
        ways = {name: way.model_copy(update={"queue": way.queue and ENDLESS}) for name, way in ways.items()}
    if p.round_trip == "half":
        ways = {name: _nearer(way) for name, way in ways.items()}
    cross = network.cross if p.cross_traffic == "own" else None
    unchanged = ways == {"up": network.up, "down": network.down} and cross == network.cross
    return network if unchanged else network.model_copy(update={**ways, "cross": cross})


def _without(way: Direction, effect: str) -> Direction:
    """Return the direction without this effect, and without timed changes that set only this effect."""
    changes = [change.model_copy(update={effect: None}) for change in way.changes or []]
    other_changes = [change for change in changes if change.model_dump(exclude={"at_ns"}, exclude_none=True)]
    return way.model_copy(update={effect: None, "changes": other_changes or None})


def _nearer(way: Direction) -> Direction:
    changes = [change.model_copy(update={"delay_ns": _half(change.delay_ns)}) for change in way.changes or []]
    return way.model_copy(update={"delay_ns": _half(way.delay_ns), "changes": changes or None})


def _half(delay_ns: int | None) -> int | None:
    return delay_ns and delay_ns // 2
