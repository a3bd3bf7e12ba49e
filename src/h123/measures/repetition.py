"""Did a trial repeat? Two executions of it, held against each other: what their links did, and every sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from h123.documents.lab_report import FinishedReport
from h123.documents.reading import read_document
from h123.documents.trial_files import Link, TrialFile
from h123.measures.attempts import finished_report
from h123.store.samples import TIME_COLUMNS

RANDOM_BYTES = 4
"""By which one connection's handshake may differ in a direction: the randomness of TLS changes the content of every
packet, but the length of few. An ECDSA P-256 signature in DER has 70 to 72 bytes, seldom fewer (SEC 1, C.8)."""

_BYTES = ("bytes_in", "bytes_delivered")
_NOT_COUNTED = {"lateness_ns", "queue_ns"}
"""Times: a byte more moves them all, and what they do to requests is in the samples."""
_ORDER = [("phase", "ascending"), ("user", "ascending"), ("start_ns", "ascending")]


@dataclass(frozen=True)
class Difference:
    """One figure of a link, such as `access/down lost`, in both executions."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Repetition:
    """What two executions of a trial have in common, and what not."""

    packets: list[Difference]
    """Counts of packets, and drop sets, that differ."""
    bytes: list[Difference]
    """Counts of bytes that differ."""
    samples: int
    """Of the first execution."""
    outcomes: int
    """Samples that ended in another way (status, bytes, protocol, connection, error), or are in one execution only."""
    moved: int
    """Samples with a time that differs, counted from the first sample's start."""
    furthest_ns: int
    """The largest such difference."""
    random_bytes: int
    """By which a count of bytes may differ: `RANDOM_BYTES` for each connection."""
    random_ns: float
    """By which a time may differ then: so many bytes, in both directions, at the link's rate."""

    @property
    def identical(self) -> bool:
        """Every counter, every drop set, every time."""
        return not (self.packets or self.bytes or self.outcomes or self.moved)

    @property
    def repeated(self) -> bool:
        """Identical up to what the randomness of TLS changes."""
        furthest_bytes = max((abs(d.first - d.second) for d in self.bytes), default=0)
        same = not self.packets and not self.outcomes
        return same and furthest_bytes <= self.random_bytes and self.furthest_ns <= self.random_ns


def compare_executions(first: Path, second: Path) -> Repetition:
    """Compare two finished trial folders (report.json, trial.json, samples.parquet) of the same trial.

    Raises UserError where a file is missing or of another format.
    """
    figures = [_figures(finished_report(folder / "report.json")) for folder in (first, second)]
    names = list(dict.fromkeys([*figures[0], *figures[1]]))
    differences = [Difference(name, *(values.get(name) for values in figures)) for name in names]
    differing = [d for d in differences if d.first != d.second]
    first_table, second_table = (
        pq.read_table(folder / "samples.parquet").sort_by(_ORDER) for folder in (first, second)
    )
    moved = _moved(first_table, second_table)
    random_bytes = RANDOM_BYTES * len(first_table["connection"].unique())
    return Repetition(
        packets=[d for d in differing if not _counts_bytes(d)],
        bytes=[d for d in differing if _counts_bytes(d)],
        samples=first_table.num_rows,
        outcomes=_other_outcomes(first_table, second_table),
        moved=int(np.count_nonzero(moved)),
        furthest_ns=int(moved.max(initial=0)),
        random_bytes=random_bytes,
        random_ns=_carrying_ns(read_document(first / "trial.json", TrialFile).links, random_bytes),
    )


def _figures(report: FinishedReport) -> dict[str, Any]:
    """Every counter and drop set of the links, by name."""
    return {
        f"{link.name}/{direction} {name}": value
        for link in report.links
        for direction, counted in link.counted().items()
        for name, value in counted.model_dump(exclude=_NOT_COUNTED, exclude_unset=True).items()
    }


def _counts_bytes(difference: Difference) -> bool:
    comparable = difference.first is not None and difference.second is not None
    return comparable and difference.name.rpartition(" ")[2] in _BYTES


def _other_outcomes(table: pa.Table, other: pa.Table) -> int:
    common, longer = sorted((int(table.num_rows), int(other.num_rows)))
    differs = np.zeros(common, dtype=bool)
    for name in table.column_names:
        if name not in TIME_COLUMNS:
            differs |= _column(table, name, common) != _column(other, name, common)
    return int(np.count_nonzero(differs)) + longer - common


def _moved(first: pa.Table, other: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """(samples in both,), ns: the largest difference of a time, counted from the first sample's start.

    A time that only one execution has counts as its whole distance from that start.
    """
    common = min(first.num_rows, other.num_rows)
    furthest = np.zeros(common, dtype=np.int64)
    for name in TIME_COLUMNS:
        times = []
        for table in (first, other):
            start = min(table["start_ns"].to_pylist(), default=0)
            times.append(np.array([-1 if t is None else t - start for t in table[name].to_pylist()[:common]], np.int64))
        furthest = np.maximum(furthest, np.abs(times[0] - times[1]))
    return furthest


def _column(table: pa.Table, name: str, rows: int) -> np.ndarray[Any, np.dtype[Any]]:
    return np.array(table[name].to_pylist()[:rows], dtype=object)


def _carrying_ns(links: Sequence[Link], size: int) -> float:
    """How long the links' slowest constant rates, both directions, carry so many bytes."""
    rates = [way.rate for link in links for way in (link.up, link.down) if way and way.rate]
    return sum((size * 8e9 / rate.bps for rate in rates if rate.bps), start=0.0)
