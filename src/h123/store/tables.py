"""The campaign as tables: DuckDB views over the journal and over all Parquet files."""

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from h123.base.paths import real
from h123.documents.events import TrialEvent
from h123.store.folder import CampaignFolder
from h123.store.samples import RETRIED_SCHEMA, answered_sql, complaint
from h123.study.workload import workload_of

CELL_PREFIX = "cell_"
"""`cell_<factor>` is the column with the factor's level: plain names would collide with the samples' own."""
Row = dict[str, Any]
"""Of `attempts`, by its columns."""
_FILES = "SELECT file, parameters FROM attempts WHERE file IS NOT NULL"
"""In the order of the journal."""


def connect(folder: CampaignFolder, writes: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A connection with the views

    * `attempts`: one row each (trial, attempt, block, position, place, cell, twin, parameters, link_seed, valid,
      reasons, disturbed, disturbance, shares, seconds, damage, file, statuses, and `cell_<factor>` for each factor;
      `cell`, `parameters`, `reasons`, `shares` are JSON; `damage` says what is wrong with its files, null if nothing
      is; `file` is the attempt's Parquet file, null where it left none or where there is damage; `statuses` are those
      that its workload's resources must be answered with);
    * `analysed`: of each trial the attempt that counts (`counting`);
    * `samples`: all rows of all attempts, with `trial` and `attempt`; and whether each `succeeded`: with the status
      that its workload asks for. `tries` are null where no request is made again.

    The folder may be a stranger's: whatever is in it, nothing but its trials can be read, and nothing be written but
    into the folder `writes`.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    # A read of thousands of small files is faster if their footers are not read twice.
    connection.execute("SET parquet_metadata_cache = true")
    opened = ", ".join(literal(str(real(path))) for path in (folder.trials, writes) if path)
    connection.execute(f"SET allowed_directories = [{opened}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    connection.register("_attempts", attempts_table(folder))
    connection.execute("CREATE TABLE attempts AS SELECT * EXCLUDE counts FROM _attempts")
    connection.execute("CREATE TABLE counting AS SELECT trial, attempt FROM _attempts WHERE counts")
    connection.unregister("_attempts")
    connection.execute("CREATE VIEW analysed AS SELECT * FROM attempts SEMI JOIN counting USING (trial, attempt)")
    files: dict[str, str] = dict(connection.execute(_FILES).fetchall())
    try:
        connection.execute(f"CREATE VIEW samples AS {_samples(files)}")
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of a name in the file
        raise complaint(map(Path, files), error) from None
    return connection


def name(text: str) -> str:
    """A column's name as SQL has it, whatever is in it."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The same of a text."""
    return "'" + text.replace("'", "''") + "'"


def counting(folder: CampaignFolder) -> list[Row]:
    """Of each trial the attempt that counts: the last valid one that the machine did not disturb, or, if it disturbed
    all, the least disturbed one; none whose files are damaged. Rows of `attempts`, in the order of execution."""
    return sorted(_counting(_rows(folder)), key=_when)


def attempts_table(folder: CampaignFolder) -> pa.Table:
    """The table `attempts`, and whether each of them `counts`."""
    rows = _rows(folder)
    counts = {(row["trial"], row["attempt"]) for row in _counting(rows)}
    levels = list(dict.fromkeys(column for row in rows for column in row if column.startswith(CELL_PREFIX)))
    schema = pa.schema(
        [
            ("trial", pa.string()),
            ("attempt", pa.int64()),
            ("block", pa.int64()),
            ("position", pa.int64()),
            ("place", pa.string()),
            ("cell", pa.string()),
            ("twin", pa.bool_()),
            ("parameters", pa.string()),
            ("link_seed", pa.int64()),
            ("valid", pa.bool_()),
            ("reasons", pa.string()),
            ("disturbed", pa.bool_()),
            ("disturbance", pa.float64()),
            ("shares", pa.string()),
            ("seconds", pa.float64()),
            ("damage", pa.string()),
            ("file", pa.string()),
            ("statuses", pa.list_(pa.int64())),
            ("counts", pa.bool_()),
            *((level, pa.string()) for level in levels),
        ]
    )
    complete = [{**row, "counts": (row["trial"], row["attempt"]) in counts} for row in rows]
    return pa.Table.from_pylist(complete, schema=schema)


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
    """The least, of the attempts of a trial, is the one that counts."""
    unknown = row["disturbance"] is None
    share = 0.0 if not row["disturbed"] else math.inf if unknown else row["disturbance"]
    return row["disturbed"], share, -row["attempt"]


def _when(row: Row) -> tuple[int, float, str]:
    """Imported samples do not tell of positions."""
    return row["block"], math.inf if row["position"] is None else row["position"], row["trial"]


def _row(folder: CampaignFolder, event: TrialEvent) -> Row:
    file, damage = folder.attempt(event) / "samples.parquet", folder.damage(event)
    # Journals of earlier versions say nothing of disturbances.
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
    """Of files, with the parameters of the trials that they are of."""
    empty = ", ".join(
        f"CAST(NULL AS {'VARCHAR' if pa.types.is_string(field.type) else 'BIGINT'}) AS {name(field.name)}"
        for field in RETRIED_SCHEMA
    )
    rows = f"SELECT {empty}, CAST(NULL AS VARCHAR) AS filename WHERE false"
    if names := list(files):
        listed = ", ".join(map(literal, names))
        # Files of an earlier version have fewer columns, and those of requests that are made again more. The first file
        # and the last tell whether there are earlier ones beside others: not every file must be opened for it.
        unlike = len({_retries(parameters) for parameters in files.values()}) > 1
        unlike = unlike or len({len(pq.read_schema(file)) for file in (names[0], names[-1])}) > 1
        options = f"filename = true, union_by_name = {str(unlike).lower()}"
        rows += f" UNION ALL BY NAME SELECT * FROM read_parquet([{listed}], {options})"
    return (
        f"SELECT t.trial, t.attempt, {', '.join('s.' + name(column) for column in RETRIED_SCHEMA.names)}, "
        f"s.error = '' AND {answered_sql('s.status', 't.statuses[coalesce(s.resource, 0) + 1]')} AS succeeded "
        f"FROM ({rows}) AS s JOIN attempts AS t ON s.filename = t.file"
    )
