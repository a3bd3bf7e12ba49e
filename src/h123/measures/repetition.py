"""Compares two executions of a trial: the counters and dropped packets of their links, and every sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from h123.documents.lab_report import FinishedReport
from h123.documents.reading import read_document
from h123.documents.trial_files import Link, TrialFile
from h123.measures.attempts import finished_report
from h123.store.columns import TIME_COLUMNS, Sample
from h123.store.rows import Rows

RANDOM_BYTES = 4
"""The number of bytes by which a connection's handshakes may differ in one direction. The randomness of TLS changes the
content of every packet, but the length of only a few: an ECDSA P-256 signature in DER has 70 to 72 bytes, rarely fewer
(SEC 1, C.8)."""

_BYTES = ("bytes_in", "bytes_delivered")
_NOT_COUNTED = {"lateness_ns", "queue_ns"}
"""Figures that are times. They are not compared: one more byte shifts all of them, and the samples show their effect on
requests."""


@dataclass(frozen=True)
class Difference:
    """A figure of a link, such as `access/down lost`, in each of the two executions."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Repetition:
    packets: list[Difference]
    """The counts of packets, and the sets of dropped packets, that differ."""
    bytes: list[Difference]
    samples: int
    """The number of samples in the first execution."""
    outcomes: int
    """The number of samples with a different outcome (status, bytes, protocol, connection, error), or that only one
    execution has."""
    moved: int
    """The number of samples with a time that differs. Times are relative to the first sample's start."""
    furthest_ns: int
    """The largest difference, in ns, between a sample's times in the two executions."""
    random_bytes: int
    """The tolerance for a count of bytes: `RANDOM_BYTES` for each connection."""
    random_ns: float
    """The tolerance for a time, in ns: how long the links take to carry `random_bytes` in both directions."""

    @property
    def identical(self) -> bool:
        """Whether all counters, all sets of dropped packets and all times are the same."""
        return not (self.packets or self.bytes or self.outcomes or self.moved)

    @property
    def repeated(self) -> bool:
        """Whether both executions are the same, except for what the randomness of TLS changes."""
        furthest_bytes = max((abs(d.first - d.second) for d in self.bytes), default=0)
        same = not self.packets and not self.outcomes
        return same and furthest_bytes <= self.random_bytes and self.furthest_ns <= self.random_ns


def compare_executions(first: Path, second: Path) -> Repetition:
    """Compare the folders (report.json, trial.json, samples.parquet) of two finished executions of the same trial.

    Raises UserError if a file is missing or has the wrong format.
    """
    figures = [_figures(finished_report(folder / "report.json")) for folder in (first, second)]
    names = list(dict.fromkeys([*figures[0], *figures[1]]))
    differences = [Difference(name, *(values.get(name) for values in figures)) for name in names]
    differing = [d for d in differences if d.first != d.second]
    samples, others = (_samples(folder / "samples.parquet") for folder in (first, second))
    moved = _moved(samples, others)
    random_bytes = RANDOM_BYTES * len({sample["connection"] for sample in samples})
    return Repetition(
        packets=[d for d in differing if not _counts_bytes(d)],
        bytes=[d for d in differing if _counts_bytes(d)],
        samples=len(samples),
        outcomes=_other_outcomes(samples, others),
        moved=int(np.count_nonzero(moved)),
        furthest_ns=int(moved.max(initial=0)),
        random_bytes=random_bytes,
        random_ns=_carrying_ns(read_document(first / "trial.json", TrialFile).links, random_bytes),
    )


def _figures(report: FinishedReport) -> dict[str, Any]:
    """Return every counter and every set of drops of the links, by name."""
    return {
        f"{link.name}/{direction} {name}": value
        for link in report.links
        for direction, counted in link.counted().items()
        for name, value in counted.model_dump(exclude=_NOT_COUNTED, exclude_unset=True).items()
    }


def _counts_bytes(difference: Difference) -> bool:
    comparable = difference.first is not None and difference.second is not None
    return comparable and difference.name.rpartition(" ")[2] in _BYTES


def _samples(file: Path) -> list[Sample]:
    samples = Rows.read(file, measured=True).samples()
    return sorted(samples, key=lambda sample: (sample["phase"], sample["user"], sample["start_ns"]))


def _other_outcomes(samples: Sequence[Sample], others: Sequence[Sample]) -> int:
    pairs = zip(samples, others, strict=False)  # samples that only one execution has count too
    unlike = sum(_outcome(sample) != _outcome(other) for sample, other in pairs)
    return unlike + abs(len(samples) - len(others))


def _outcome(sample: Sample) -> dict[str, object]:
    return {name: value for name, value in sample.items() if name not in TIME_COLUMNS}


def _moved(samples: Sequence[Sample], others: Sequence[Sample]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return, for each sample in both executions, the largest difference, in ns, between its times in one execution and
    in the other. Times are relative to the first sample's start.

    If only one execution has a time, the difference is the whole time since that start.
    """
    common = min(len(samples), len(others))
    first, second = (_times(execution)[:common] for execution in (samples, others))
    furthest: np.ndarray[Any, np.dtype[np.int64]] = np.abs(first - second).max(axis=1, initial=0)
    return furthest


def _times(samples: Sequence[Sample]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the samples' times in ns after the first sample's start: an array of shape (samples, times). -1 means that
    there is no time."""
    began = min((sample["start_ns"] for sample in samples), default=0)
    times: list[list[Any]] = [[sample.get(name) for name in TIME_COLUMNS] for sample in samples]
    counted = [[-1 if time is None else time - began for time in row] for row in times]
    return np.array(counted, np.int64).reshape(-1, len(TIME_COLUMNS))


def _carrying_ns(links: Sequence[Link], size: int) -> float:
    """Return the total time in ns that `size` bytes take on all links with a constant rate, in both directions."""
    rates = [way.rate for link in links for way in (link.up, link.down) if way and way.rate]
    return sum((size * 8e9 / rate.bps for rate in rates if rate.bps), start=0.0)
