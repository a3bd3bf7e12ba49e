"""Defines the frames of HTTP/2 and QUIC on a link, as the lab decoded them: a trial's frames-LINK.parquet
(docs/contracts/trial.md)."""

from enum import IntEnum
from pathlib import Path

import numpy as np

from h123.documents.reading import read_document
from h123.documents.trial_files import TrialFile
from h123.packets.link_records import LinkRecords
from h123.store.compact import Records

FRAME = np.dtype(
    [
        ("at_ns", "<i8"),
        ("sent_ns", "<i8"),
        ("left_ns", "<i8"),
        ("stream", "<u8"),
        ("offset", "<u8"),
        ("value", "<u8"),
        ("length", "<u4"),
        ("port", "<u2"),
        ("id", "<u2"),
        ("kind", "u1"),
        ("protocol", "u1"),
        ("way", "u1"),
        ("fin", "u1"),
    ]
)
"""The lab's record of a frame. `left_ns` is 0 if the receiver could never read the whole frame."""
Frames = Records
"""An array of FRAME, in the order of sending."""
KEYS = "keys.txt"
"""The file in a trial's folder to which the client logs the secrets of its connections. The lab uses them to decode
frames, and adds them to its captures. OpenSSL's programs, browsers and curl read the file's name from an environment
variable."""
_FRAMES = LinkRecords("frames", FRAME, list(FRAME.names or ()))
frames_file, read_frames, write_frames = _FRAMES.file, _FRAMES.read, _FRAMES.write


class FrameKind(IntEnum):
    """The kinds of frames, with those of HTTP/2 first."""

    DATA = 1
    HEADERS = 2
    SETTING = 3
    """A parameter of HTTP/2's SETTINGS, or a transport parameter of QUIC."""
    WINDOW_UPDATE = 4
    RESET = 5
    """RST_STREAM, and QUIC's RESET_STREAM."""
    GOAWAY = 6
    STREAM = 7
    MAX_DATA = 8
    MAX_STREAM_DATA = 9
    MAX_STREAMS = 10
    DATA_BLOCKED = 11
    STREAM_DATA_BLOCKED = 12
    STREAMS_BLOCKED = 13
    STOP_SENDING = 14
    CLOSE = 15


def tabulate_frames(folder: Path) -> None:
    """Convert the lab's records in a trial's folder to tables, and remove the keys with which the lab decoded the
    frames, unless a capture needs them. Raises OSError."""
    _FRAMES.tabulate(folder)
    keys = folder / KEYS
    if keys.is_file() and not any(link.capture for link in read_document(folder / "trial.json", TrialFile).links):
        keys.unlink()
