"""The stages of a request, as its client's marks tell them."""

from collections.abc import Mapping

from h123.results import Sample
from h123.study.workload import ABANDONED

WAITING, CONNECTING, AWAITING, RECEIVING, FAILED = (
    *("waiting to start", "connecting", "until its first byte", "receiving"),
    "failed",
)
STAGES: Mapping[str, str] = {
    WAITING: "waiting",
    CONNECTING: "better",
    AWAITING: "awaiting",
    RECEIVING: "receiving",
    FAILED: "ink",
}
"""Their colours, in the order in which they follow one another."""


def stages(row: Sample) -> dict[str, int]:
    """ns of each. What a connection's first request waits for until it is sent is the connection; what any other waits
    for is a place on one."""
    start, end = row["start_ns"], row["end_ns"]
    abandoned = row["error"] == ABANDONED
    if row["error"] and not abandoned:
        return {FAILED: end - start}
    never = end if abandoned else None  # what had not come by then
    sent = start if row["bytes_up"] else row["sent_ns"]  # of an upload it is when its body had been written
    asked = row["connected_ns"] or sent or never or start
    answered = row["first_byte_ns"] or never or asked
    first = row["connected_ns"] is not None or row["reused"] == 0
    return {CONNECTING if first else WAITING: asked - start, AWAITING: answered - asked, RECEIVING: end - answered}
