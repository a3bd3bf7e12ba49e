"""How many connections visits of a page opened, counted from the packets of the client's link."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from h123.measures.visits import Visit
from h123.packets.capture import TCP, UDP, UP, packets_file, read_packets
from h123.store.rows import Integers

_COLUMNS = ("at_ns", "source", "way", "protocol")


def dialled_of(folder: Path, visits: Sequence[Visit]) -> list[int]:
    """Of a trial in this folder, of each of its visits: the connections whose first packet came to the link during it,
    used or not. None where there is no record of packets, or two visits went on at once, so that a connection cannot be
    told to be one's. Raises UserError where the record cannot be read."""
    ordered = sorted(visits, key=lambda visit: visit.start_ns)
    together = any(later.start_ns < earlier.end_ns for earlier, later in pairwise(ordered))
    if not visits or together or not packets_file(folder).is_file():
        return []
    began = np.sort(_beginnings(folder))
    spans = np.array([(visit.start_ns, visit.end_ns + 1) for visit in visits])
    counts: list[int] = np.diff(np.searchsorted(began, spans), axis=1).ravel().tolist()
    return counts


def _beginnings(folder: Path) -> Integers:
    """When each connection's first packet came, by the client's port."""
    packets = read_packets(folder, columns=_COLUMNS)
    sent = packets[(packets["way"] == UP) & np.isin(packets["protocol"], (TCP, UDP))]
    key = sent["protocol"].astype(np.int64) << 16 | sent["source"]
    _, first = np.unique(key, return_index=True)  # they are in the order of arrival
    began: Integers = sent["at_ns"][first]
    return began
