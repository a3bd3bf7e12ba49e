"""Reads the lab's records of a trial, apart from the samples: packets, frames, TCP's state, and logs of QUIC stacks."""

from pathlib import Path

from h123.packets.capture import tabulate_packets
from h123.packets.frames import tabulate_frames
from h123.packets.tcp_account import tabulate_tcp

__all__ = ["capture", "frames", "qlog", "stack_log", "tabulate_evidence", "tcp_account"]


def tabulate_evidence(folder: Path) -> None:
    """Convert the lab's records in a trial's folder to tables (docs/evidence.md). Raises OSError if they cannot be
    written."""
    tabulate_packets(folder)
    tabulate_frames(folder)
    tabulate_tcp(folder)
