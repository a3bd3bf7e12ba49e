"""How aioquic sends, where a study chooses it: a constant of its controllers, a pacer without a switch, a size."""

from argparse import Namespace

from aioquic.quic.configuration import SMALLEST_MAX_DATAGRAM_SIZE
from aioquic.quic.congestion import base, cubic
from aioquic.quic.recovery import QuicPacketPacer

FLAGS = ("congestion", "initial-window", "pacing", "max-datagram")
"""All but the controller may be empty: aioquic's own."""


def send_as(asked: Namespace) -> None:
    """All connections from now on begin with so many packets, and do not pace if told so."""
    if asked.initial_window:
        base.K_INITIAL_WINDOW = cubic.K_INITIAL_WINDOW = int(asked.initial_window)
    if asked.pacing == "off":
        QuicPacketPacer.next_send_time = lambda *_, **__: None


def datagram(asked: Namespace) -> int:
    """Bytes of payload of full packets; aioquic looks for no other size."""
    return int(asked.max_datagram or SMALLEST_MAX_DATAGRAM_SIZE)
