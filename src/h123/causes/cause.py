"""Names the causes into which a request's time is divided. The parts of a request add up to its latency."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Nanoseconds = NDArray[np.float64]
"""The nanoseconds of each cause, in the order of CAUSES."""


@dataclass(frozen=True)
class Cause:
    name: str
    group: str
    """The group of similar causes to which this one belongs. The search for the largest cause treats each group as one
    cause."""
    words: str
    """What the time was spent on, in words."""
    rivals: tuple[str, ...] = ()
    """The groups of causes between which the packets cannot decide. Empty if the cause is clear."""

    @property
    def in_trips(self) -> bool:
        """Whether the cause costs whole round trips, so that their number is more informative than the time."""
        return self.group in ("connecting", "retry", "limit", "slow-start")


TRIES = Cause("tries", "tries", "abandoned attempts")
PLACE = Cause("place", "place", "waiting for a free connection")
CONNECTING = Cause("connecting", "connecting", "connection setup")
AMPLIFICATION = Cause(
    "amplification", "connecting", "a round trip for certificates beyond QUIC's anti-amplification limit"
)
RETRY = Cause("retry", "retry", "a round trip for a Retry")
BLOCKED = Cause("blocked", "blocked", "trying UDP, which is blocked")
TRIP = Cause("trip", "trip", "the request's own round trip")
SERVER = Cause("server", "server", "waiting for the server")
SLOW_START = Cause("slow-start", "slow-start", "slow start")
WINDOW = Cause("window", "window", "a congestion window that no loss had reduced")
CUT = Cause("cut", "loss", "a congestion window reduced by losses")
MENDING = Cause("mending", "loss", "detecting and repairing losses")
QUEUE_LOSS = Cause("queue-loss", "loss", "packets dropped by the queue")
POLICED = Cause("policed", "loss", "packets dropped by a policer")
TOO_LARGE = Cause("too-large", "mtu", "packets larger than the path's MTU")
MARKED = Cause("marked", "marked", "a congestion window reduced by marks (ECN)")
LIMIT = Cause("limit", "limit", "a fixed limit, such as flow control or a buffer")
RECEIVER = Cause("receiver", "limit", "the receiver's full window")
STREAM_LIMIT = Cause("stream-limit", "limit", "flow control of a stream")
CONNECTION_LIMIT = Cause("connection-limit", "limit", "flow control of the connection")
DROPS = Cause("drops", "drops", "datagrams dropped at the receiver's full buffer")
RATE = Cause("rate", "rate", "the link's rate")
QUEUE = Cause("queue", "queue", "queueing behind other requests")
CROSS = Cause("cross", "cross", "waiting behind cross traffic")
NAGLE = Cause("nagle", "nagle", "waiting for an acknowledgement (Nagle's algorithm)")
IDLE = Cause("idle", "idle", "a sender with nothing to send")
HELD = Cause(
    "held", "held", "flow control, a buffer or a sender with nothing to send (not known which)", ("limit", "idle")
)
CLIENT_WORK = Cause("client-work", "client-work", "processing in the client")
SERVER_WORK = Cause("server-work", "server-work", "processing in the server")
RUNNING = Cause("running", "running", "running the page's scripts")
GONE = Cause("gone", "moved", "noticing that the path is gone")
VALIDATING = Cause("validating", "moved", "validating the new path")
ANEW = Cause("anew", "moved", "opening a new connection")
UNATTRIBUTED = Cause("unattributed", "unattributed", "what packets do not show")
FORMER_NAMES = {"untold": UNATTRIBUTED.name}
"""Maps names of causes in files of earlier versions to their present names."""

CAUSES = (
    *(TRIES, PLACE, CONNECTING, AMPLIFICATION, RETRY, BLOCKED, TRIP, SERVER, SLOW_START, WINDOW, CUT, MENDING),
    *(QUEUE_LOSS, POLICED, TOO_LARGE, MARKED),
    *(LIMIT, RECEIVER, STREAM_LIMIT, CONNECTION_LIMIT, DROPS),
    *(RATE, QUEUE, CROSS, NAGLE, IDLE, HELD, CLIENT_WORK, SERVER_WORK, RUNNING),
    *(GONE, VALIDATING, ANEW, UNATTRIBUTED),
)
REPAIRS = (MENDING, QUEUE_LOSS, POLICED, TOO_LARGE)
"""The causes of the time until a lost packet is sent again, one for each way to lose a packet."""
WINDOWS = (SLOW_START, WINDOW, CUT, MARKED, LIMIT, RECEIVER, *REPAIRS, NAGLE)
"""The causes that may keep a client from sending a request that is ready to be sent."""
WORDS = {cause.name: cause.words for cause in CAUSES}
"""The wording of each cause in answers, pages, the glossary and `h123 explain`. There is no other wording."""
NUMBER = {cause: number for number, cause in enumerate(CAUSES)}
"""The index of each cause in CAUSES, and so in an array of times."""


def time_on(cause: Cause, begin: int, end: int) -> Nanoseconds:
    """Return the ns of every cause: the time from `begin` to `end` for this cause, and 0 for all others."""
    row = np.zeros(len(CAUSES))
    row[NUMBER[cause]] = end - begin
    return row
