"""The initial window, which aioquic has as a constant of its controllers' modules."""

from aioquic.quic.congestion import base, cubic


def begin_with(packets: str) -> None:
    """All connections from now on begin with so many packets; empty: with aioquic's own number."""
    if packets:
        base.K_INITIAL_WINDOW = cubic.K_INITIAL_WINDOW = int(packets)
