"""Turns the records of a network into timed changes. Each block starts at a different point in the records."""

import bisect
from collections.abc import Iterator

from h123.study.networks.network import Bottleneck, Change, Direction, Loss, Network
from h123.study.networks.record import OPPORTUNITY_BYTES, LinkRecord

_NS_PER_MS = 1_000_000


def replayed(network: Network, moment: float, until_ns: int) -> Network:
    """Return the network with timed changes instead of records, for a trial that lasts at most `until_ns`. Both
    directions start at the same time in their records. `moment` gives this time as a fraction of the longer record's
    period."""
    if network.records is None or network.up is None or network.down is None:
        return network
    up, down = network.records.up, network.records.down
    offset_ns = int(moment * max(record.period_ns for record in (up, down) if record))
    ways = {
        "up": _replayed(network.up, up, offset_ns, until_ns),
        "down": _replayed(network.down, down, offset_ns, until_ns),
    }
    return network.model_copy(update={**ways, "records": None})


def unrolled(network: Network) -> Network:
    """Return the network with all rows of its records as timed changes, starting at the records' beginning."""
    records = network.records
    periods = [record.period_ns for record in (records.up, records.down) if record] if records else []
    return replayed(network, 0.0, max(periods, default=0))


def _replayed(way: Direction, record: LinkRecord | None, offset_ns: int, until_ns: int) -> Direction:
    if record is None:
        return way
    offset_ns %= record.period_ns
    steps = _rows if record.trace_ms is None else _opportunities
    return way.model_copy(update={"changes": list(steps(record, offset_ns, until_ns))})


def _rows(record: LinkRecord, offset_ns: int, until_ns: int) -> Iterator[Change]:
    before = None
    for at_ns, index in record.rows_from(offset_ns, until_ns):
        columns = (record.bps, record.delay_ns, record.loss)
        values = tuple(None if column is None else column[index] for column in columns)
        changed = [value if before is None or value != before[i] else None for i, value in enumerate(values)]
        before = values
        if any(value is not None for value in changed):
            bps, delay_ns, loss = changed
            yield Change(
                at_ns=at_ns,
                # At 1 bit/s, a packet waits for the next row.
                rate=None if bps is None else Bottleneck(bps=max(1, int(bps))),
                delay_ns=None if delay_ns is None else int(delay_ns),
                loss=None if loss is None else Loss(random=loss),
            )


def _opportunities(record: LinkRecord, offset_ns: int, until_ns: int) -> Iterator[Change]:
    """Yield the rest of a trace and then, if the trial is longer, the whole trace, which repeats."""
    assert record.trace_ms is not None
    whole, begin, until = record.trace_ms, offset_ns // _NS_PER_MS, -(-until_ns // _NS_PER_MS)
    rest = [time - begin for time in whole[bisect.bisect_right(whole, begin) :]]
    yield Change(at_ns=0, rate=_trace(rest[: bisect.bisect_left(rest, until) + 1]))
    if rest[-1] < until:
        # 1 ns later, so that the last opportunity of the first part is not lost.
        yield Change(at_ns=rest[-1] * _NS_PER_MS + 1, rate=_trace(whole))


def _trace(times: list[int]) -> Bottleneck:
    return Bottleneck(trace_ms=times, opportunity_bytes=OPPORTUNITY_BYTES)
