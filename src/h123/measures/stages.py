"""Divides the time of requests into stages, based on the times that the client recorded."""

from typing import NamedTuple

import numpy as np

from h123.store.rows import Integers, Mask, Numbers, Rows


class Stages(NamedTuple):
    """The time of each request in each stage, in ns. The stages add up to the request's whole time. A stage is known if
    the client recorded its beginning and its end; otherwise, its time is part of an adjacent stage."""

    queued: Numbers
    """Waiting for a free connection."""
    connecting: Numbers
    """Waiting until the connection is open. Only the first request of a connection waits for it."""
    waiting: Numbers
    """Waiting for the first byte of the response."""
    receiving: Numbers
    failed: Numbers
    """The whole time of a failed request; 0 for all others."""


def stages_of(rows: Rows) -> Stages:
    """Return the time of each row's request in each stage."""
    start, end, connected, first_byte = (rows[name] for name in ("start_ns", "end_ns", "connected_ns", "first_byte_ns"))
    sending, reused = _sending_times(rows), rows["reused"]
    never = Numbers(end.values, rows.abandoned)  # what had not arrived by then
    request_times = _first_valid(connected, sending, never, start)
    answered = _first_valid(first_byte, never, Numbers(request_times, rows.every))
    opens = connected.valid | (reused.valid & (reused.values == 0))
    valid = connected.valid | sending.valid
    placed, whole = start.valid & valid & (connected.valid | reused.valid), ~rows.faulty
    return Stages(
        _where(whole & ~opens, request_times - start.values, placed),
        _where(whole & opens, request_times - start.values, placed),
        _where(whole, answered - request_times, valid & first_byte.valid),
        _where(whole, end.values - answered, first_byte.valid & end.valid),
        _where(rows.faulty, end.values - start.values, start.valid & end.valid),
    )


def _sending_times(rows: Rows) -> Numbers:
    """Return when each request was sent. A request with a body is treated as sent at its start, because its client
    records when the whole body had been written."""
    start, sending, up = rows["start_ns"], rows["sent_ns"], rows["bytes_up"]
    uploads = up.valid & (up.values > 0)
    return Numbers(np.where(uploads, start.values, sending.values), np.where(uploads, start.valid, sending.valid))


def _first_valid(*marks: Numbers) -> Integers:
    """Return, for each row, the first of these times that is known."""
    return np.select([mark.valid for mark in marks], [mark.values for mark in marks], 0)


def _where(rows: Mask, durations: Integers, valid: Mask) -> Numbers:
    """Return the durations of the rows in the mask `rows`; 0 for all others."""
    return Numbers(np.where(rows, durations, 0), valid)
