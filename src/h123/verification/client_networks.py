"""Networks over which clients are verified: each makes one thing show."""

from h123.study import Network
from h123.study.networks.network import Blackout, Bottleneck, Direction, Queue
from h123.verification import controller

_MS = 10**6


def _both_ways(name: str, direction: Direction) -> Network:
    return Network(name=name, title=name, up=direction, down=direction)


PLAIN = Network(name="plain", title="a plain veth pair")
FAR = _both_ways("far", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000)))
"""1 MB takes 0.8 s, and nothing comes back within 0.1 s: times that were not measured show."""
DISTANT = _both_ways("distant", Direction(delay_ns=100 * _MS))
"""Answers come so late that an open loop has more requests under way than it has users."""
REMOTE = _both_ways("remote", Direction(delay_ns=100 * _MS))
"""A delay with so many bytes of a body under way that windows show."""
CROWDED = _both_ways("crowded", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000)))
"""Many large answers together take so long that none ends while there is still a request to be sent, however slowly a
window, or a busy machine, lets a client send them."""
LEFT = _both_ways("left", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000), queue=Queue(bytes=100_000)))
"""1.5 MB takes 1.2 s, so that users who leave sooner leave before it has arrived; and abandoned answers do not delay
the next connection for long."""
LOSSES = Network(
    name="losses up", title="a few lost packets upwards", up=controller.NETWORK.down, down=controller.NETWORK.up
)
"""A sender's controller shows in what it makes of these."""
NO_UDP: dict[str, Network] = {
    policy: _both_ways(f"UDP {policy}", Direction(delay_ns=10 * _MS, udp=policy)) for policy in ("drop", "reject")
}
"""Paths on which HTTP/3 does not come through, silently or with a word."""
SLOW = _both_ways("slow", Direction(rate=Bottleneck(bps=200_000)))
DEAD = _both_ways("dead", Direction(blackouts=[Blackout(from_ns=0, to_ns=600_000 * _MS)]))
