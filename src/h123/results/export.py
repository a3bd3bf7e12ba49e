"""The campaign's data for other tools: all samples with their trials' cells, and the metrics of each trial."""

from pathlib import Path

import duckdb
import pyarrow as pa

from h123.durable import replacement
from h123.errors import UserError
from h123.results.attempts import load_attempts
from h123.results.folder import CampaignFolder
from h123.results.metrics import METRICS, shown
from h123.results.tables import CELL_PREFIX, connect, literal, name

_OPTIONS = {
    "csv": "FORMAT csv, HEADER true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "json": "FORMAT json, ARRAY true",
}


def export(folder: CampaignFolder, form: str, out: Path) -> list[Path]:
    """Write `samples.<form>` and `trials.<form>` into the folder `out`; returns the files' paths.

    `form` is csv, parquet or json. `samples` holds every request of every attempt, with its trial's block, validity and
    cell (`cell_<factor>`); `trials` one row per attempt, with its metrics if it is the one that is analysed. Raises
    UserError.
    """
    if form not in _OPTIONS:
        raise UserError(f"{form!r} is not an export format; choose one of {', '.join(_OPTIONS)}")
    connection = connect(folder, writes=out)
    connection.register("metrics", _metrics(folder))
    columns = [str(column) for (column, *_) in connection.execute("DESCRIBE trials").fetchall()]
    levels = "".join(f"t.{name(column)}, " for column in columns if column.startswith(CELL_PREFIX))
    queries = {
        "samples": (
            f"SELECT trial, attempt, t.block, t.twin, t.valid, {levels}s.* EXCLUDE (trial, attempt) "
            "FROM samples AS s JOIN trials AS t USING (trial, attempt) "
            "ORDER BY trial, attempt, s.start_ns, s.user, s.end_ns"
        ),
        "trials": (
            "SELECT t.* EXCLUDE (file, statuses), m.* EXCLUDE (trial, attempt) "
            "FROM trials AS t LEFT JOIN metrics AS m USING (trial, attempt) ORDER BY trial, attempt"
        ),
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


def _metrics(folder: CampaignFolder) -> pa.Table:
    schema = pa.schema([("trial", pa.string()), ("attempt", pa.int64()), *((name, pa.float64()) for name in METRICS)])
    rows = [{"trial": a.trial, "attempt": a.attempt, **shown(a.metrics)} for a in load_attempts(folder)]
    return pa.Table.from_pylist(rows, schema=schema)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path, form: str) -> Path:
    with replacement(target) as temporary:
        there = literal(str(temporary.absolute()))
        connection.execute(f"COPY ({query}) TO {there} ({_OPTIONS[form]}, USE_TMP_FILE false)")
    return target
