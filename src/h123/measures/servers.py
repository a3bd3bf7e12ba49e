"""Counts what a valid trial shows of its server, from files that exist for any server."""

from collections import Counter

import numpy as np

from h123.measures.metrics import EndedTrial
from h123.measures.recovery import moves_of
from h123.packets.frames import FrameKind, frames_file, read_frames
from h123.store.rows import Mask

Counts = Counter[tuple[str, ...]]


def server_counts(trial: EndedTrial) -> Counts:
    """Return the numbers that the trial's files show, by name and own label (docs/watching.md). Raises UserError if a
    file cannot be read."""
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
    """Count connections. Each is in use from its first request until the end of its last one."""
    number, sent, start, end = (trial.rows[name] for name in ("connection", "sent_ns", "start_ns", "end_ns"))
    rows = np.flatnonzero(number.valid)
    if not len(rows):
        return Counts()
    rows = rows[np.argsort(number.values[rows])]
    _, first = np.unique(number.values[rows], return_index=True)
    begins = np.minimum.reduceat(np.where(sent.valid, sent.values, start.values)[rows], first)
    ends = np.maximum.reduceat(end.values[rows], first)
    answered = np.maximum.reduceat(np.where(ok, end.values, -1)[rows], first)
    over = np.searchsorted(np.sort(ends), np.sort(begins), side="right")
    active = int((np.arange(len(first)) - over).max()) + 1
    counts = Counts({("connections",): len(first), ("connections_active",): active})
    for move, at in zip(trial.link.moves, moves_of(trial.link, trial.report), strict=True):
        moved = (begins < at) & (ends > at)
        counts["connections_moved",] += int(moved.sum())
        counts["connections_survived",] += int((moved & (answered > at + move.overlap_ns)).sum())
    return counts
