"""The room on the disk that a trial needs."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from h123.packets.capture import MOST_IN_CAMPAIGN
from h123.study import Network, PlannedTrial, estimate

TRIAL_BYTES = 200_000
"""Bytes that the files of a trial take, without its samples and the record of its packets."""
_SAMPLE_BYTES = 100
"""Bytes that a sample takes."""
_PACKET_BYTES = 10
"""Bytes of the record for each packet, measured with bench/evidence.py."""
_BYTES_A_PACKET = 1000
"""Bytes on the link for each packet: two full packets come with a small one that acknowledges them."""


def evidence_bytes(trial: PlannedTrial, networks: Mapping[str, Network]) -> float:
    """The expected bytes of the records of a trial's packets, on all its emulated links."""
    emulated = sum(networks[name].shaped for name in trial.parameters.networks())
    packets = min(estimate(trial, networks).bytes / _BYTES_A_PACKET, MOST_IN_CAMPAIGN * emulated)
    return packets * (_PACKET_BYTES + trial.parameters.capture * _BYTES_A_PACKET)


def kept_bytes(trials: Iterable[PlannedTrial], networks: Mapping[str, Network]) -> float:
    """The data that trials are expected to leave on the disk: samples, logs and records of packets."""
    each = (
        _SAMPLE_BYTES * trial.parameters.workload.all_requests() + TRIAL_BYTES + evidence_bytes(trial, networks)
        for trial in trials
    )
    return sum(each)


def require_room(folder: Path) -> None:
    """Raise one of the OSErrors in `limits.FULL` if the disk has no room for the files of another trial.

    A trial that failed there may have failed for lack of room, whatever its message says.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, TRIAL_BYTES)
