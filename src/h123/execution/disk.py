"""Estimates the disk space that a trial needs."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from h123.packets.capture import MOST_IN_CAMPAIGN
from h123.study import Network, PlannedTrial, estimate

TRIAL_BYTES = 200_000
"""The size of a trial's files in bytes, without its samples and the record of its packets."""
_SAMPLE_BYTES = 100
"""The size of a sample, in bytes."""
_PACKET_BYTES = 10
"""The size of the record of each packet, in bytes, measured with bench/evidence.py."""
_BYTES_A_PACKET = 1000
"""The mean size of a packet on the link, in bytes: every two full-size packets are acknowledged by a small one."""


def evidence_bytes(trial: PlannedTrial, networks: Mapping[str, Network]) -> float:
    """Return the expected size of the records of a trial's packets, on all its emulated links."""
    emulated = sum(networks[name].shaped for name in trial.parameters.networks())
    packets = min(estimate(trial, networks).bytes / _BYTES_A_PACKET, MOST_IN_CAMPAIGN * emulated)
    return packets * (_PACKET_BYTES + trial.parameters.capture * _BYTES_A_PACKET)


def kept_bytes(trials: Iterable[PlannedTrial], networks: Mapping[str, Network]) -> float:
    """Return the expected size of what trials leave on the disk: samples, logs and records of packets."""
    each = (
        _SAMPLE_BYTES * trial.parameters.workload.all_requests() + TRIAL_BYTES + evidence_bytes(trial, networks)
        for trial in trials
    )
    return sum(each)


def require_room(folder: Path) -> None:
    """Raise one of the OSErrors in `limits.FULL` if the disk has no room for the files of another trial.

    A trial that failed on such a disk may have failed for lack of room, whatever its message says.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, TRIAL_BYTES)
