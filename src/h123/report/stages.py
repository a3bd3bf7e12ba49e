"""The stages of requests in words and colours."""

from collections.abc import Mapping, Sequence

from h123.measures import stages_of
from h123.store import Rows, Sample

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


def stages(requests: Sequence[Sample]) -> list[dict[str, int]]:
    """ns of each, of each request."""
    columns = [one.values.tolist() for one in stages_of(Rows.of(requests))]
    return [dict(zip(STAGES, spent, strict=True)) for spent in zip(*columns, strict=True)]
