"""Measures how much one lost packet delayed a trial's requests, compared with a trial in which the packet was
delivered.

Under the virtual clock both trials are identical until the loss, so the loss caused all later differences. The request
with the largest delay is assumed to own the lost bytes: TLS hides the real owner, and no request can be delayed longer
than the one that waits for its own lost bytes.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from h123.packets.capture import LOST, packets_file, read_packets
from h123.store.rows import Rows

_NOISE_NS = 100_000
"""The largest difference, in ns, that is treated as 0, because each reading of the virtual clock advances it
slightly."""
_LEAST_BYTES = 200
"""The size in bytes above which an IP packet carries more than an acknowledgement."""


class Blocking(NamedTuple):
    """The cost of one lost packet in ns: the difference between a trial with the loss and one without it."""

    own: int
    """How much longer the request with the largest cost took."""
    others: int
    """How much longer all other requests took, in total."""
    together: int
    """The total time of all requests in the trial without the loss."""


def blocking_of(with_loss: Path, without_loss: Path, statuses: Sequence[int]) -> Blocking | None:
    """Return the cost of the loss, from the folders of the two trials. None unless the first trial lost exactly one
    packet, which had content, and the second lost none. Also None if a request failed, or if the trials have different
    requests. Raises UserError."""
    if [size > _LEAST_BYTES for size in _lost_sizes(with_loss)] != [True] or _lost_sizes(without_loss):
        return None
    later, without = later_by(with_loss, without_loss, statuses), _durations(without_loss, statuses)
    if later is None or without is None:
        return None
    longer = sorted(later)
    return Blocking(longer[-1], sum(longer[:-1]), sum(without.values()))


def later_by(trial: Path, counterpart_folder: Path, statuses: Sequence[int]) -> list[int] | None:
    """Return how much longer, in ns, each request of a trial took than in the counterpart trial. Negative differences,
    and those below the clock's noise, are 0. None if a request failed, or if the trials have different requests. Raises
    UserError."""
    own, counterpart = _durations(trial, statuses), _durations(counterpart_folder, statuses)
    if own is None or counterpart is None or own.keys() != counterpart.keys():
        return None
    longer = (own[request] - counterpart[request] for request in counterpart)
    return [ns if ns > _NOISE_NS else 0 for ns in longer]


def _lost_sizes(folder: Path) -> list[int]:
    """Return the size in bytes of each packet that the link lost. Packets that a full queue dropped are not
    included."""
    if not packets_file(folder).is_file():
        return []
    packets = read_packets(folder, columns=("bytes", "fate"))
    sizes: list[int] = packets["bytes"][packets["fate"] == LOST].tolist()
    return sizes


def _durations(trial: Path, statuses: Sequence[int]) -> dict[tuple[int, ...], int] | None:
    """Return the duration of each request in ns. The keys are user, visit, resource, and a number that distinguishes
    requests with the same three. None if a request failed."""
    rows = Rows.read(trial / "samples.parquet")
    valid = rows["start_ns"].valid & rows["end_ns"].valid & rows.ok(statuses)
    if not rows.count or not valid.all():
        return None
    order = np.argsort(rows["start_ns"].values, kind="stable")
    who = [np.where(rows[name].valid, rows[name].values, -1)[order].tolist() for name in ("user", "group", "resource")]
    durations = (rows["end_ns"] - rows["start_ns"]).values[order].tolist()
    counts: Counter[tuple[int, ...]] = Counter()
    duration_of = {}
    for identity, ns in zip(zip(*who, strict=True), durations, strict=True):
        duration_of[*identity, counts[identity]] = ns
        counts[identity] += 1
    return duration_of
