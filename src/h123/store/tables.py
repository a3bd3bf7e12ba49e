"""Represents a campaign as tables: DuckDB views over its journal and all its Parquet files."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from h123.base.errors import interruptible
from h123.base.paths import real
from h123.documents.events import TrialEvent
from h123.store.columns import RETRIED_COLUMNS, sql_type
from h123.store.folder import CampaignFolder
from h123.store.parquet import DAMAGED
from h123.store.samples import answered_sql, complaint
from h123.study.workload import workload_of

CELL_PREFIX = "cell_"
"""The prefix of the columns with the levels of factors. Without it, a factor could have the name of another column."""
Row = dict[str, Any]
"""A row of `attempts`, keyed by column."""
_TYPES = {
    "trial": "VARCHAR",
    "attempt": "BIGINT",
    "block": "BIGINT",
    "position": "BIGINT",
    "place": "VARCHAR",
    "cell": "VARCHAR",
    "twin": "BOOLEAN",
    "parameters": "VARCHAR",
    "link_seed": "BIGINT",
    "valid": "BOOLEAN",
    "reasons": "VARCHAR",
    "disturbed": "BOOLEAN",
    "disturbance": "DOUBLE",
    "shares": "VARCHAR",
    "seconds": "DOUBLE",
    "damage": "VARCHAR",
    "file": "VARCHAR",
    "statuses": "BIGINT[]",
}
"""The types of the columns of `attempts`, except those of levels, which are strings."""
_FILES = "SELECT file, parameters FROM attempts WHERE file IS NOT NULL"
"""Selects the files in the order of the journal, with the parameters of their trials."""


def connect(folder: CampaignFolder, writes: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Return a connection with these views:

    * `attempts`: one row per attempt (trial, attempt, block, position, place, cell, twin, parameters, link_seed, valid,
      reasons, disturbed, disturbance, shares, seconds, damage, file, statuses, and `cell_<factor>` for each factor).
      `cell`, `parameters`, `reasons` and `shares` are JSON. `damage` describes what is wrong with the attempt's files,
      or is null. `file` is its Parquet file, or null if there is none or if it is damaged. `statuses` are the required
      statuses of the workload's resources.
    * `analysed`: for each trial, the one attempt that is analysed (`counting`).
    * `samples`: all rows of all attempts, with `trial`, `attempt`, and `succeeded` (whether the request got the status
      that the workload requires, without an error). `tries` is null in workloads without retries.

    The folder is not trusted. Whatever it contains, the connection can read only its trials, and write only into the
    folder `writes`.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    # A read of thousands of small files is faster if their footers are not read twice.
    connection.execute("SET parquet_metadata_cache = true")
    opened = ", ".join(literal(str(real(path))) for path in (folder.trials, writes) if path)
    connection.execute(f"SET allowed_directories = [{opened}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    rows = _rows(folder)
    levels = dict.fromkeys(column for row in rows for column in row if column.startswith(CELL_PREFIX))
    fill_table(connection, "attempts", {**_TYPES, **dict.fromkeys(levels, "VARCHAR")}, rows)
    fill_table(connection, "counting", {"trial": "VARCHAR", "attempt": "BIGINT"}, _counting(rows))
    connection.execute("CREATE VIEW analysed AS SELECT * FROM attempts SEMI JOIN counting USING (trial, attempt)")
    files: dict[str, str] = dict(connection.execute(_FILES).fetchall())
    try:
        with interruptible():
            connection.execute(f"CREATE VIEW samples AS {_samples(files)}")
    except (OSError, *DAMAGED) as error:
        raise complaint(map(Path, files), error) from None
    return connection


def name(text: str) -> str:
    """Quote a column's name for SQL, whatever it contains."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a string for SQL, whatever it contains."""
    return "'" + text.replace("'", "''") + "'"


def counting(folder: CampaignFolder) -> list[Row]:
    """Return the analysed attempt of each trial, as rows of `attempts` in the order of execution. It is the last valid,
    undamaged attempt that the machine did not disturb. If the machine disturbed all valid, undamaged attempts, it is
    the least disturbed one."""
    return sorted(_counting(_rows(folder)), key=_when)


def fill_table(
    connection: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Create a table with columns of these types and these rows. Rows may leave out null values."""
    columns = ", ".join(f"unnest(?::{kind}[]) AS {name(column)}" for column, kind in types.items())
    values = [[row.get(column) for row in rows] for column in types]
    connection.execute(f"CREATE TABLE {name(table)} AS SELECT {columns}", values)


def _rows(folder: CampaignFolder) -> list[Row]:
    folder.require_journal()
    return [_row(folder, event) for event in folder.events() if event["event"] == "trial"]


def _counting(rows: Iterable[Row]) -> list[Row]:
    best: dict[str, Row] = {}
    for row in rows:
        if row["valid"] and row["damage"] is None:
            best[row["trial"]] = min(best.get(row["trial"], row), row, key=_disturbed)
    return list(best.values())


def _disturbed(row: Row) -> tuple[bool, float, int]:
    """Return a sort key. Among a trial's valid, undamaged attempts, the one with the smallest key is analysed."""
    unknown = row["disturbance"] is None
    share = 0.0 if not row["disturbed"] else math.inf if unknown else row["disturbance"]
    return row["disturbed"], share, -row["attempt"]


def _when(row: Row) -> tuple[int, float, str]:
    """Return a sort key for the order of execution. Imported samples may have no positions."""
    return row["block"], math.inf if row["position"] is None else row["position"], row["trial"]


def _row(folder: CampaignFolder, event: TrialEvent) -> Row:
    file, damage = folder.attempt(event) / "samples.parquet", folder.damage(event)
    # Journals of earlier versions record no disturbances.
    complete = {"place": None, "disturbed": False, "disturbance": None, "shares": {}, **event}
    texts = {name: json.dumps(complete[name], sort_keys=True) for name in ("cell", "parameters", "reasons", "shares")}
    levels = {CELL_PREFIX + factor: level for factor, level in event["cell"].items()}
    readable = damage is None and file.exists()
    statuses = _statuses(texts["parameters"])
    return {
        **complete,
        **texts,
        **levels,
        "damage": damage,
        "file": str(file) if readable else None,
        "statuses": statuses,
    }


@cache
def _statuses(parameters: str) -> list[int]:
    return workload_of(json.loads(parameters)).statuses()


@cache
def _retries(parameters: str) -> bool:
    return workload_of(json.loads(parameters)).retries


def _samples(files: Mapping[str, str]) -> str:
    """Return SQL for the view `samples`. `files` maps each file to the parameters of its trial."""
    empty = ", ".join(f"CAST(NULL AS {sql_type(column)}) AS {name(column)}" for column in RETRIED_COLUMNS)
    rows = f"SELECT {empty}, CAST(NULL AS VARCHAR) AS filename WHERE false"
    if names := list(files):
        listed = ", ".join(map(literal, names))
        # Files of repeated requests have more columns.
        unlike = len({_retries(parameters) for parameters in files.values()}) > 1
        options = f"filename = true, union_by_name = {str(unlike).lower()}"
        rows += f" UNION ALL BY NAME SELECT * FROM read_parquet([{listed}], {options})"
    return (
        f"SELECT t.trial, t.attempt, {', '.join('s.' + name(column) for column in RETRIED_COLUMNS)}, "
        f"s.error = '' AND {answered_sql('s.status', 't.statuses[coalesce(s.resource, 0) + 1]')} AS succeeded "
        f"FROM ({rows}) AS s JOIN attempts AS t ON s.filename = t.file"
    )
