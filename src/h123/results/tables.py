"""The campaign as tables: DuckDB views over the journal and over all Parquet files."""

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from h123.results.events import TrialEvent
from h123.results.folder import CampaignFolder
from h123.results.samples import SCHEMA, complaint

CELL_PREFIX = "cell_"
"""`cell_<factor>` is the column with the factor's level: plain names would collide with the samples' own."""
_FILES = "SELECT file FROM trials WHERE file IS NOT NULL ORDER BY trial, attempt"


def connect(folder: CampaignFolder, writes: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A connection with the views

    * `trials`: one row per attempt (trial, attempt, block, position, place, cell, twin, parameters, link_seed, valid,
      reasons, disturbed, disturbance, shares, seconds, damage, file, and `cell_<factor>` for each factor; `cell`,
      `parameters`, `reasons`, `shares` are JSON; `damage` says what is wrong with its files, null if nothing is; `file`
      is the attempt's Parquet file, null where it left none or where there is damage);
    * `analysed`: of each trial the attempt that counts: the last valid one that the machine did not disturb, or, if it
      disturbed all, the least disturbed one; none whose files are damaged;
    * `samples`: all rows of all attempts, with `trial` and `attempt`.

    The folder may be a stranger's: whatever is in it, nothing but its trials can be read, and nothing be written but
    into the folder `writes`.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    # A read of thousands of small files is faster if their footers are not read twice.
    connection.execute("SET parquet_metadata_cache = true")
    opened = ", ".join(literal(str(path.resolve())) for path in (folder.trials, writes) if path)
    connection.execute(f"SET allowed_directories = [{opened}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    connection.register("_trials", trials_table(folder))
    connection.execute("CREATE TABLE trials AS SELECT * FROM _trials")
    connection.unregister("_trials")
    connection.execute(
        "CREATE VIEW analysed AS SELECT * FROM trials WHERE valid AND damage IS NULL "
        "QUALIFY row_number() OVER (PARTITION BY trial "
        "ORDER BY disturbed, CASE WHEN disturbed THEN disturbance END, attempt DESC) = 1"
    )
    files = [str(file) for (file,) in connection.execute(_FILES).fetchall()]
    try:
        connection.execute(f"CREATE VIEW samples AS {_samples(files)}")
    except (duckdb.Error, UnicodeDecodeError) as error:  # the latter of a name in the file
        raise complaint(map(Path, files), error) from None
    return connection


def name(text: str) -> str:
    """A column's name as SQL has it, whatever is in it."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The same of a text."""
    return "'" + text.replace("'", "''") + "'"


def trials_table(folder: CampaignFolder) -> pa.Table:
    """The table `trials`."""
    events = [event for event in folder.events() if event["event"] == "trial"]
    factors = list(dict.fromkeys(factor for event in events for factor in event["cell"]))
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
            *((CELL_PREFIX + factor, pa.string()) for factor in factors),
        ]
    )
    return pa.Table.from_pylist([_row(folder, event) for event in events], schema=schema)


def _row(folder: CampaignFolder, event: TrialEvent) -> dict[str, object]:
    file, damage = folder.attempt(event) / "samples.parquet", folder.damage(event)
    # Journals of earlier versions say nothing of disturbances.
    told = {"place": None, "disturbed": False, "disturbance": None, "shares": {}, **event}
    texts = {name: json.dumps(told[name], sort_keys=True) for name in ("cell", "parameters", "reasons", "shares")}
    levels = {CELL_PREFIX + factor: level for factor, level in event["cell"].items()}
    readable = damage is None and file.exists()
    return {**told, **texts, **levels, "damage": damage, "file": str(file) if readable else None}


def _samples(files: Sequence[str]) -> str:
    columns = ", ".join(SCHEMA.names)
    if not files:
        empty = ", ".join(
            f"CAST(NULL AS {'VARCHAR' if pa.types.is_string(field.type) else 'BIGINT'}) AS {field.name}"
            for field in SCHEMA
        )
        return f"SELECT CAST(NULL AS VARCHAR) AS trial, CAST(NULL AS BIGINT) AS attempt, {empty} WHERE false"
    listed = ", ".join(map(literal, files))
    return (
        f"SELECT t.trial, t.attempt, {', '.join('s.' + column for column in SCHEMA.names)} "
        f"FROM (SELECT {columns}, filename FROM read_parquet([{listed}], filename = true)) AS s "
        "JOIN trials AS t ON s.filename = t.file"
    )
