"""Defines records: how the rate, delay and loss of one direction changed over time."""

import bisect
import itertools
from collections.abc import Iterator, Sequence
from typing import Self

from pydantic import model_validator

from h123.study.networks.disciplines import LinkModel

OPPORTUNITY_BYTES = 1500
"""The number of bytes that one line of a Mahimahi trace delivers (Netravali et al., USENIX ATC 2015)."""
MOST_RECORD_NS = 168 * 3600 * 10**9
"""The longest record: a week, in ns."""


class LinkRecord(LinkModel):
    """A record of one direction. Row i applies from `at_ns[i]` until the next row, and the last row until the record
    starts again."""

    period_ns: int
    """The time after which the record repeats."""
    at_ns: list[int]
    """The times in ns at which the rows begin. The first is 0."""
    bps: list[int] | None = None
    """The rates in bit/s. 0: nothing passes."""
    delay_ns: list[int] | None = None
    loss: list[float] | None = None
    trace_ms: list[int] | None = None
    """The times of delivery opportunities in ms, instead of `bps`."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        times = [*self.at_ns, self.period_ns]
        columns = [column for column in (self.bps, self.delay_ns, self.loss) if column is not None]
        in_order = all(earlier < later for earlier, later in itertools.pairwise(times))
        if times[0] != 0 or not in_order or any(len(column) != len(self.at_ns) for column in columns):
            raise ValueError("a record has rows in order of time, the first at 0")
        return self

    def mean(self, column: Sequence[float]) -> float:
        """Return the average of a column over the record's duration."""
        ends = [*self.at_ns[1:], self.period_ns]
        spans = [end - begin for begin, end in zip(self.at_ns, ends, strict=True)]
        return sum(value * span for value, span in zip(column, spans, strict=True)) / self.period_ns

    def rows_from(self, offset_ns: int, until_ns: int) -> Iterator[tuple[int, int]]:
        """Yield the start time and the index of each row when the record is replayed for `until_ns`, starting at
        `offset_ns`."""
        index = bisect.bisect_right(self.at_ns, offset_ns) - 1
        begin, base = 0, -offset_ns
        while begin < until_ns:
            yield begin, index
            index += 1
            if index == len(self.at_ns):
                index, base = 0, base + self.period_ns
            begin = base + self.at_ns[index]


class RecordPair(LinkModel):
    """The records of a link's directions."""

    up: LinkRecord | None = None
    down: LinkRecord | None = None
