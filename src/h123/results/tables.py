"""The campaign as tables: DuckDB views over the journal and over all Parquet files."""

import json
from typing import Any

import duckdb
import pyarrow as pa

from h123.results.folder import CampaignFolder
from h123.results.samples import SCHEMA

CELL_PREFIX = "cell_"
"""`cell_<factor>` is the column with the factor's level: plain names would collide with the samples' own."""


def connect(folder: CampaignFolder) -> duckdb.DuckDBPyConnection:
    """A connection with the views

    * `trials`: one row per attempt (trial, attempt, block, position, cell, twin, parameters, link_seed, valid, reasons,
      disturbed, disturbance, shares, seconds, file, and `cell_<factor>` for each factor; `cell`, `parameters`,
      `reasons`, `shares` are JSON; `file` is the attempt's Parquet file, null where it left none);
    * `analysed`: of each trial the attempt that counts: the last valid one that the machine did not disturb, or, if it
      disturbed all, the least disturbed one;
    * `samples`: all rows of all attempts, with `trial` and `attempt`.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    # A read of thousands of small files is faster if their footers are not read twice.
    connection.execute("SET parquet_metadata_cache = true")
    connection.register("_trials", _trials(folder))
    connection.execute("CREATE TABLE trials AS SELECT * FROM _trials")
    connection.unregister("_trials")
    connection.execute(
        "CREATE VIEW analysed AS SELECT * FROM trials WHERE valid "
        "QUALIFY row_number() OVER (PARTITION BY trial "
        "ORDER BY disturbed, CASE WHEN disturbed THEN disturbance END, attempt DESC) = 1"
    )
    connection.execute(f"CREATE VIEW samples AS {_samples(connection)}")
    return connection


def _trials(folder: CampaignFolder) -> pa.Table:
    events = [event for event in folder.events() if event["event"] == "trial"]
    factors = list(dict.fromkeys(factor for event in events for factor in event["cell"]))
    schema = pa.schema(
        [
            ("trial", pa.string()),
            ("attempt", pa.int64()),
            ("block", pa.int64()),
            ("position", pa.int64()),
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
            ("file", pa.string()),
            *((CELL_PREFIX + factor, pa.string()) for factor in factors),
        ]
    )
    return pa.Table.from_pylist([_row(folder, event) for event in events], schema=schema)


def _row(folder: CampaignFolder, event: dict[str, Any]) -> dict[str, Any]:
    file = folder.trial(event["trial"], event["attempt"]) / "samples.parquet"
    # Journals of earlier versions say nothing of disturbances.
    event = {"disturbed": False, "disturbance": None, "shares": {}, **event}
    texts = {name: json.dumps(event[name], sort_keys=True) for name in ("cell", "parameters", "reasons", "shares")}
    levels = {CELL_PREFIX + factor: level for factor, level in event["cell"].items()}
    return {**event, **texts, **levels, "file": str(file) if file.exists() else None}


def _samples(connection: duckdb.DuckDBPyConnection) -> str:
    files = connection.execute("SELECT file FROM trials WHERE file IS NOT NULL ORDER BY trial, attempt").fetchall()
    columns = ", ".join(SCHEMA.names)
    if not files:
        empty = ", ".join(
            f"CAST(NULL AS {'VARCHAR' if pa.types.is_string(field.type) else 'BIGINT'}) AS {field.name}"
            for field in SCHEMA
        )
        return f"SELECT CAST(NULL AS VARCHAR) AS trial, CAST(NULL AS BIGINT) AS attempt, {empty} WHERE false"
    listed = ", ".join("'" + name.replace("'", "''") + "'" for (name,) in files)
    return (
        f"SELECT t.trial, t.attempt, {', '.join('s.' + name for name in SCHEMA.names)} "
        f"FROM (SELECT {columns}, filename FROM read_parquet([{listed}], filename = true)) AS s "
        "JOIN trials AS t ON s.filename = t.file"
    )
