"""The frames of HTTP/2 and QUIC on a link, as the lab read them: a trial's frames-LINK.parquet
(docs/contracts/trial.md)."""

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

import numpy as np
import pyarrow as pa

from h123.documents.reading import read_document
from h123.documents.trial_files import TrialFile
from h123.store.compact import Records, read_compact, read_records, schema_of, write_compact

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
"""As the lab writes it. `left_ns` is 0 where the receiver never could read the frame."""
COLUMNS = list(FRAME.names or ())
_SCHEMA = schema_of(FRAME, COLUMNS, "left_ns")
Frames = Records
"""An array of FRAME, in the order of sending."""
KEYS = "keys.txt"
"""In a trial's folder: where the client logs the secrets of its connections. The lab reads frames with them and puts
them into its captures. The variable that names the file is the one that OpenSSL's programs, browsers and curl know."""
_SUFFIX = ".parquet"
_TIMES = dict.fromkeys(("at_ns", "sent_ns", "left_ns"), "DELTA_BINARY_PACKED")


class FrameKind(IntEnum):
    """What a frame is. Those of HTTP/2 first."""

    DATA = 1
    HEADERS = 2
    SETTING = 3
    """Of HTTP/2 a parameter of SETTINGS; of QUIC a transport parameter."""
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


def frames_file(folder: Path, link: str = "access") -> Path:
    """Where a trial's folder has it."""
    return folder / f"frames-{link}{_SUFFIX}"


def read_frames(folder: Path, link: str = "access", columns: Sequence[str] = COLUMNS) -> Frames:
    """The frames of a link in a trial's folder; a column that is not asked for is 0. Raises UserError where there is no
    such file."""
    table = read_compact(frames_file(folder, link), "a record of frames", _SCHEMA, columns)
    frames = np.zeros(table.num_rows, FRAME)
    for name in columns:
        frames[name] = table[name].fill_null(0).to_numpy()
    return frames


def tabulate_frames(folder: Path) -> None:
    """Turn what the lab has left in a trial's folder, frames-LINK.bin, into Parquet, and remove the keys that it read
    them with, unless a capture needs them. What is not the lab's stays as it is. Raises OSError."""
    for source in folder.glob("frames-*.bin"):
        if (frames := read_records(source, FRAME)) is not None:
            write_frames(frames, source.with_suffix(_SUFFIX))
            source.unlink()
    keys = folder / KEYS
    if keys.is_file() and not any(link.capture for link in read_document(folder / "trial.json", TrialFile).links):
        keys.unlink()


def write_frames(frames: Frames, target: Path) -> None:
    """Write them as a file that `read_frames` reads. Raises OSError."""
    columns = {name: pa.array(np.ascontiguousarray(frames[name])) for name in COLUMNS}
    left = np.ascontiguousarray(frames["left_ns"])
    columns["left_ns"] = pa.array(left, mask=left == 0)
    write_compact(pa.table(columns), target, _TIMES)
