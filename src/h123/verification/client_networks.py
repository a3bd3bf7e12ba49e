"""Defines networks for verifying clients. Each one makes a property of a client visible."""

from h123.study import Network
from h123.study.networks.network import Blackout, Bottleneck, Direction, Queue
from h123.verification import controller

_MS = 10**6


def _both_ways(name: str, direction: Direction) -> Network:
    return Network(name=name, title=name, up=direction, down=direction)


PLAIN = Network(name="plain", title="a plain veth pair")
FAR = _both_ways("far", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000)))
"""A link on which 1 MB takes 0.8 s, and no response begins within 0.1 s, so that times that a client invents are
noticed."""
DISTANT = _both_ways("distant", Direction(delay_ns=100 * _MS))
"""A link whose delay is so long that an open loop has more requests in progress than users."""
REMOTE = _both_ways("remote", Direction(delay_ns=100 * _MS))
"""A link whose delay is so long that enough bytes are in flight for windows to become visible."""
CROWDED = _both_ways("crowded", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000)))
"""A link on which many large responses together take so long that none ends before all requests have been sent, even if
a window or a busy machine delays the client."""
LEFT = _both_ways("left", Direction(delay_ns=50 * _MS, rate=Bottleneck(bps=10_000_000), queue=Queue(bytes=100_000)))
"""A link on which 1.5 MB takes 1.2 s, so users can leave before it has arrived. The short queue keeps abandoned
responses from delaying the next connection for long."""
LOSSES = Network(
    name="losses up", title="a few lost packets upwards", up=controller.NETWORK.down, down=controller.NETWORK.up
)
"""A link whose losses reveal the congestion controller of a client that uploads."""
NO_UDP: dict[str, Network] = {
    policy: _both_ways(f"UDP {policy}", Direction(delay_ns=10 * _MS, udp=policy)) for policy in ("drop", "reject")
}
"""Paths that drop UDP silently or reject it with an error message, so that HTTP/3 fails."""
SLOW = _both_ways("slow", Direction(rate=Bottleneck(bps=200_000)))
DEAD = _both_ways("dead", Direction(blackouts=[Blackout(from_ns=0, to_ns=600_000 * _MS)]))
