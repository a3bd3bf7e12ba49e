"""Counts what a valid trial shows of its server, from files that exist for any server."""

from collections import Counter

import numpy as np

from h123.measures.metrics import EndedTrial
from h123.packets.frames import FrameKind, frames_file, read_frames
from h123.store.rows import Mask

Counts = Counter[tuple[str, ...]]


def server_counts(trial: EndedTrial) -> Counts:
    """Return what the trial's files show, by name and own label (docs/watching.md). Raises UserError."""
    ok = trial.rows.ok(trial.work.statuses())
    counts = _connections(trial, ok)
    counts["requests", "ok"] = int(ok.sum())
    for error, number in trial.rows.tally("error", ~ok).items():
        counts["requests", error.partition(":")[0] or "wrong-status"] += number
    for tls in trial.facts.tls if trial.facts and trial.work.early else []:
        counts["early_data_offered",] += tls.connections
        counts["early_data_accepted",] += tls.connections * tls.early
    for link in trial.report.links[:1]:
        for name, way in (link.directions or {}).items():
            if way:
                dropped = (way.lost, way.queue_dropped, way.blocked, way.policed, way.too_large)
                counts["packets_dropped", name] = sum(number or 0 for number in dropped)
                counts["packets", name] = way.packets_in or 0
        if frames_file(trial.folder).is_file() and not (link.frames_unread or link.frames_left_out):
            frames = read_frames(trial.folder, columns=("kind", "way", "port", "stream"))
            resets = {*frames[frames["kind"] == FrameKind.RESET][["way", "port", "stream"]].tolist()}
            for sender, end in enumerate(("client", "server")):
                counts["stream_resets", end] = sum(way == sender for way, *_ in resets)
    return counts


def _connections(trial: EndedTrial, ok: Mask) -> Counts:
    """Count connections, each from its first request to its last response. A move affects the last connection of each
    user who goes on, except in pages, whose visits may close connections."""
    number, sent, start, end = (trial.rows[name] for name in ("connection", "sent_ns", "start_ns", "end_ns"))
    begin, user = np.where(sent.valid, sent.values, start.values), trial.rows["user"].values
    rows = np.argsort(begin)
    rows = rows[number.valid[rows]]
    _, first, place = np.unique(number.values[rows], return_index=True, return_inverse=True)
    if not len(first):
        return Counts()
    ends = np.zeros(len(first), np.int64)
    np.maximum.at(ends, place, end.values[rows])
    over = np.searchsorted(np.sort(ends), np.sort(begin[rows][first]), side="right")
    active = int((np.arange(len(first)) - over).max()) + 1
    counts = Counts({("connections",): len(first), ("connections_active",): active})
    for move in () if trial.work.visit() else trial.link.moves:
        at = trial.report.main_began_ns + move.at_ns
        before = rows[begin[rows] < at]
        last = dict(zip(user[before].tolist(), number.values[before].tolist(), strict=True))
        moved = {last[one] for one in last.keys() & {*user[end.values > at].tolist()}}
        counts["connections_moved",] += len(moved)
        counts["connections_survived",] += len(moved & {*number.of(ok & (end.values > at + move.overlap_ns)).tolist()})
    return counts
