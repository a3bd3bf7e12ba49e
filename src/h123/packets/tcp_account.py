"""Reads the kernel's record of TCP's state during a trial, as the lab sampled it: tcp.parquet
(docs/contracts/trial.md)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from h123.documents.reading import read_document
from h123.documents.trial_files import TrialFile
from h123.store.compact import TEXT, Records, read_compact, read_records, write_compact

ROW = np.dtype(
    [
        ("at_ns", "<i8"),
        ("rtt_ns", "<i8"),
        ("bytes_acked", "<i8"),
        ("bytes_received", "<i8"),
        ("busy_ns", "<i8"),
        ("rwnd_limited_ns", "<i8"),
        ("sndbuf_limited_ns", "<i8"),
        ("delivery_rate", "<i8"),
        ("pacing_rate", "<i8"),
        ("cwnd", "<u4"),
        ("ssthresh", "<u4"),
        ("unacked", "<u4"),
        ("lost", "<u4"),
        ("retrans", "<u4"),
        ("snd_wnd", "<u4"),
        ("snd_mss", "<u4"),
        ("sacked", "<u4"),
        ("notsent_bytes", "<u4"),
        ("host", "<u2"),
        ("local_port", "<u2"),
        ("remote_port", "<u2"),
        ("state", "u1"),
        ("app_limited", "u1"),
    ]
)
"""The lab's form of a row. Its `host` is an index into the trial's hosts; the table has the name instead."""
_TYPES = {name: TEXT if name == "host" else ROW[name] for name in ROW.names or ()}
_LATER = {"pacing_rate", "sacked", "notsent_bytes", "app_limited"}
"""Columns that are absent in files of earlier versions."""
FILE = "tcp.parquet"
Account = Mapping[str, Records]
"""The columns of the table, with a row for each connection in each sample."""


def read_tcp_account(folder: Path) -> Account:
    """Read tcp.parquet in a trial's folder, which has a row for each connection in each sample. Raises UserError if it
    is missing."""
    return read_compact(folder / FILE, "an account of TCP", _TYPES, later=_LATER)


def tabulate_tcp(folder: Path) -> None:
    """Convert the lab's file tcp.bin in a trial's folder to Parquet. A file in a different format stays as it is.
    Raises OSError."""
    source = folder / "tcp.bin"
    rows = read_records(source, ROW) if source.is_file() else None
    if rows is None:
        return
    hosts = np.array(read_document(folder / "trial.json", TrialFile).hosts, object)
    columns = {name: hosts[rows[name]] if name == "host" else rows[name] for name in _TYPES}
    write_compact(columns, folder / FILE)
    source.unlink()
