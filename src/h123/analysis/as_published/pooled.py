"""Pools requests over all analysed trials of a treatment, read from the raw samples one treatment at a time."""

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from h123.analysis.case import Evidence
from h123.study import Study

Floats = NDArray[np.float64]

_ORDER = "block, position, trial"


class Run(NamedTuple):
    """One trial's values, sorted."""

    block: int
    values: Floats


class Pooled:
    """The warm, successful requests of each trial's last valid attempt. A/A twins are left out.

    There may be millions of requests, so they stay in DuckDB. Arrays hold one treatment and metric at a time.
    """

    def __init__(self, evidence: Evidence, study: Study) -> None:
        self._study = study
        self._table = evidence.tables()
        self._table.execute(
            "CREATE TABLE pooled AS WITH numbered AS "
            f"(SELECT *, row_number() OVER (ORDER BY {_ORDER}) AS number FROM analysed WHERE NOT twin) "
            "SELECT number, end_ns - start_ns AS latency_ns, first_byte_ns - start_ns AS ttfb_ns "
            "FROM samples JOIN numbered USING (trial, attempt) "
            "WHERE phase = 'warm' AND succeeded AND end_ns > start_ns"
        )
        self._blocks: dict[str, dict[int, int]] = {}
        rows = self._table.execute(f"SELECT cell, block FROM analysed WHERE NOT twin ORDER BY {_ORDER}").fetchall()
        for number, (cell, block) in enumerate(rows, start=1):
            self._blocks.setdefault(cell, {})[number] = block

    def runs(self, cell: dict[str, str], metric: str) -> list[Run]:
        """Return the runs of a treatment in order, leaving out runs without a value of the metric."""
        blocks = self._blocks.get(json.dumps(cell, sort_keys=True), {})
        column, convert = self._definition(cell, metric)
        columns = self._table.execute(
            f"SELECT number, {column} AS ns FROM pooled WHERE list_contains($numbers, number) AND ns > 0 "
            "ORDER BY number, ns",
            {"numbers": list(blocks)},
        ).fetchnumpy()
        number, values = np.asarray(columns["number"]), convert(np.asarray(columns["ns"], dtype=np.float64) / 1e9)
        starts = np.flatnonzero(np.diff(number)) + 1
        runs = zip(np.split(number, starts), np.split(values, starts), strict=True)
        return [Run(blocks[int(numbers[0])], columns) for numbers, columns in runs if len(columns)]

    def _definition(self, cell: dict[str, str], metric: str) -> tuple[str, Callable[[Floats], Floats]]:
        if metric != "throughput":
            return f"{metric}_ns", lambda seconds: seconds
        size = self._study.parameters(cell).workload.body_bytes()
        return "latency_ns", lambda seconds: size / seconds if size else seconds[:0]
