"""The campaign's data for other tools: all samples with their trials' cells, and all attempts with their metrics."""

from pathlib import Path

import duckdb
import pyarrow as pa

from h123.durable import replacement
from h123.errors import UserError
from h123.results.attempts import load_attempts
from h123.results.folder import CampaignFolder
from h123.results.metrics import shown
from h123.results.tables import CELL_PREFIX, connect, literal, name
from h123.study import METRICS

_OPTIONS = {
    "csv": "FORMAT csv, HEADER true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "json": "FORMAT json, ARRAY true",
}


def export(folder: CampaignFolder, form: str, out: Path) -> list[Path]:
    """Write `samples.<form>` and `attempts.<form>` into the folder `out`; returns the files' paths.

    `form` is csv, parquet or json. `samples` holds every request of every attempt, with its trial's block, validity and
    cell (`cell_<factor>`); `attempts` one row each, with its metrics if it is the one of its trial that is analysed.
    Raises UserError.
    """
    if form not in _OPTIONS:
        raise UserError(f"{form!r} is not an export format; choose one of {', '.join(_OPTIONS)}")
    connection = whole(folder, writes=out)
    queries = {
        "samples": "FROM whole.samples ORDER BY trial, attempt, start_ns, user, end_ns",
        "attempts": "FROM whole.attempts ORDER BY trial, attempt",
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [_copy(connection, query, out / f"{table}.{form}", form) for table, query in queries.items()]
    except (OSError, duckdb.Error) as error:
        raise UserError(
            f"the export to {out} failed: {error}",
            remedy="check the disk's free space and the folder's permissions",
            status=1,
        ) from None


def whole(folder: CampaignFolder, writes: Path | None = None) -> duckdb.DuckDBPyConnection:
    """As `connect`, with two more views: `whole.attempts`, a row each, with its metrics if it is the one that is
    analysed; and `whole.samples`, a row for each request of each attempt, with its cell."""
    connection = connect(folder, writes)
    connection.register("_metrics", _metrics(folder))
    connection.execute("CREATE TABLE metrics AS FROM _metrics")
    connection.unregister("_metrics")
    columns = [str(column) for (column, *_) in connection.execute("DESCRIBE attempts").fetchall()]
    levels = "".join(f"t.{name(column)}, " for column in columns if column.startswith(CELL_PREFIX))
    connection.execute("CREATE SCHEMA whole")
    connection.execute(
        "CREATE VIEW whole.attempts AS SELECT t.* EXCLUDE (file, statuses), m.trial IS NOT NULL AS analysed, "
        "m.* EXCLUDE (trial, attempt) FROM main.attempts AS t LEFT JOIN metrics AS m USING (trial, attempt)"
    )
    connection.execute(
        f"CREATE VIEW whole.samples AS SELECT trial, attempt, t.block, t.twin, t.valid, t.analysed, {levels}"
        "s.* EXCLUDE (trial, attempt) FROM main.samples AS s JOIN whole.attempts AS t USING (trial, attempt)"
    )
    return connection


def _metrics(folder: CampaignFolder) -> pa.Table:
    schema = pa.schema([("trial", pa.string()), ("attempt", pa.int64()), *((name, pa.float64()) for name in METRICS)])
    rows = [{"trial": a.trial, "attempt": a.attempt, **shown(a.metrics)} for a in load_attempts(folder)]
    return pa.Table.from_pylist(rows, schema=schema)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path, form: str) -> Path:
    with replacement(target) as temporary:
        there = literal(str(temporary.absolute()))
        connection.execute(f"COPY ({query}) TO {there} ({_OPTIONS[form]}, USE_TMP_FILE false)")
    return target
