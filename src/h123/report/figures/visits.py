"""Selects the visits to pages that figures show: the median visit of each treatment."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from h123.base.errors import UserError
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.measures import stages_of
from h123.packets.capture import DELIVERED, read_packets
from h123.report.look import SERIES, Mark
from h123.report.text.words import other_factors
from h123.store import CampaignFolder, Rows, Sample, connect

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
"""The colours of a request's stages, in chronological order."""


def stages(requests: Sequence[Sample]) -> list[dict[str, int]]:
    """Return how long each request was in each stage, in ns."""
    columns = [column.values.tolist() for column in stages_of(Rows.of(requests))]
    return [dict(zip(STAGES, times, strict=True)) for times in zip(*columns, strict=True)]


MOST_ARMS = len(SERIES)
"""The largest number of visits that a figure shows per cell."""
_MOST_CELLS = 9
_MIDDLE = """
    WITH loaded AS (
        SELECT a.cell, s.* REPLACE (
            CASE WHEN s.error = '' AND NOT s.succeeded THEN concat('status ', s.status) ELSE s.error END AS error)
        FROM samples s JOIN analysed a USING (trial, attempt)
        WHERE s.phase = 'warm' AND s."group" IS NOT NULL AND NOT a.twin
    ), each_visit AS (
        SELECT cell, trial, attempt, "user", "group", max(end_ns) - min(start_ns) AS took,
            bool_or(error <> '') AS failed
        FROM loaded GROUP BY ALL
    ), middle AS (
        SELECT *, count(*) OVER (PARTITION BY cell) AS visits FROM each_visit
        QUALIFY row_number() OVER (PARTITION BY cell ORDER BY failed, took, trial, "user", "group") = (visits + 1) // 2
    )
    SELECT m.visits, l.* FROM loaded l JOIN middle m USING (trial, attempt, "user", "group")
    ORDER BY l.cell, l.start_ns, l.resource
"""
"""The SQL of the median visit. A visit with a failed request ranks as slower than any visit without one. A response
with a different status than the workload requires is a failure too."""


def median_visits(folder: CampaignFolder) -> list[Mark]:
    """Return {cell, trial, visits, rows, lost} for each treatment of a campaign that loads pages.

    `visits` is the number of visits. `rows` are the samples of the median visit in the order in which they were due.
    `lost` lists when lost packets reached the link, in ns, or is None if the record of packets is incomplete.
    """
    rows = connect(folder).execute(_MIDDLE)
    names = [name for name, *_ in rows.description]
    by_treatment: dict[str, Mark] = {}
    for values in rows.fetchall():
        row = dict(zip(names, values, strict=True))
        cell = row["cell"]
        visit = {"cell": json.loads(cell), **{name: row[name] for name in ("trial", "attempt", "visits")}, "rows": []}
        by_treatment.setdefault(cell, visit)["rows"].append(row)
    return [visit | {"lost": _loss_times(folder, visit)} for visit in by_treatment.values()]


def began(visit: Mark) -> int:
    """Return when the visit's document was requested, in ns."""
    return min(int(row["start_ns"]) for row in visit["rows"])


def took(visit: Mark) -> int:
    """Return the time from the request for the document to the visit's last byte, in ns."""
    return max(int(row["end_ns"]) for row in visit["rows"]) - began(visit)


def _loss_times(folder: CampaignFolder, visit: Mark) -> list[int] | None:
    """Return the times of the losses during the visit. None if there is no record of packets, or if it ended before the
    visit."""
    at = folder.trial(visit["trial"], visit["attempt"])
    begin, end = began(visit), began(visit) + took(visit)
    try:
        packets = read_packets(at, columns=["at_ns", "fate"])
        report = read_document(at / "report.json", Report)
    except UserError:
        return None
    if report.links and report.links[0].packets_left_out and not (packets["at_ns"] > end).any():
        return None
    times = packets["at_ns"][packets["fate"] != DELIVERED].astype(np.int64)
    return [int(time) for time in times if begin <= time <= end]


def by_cell(visits: Sequence[Mark], factor: str) -> dict[str, list[Mark]]:
    """Return the visits to draw, by cell. Only the first few cells are included, and only the fastest and the slowest
    visits of a cell with many visits."""
    cells: dict[str, list[Mark]] = {}
    for visit in sorted(visits, key=lambda visit: str(visit["cell"][factor])):
        cells.setdefault(other_factors(visit["cell"], factor), []).append(visit)
    order = list(dict.fromkeys(other_factors(visit["cell"], factor) for visit in visits))
    return {where: _few(cells[where]) for where in order[:_MOST_CELLS]}


def _few(arms: list[Mark]) -> list[Mark]:
    if len(arms) <= MOST_ARMS:
        return arms
    ordered = sorted(arms, key=took)
    return ordered[: MOST_ARMS // 2] + ordered[-MOST_ARMS // 2 :]


def choice_note(visits: Sequence[Mark], factor: str) -> str:
    """Return the caption's note about which visits are drawn."""
    cells = {other_factors(visit["cell"], factor) for visit in visits}
    text = ""
    if len(visits) > len(cells) * MOST_ARMS:
        text += f" Only the {MOST_ARMS // 2} fastest and the {MOST_ARMS // 2} slowest visits of a cell are shown."
    if len(cells) > _MOST_CELLS:
        text += f" The first {_MOST_CELLS} of {len(cells)} cells."
    return text
