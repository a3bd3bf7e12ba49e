"""What a trial leaves beside its samples, so that its times can be explained (docs/evidence.md)."""

from pathlib import Path

from h123.packets.capture import tabulate_packets
from h123.packets.frames import tabulate_frames
from h123.packets.tcp_account import tabulate_tcp


def tabulate_evidence(folder: Path) -> None:
    """Turn what the lab has left in a trial's folder into tables. Raises OSError where they cannot be written."""
    tabulate_packets(folder)
    tabulate_frames(folder)
    tabulate_tcp(folder)
