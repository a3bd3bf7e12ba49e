"""Parquet files of trials, as DuckDB reads them by itself."""

from pathlib import Path
from typing import Any

import duckdb


def stored_rows(file: Path) -> list[dict[str, Any]]:
    """All rows of a file."""
    with duckdb.connect(config={"threads": 1}) as connection:
        table = connection.read_parquet(str(file))
        return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]
