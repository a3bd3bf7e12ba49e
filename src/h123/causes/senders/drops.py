"""Datagrams that came over the link and found their receiver's buffer full."""

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import CUT, DROPS, LIMIT, NUMBER, WINDOW
from h123.causes.connections.connection import Connection
from h123.causes.connections.losses import lost
from h123.documents.lab_report import Report

_NO_ROOM = "Udp.RcvbufErrors"
"""A host's counter of datagrams that a socket had no room for."""


def dropped(report: Report) -> int:
    """How many, during the main role's run, of all hosts."""
    return sum(host.counters.grown(_NO_ROOM) for host in report.hosts)


def put_down(seconds: NDArray[np.float64], drops: int, one: Connection) -> NDArray[np.float64]:
    """Of a connection's requests, shape (requests, causes): what so many drops did to windows has no cause on the link,
    which saw them arrive. Of a window that losses on the link had cut too, it is as large a share as they are of all
    that was lost. TCP has none: what its sockets have no room for is never sent."""
    if not drops or not one.quic:
        return seconds
    on_link = sum(len(lost(side)) for side in (one.up, one.down))
    moved = seconds.copy()
    for cause, share in ((LIMIT, 1.0), (WINDOW, 1.0), (CUT, drops / (drops + on_link))):
        moved[:, NUMBER[DROPS]] += share * seconds[:, NUMBER[cause]]
        moved[:, NUMBER[cause]] -= share * seconds[:, NUMBER[cause]]
    return moved
