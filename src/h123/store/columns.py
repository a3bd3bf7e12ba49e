"""Defines the columns of samples: what they are called, which of them contain text, and which may be empty."""

from typing import NotRequired, TypedDict

from h123.study.workload import BEYOND_OK, LEAVING, OK

TEXT_COLUMNS = ("phase", "protocol", "error")
TIME_COLUMNS = ["start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns"]
COLUMNS = [
    *("phase", "user", *TIME_COLUMNS, "status", "bytes_up", "bytes_down"),
    *("protocol", "connection", "reused", "error", "group", "resource"),
]
RETRIED_COLUMNS = [*COLUMNS, "tries"]
"""Columns for workloads whose requests are repeated."""
FORMS = (COLUMNS, RETRIED_COLUMNS)
"""The sets of columns that files of samples may have."""
REQUIRED = {"user", "start_ns", "end_ns", "status", "bytes_up", "bytes_down", "tries"}
"""Numbers that a measured sample always contains, if its file has the column."""
IMPORTED = {"phase", "start_ns", "status", "error", "tries"}
"""Columns that are never empty, even in imported samples."""
MEASURED = {*REQUIRED, *TEXT_COLUMNS}
"""Columns that are never empty in measured samples."""
PHASES = ("cold", "warmup", "warm", LEAVING)
SUCCESS_SQL = f"({{status}} >= {OK} AND {{status}} < {BEYOND_OK})"


class Sample(TypedDict):
    """One row of samples."""

    phase: str
    user: int
    start_ns: int
    connected_ns: int | None
    sent_ns: int | None
    first_byte_ns: int | None
    end_ns: int
    status: int
    bytes_up: int
    bytes_down: int
    protocol: str
    connection: int | None
    reused: int | None
    error: str
    group: int | None
    """The user's visit, page or journey that the request belongs to. None if there are none."""
    resource: int | None
    """The index of the requested resource in the workload. None if there is only one."""
    tries: NotRequired[int]
    """The number of times that the request was made. Only for workloads whose requests are repeated."""


def sql_type(column: str) -> str:
    """Return the type of a column in DuckDB."""
    return "VARCHAR" if column in TEXT_COLUMNS else "BIGINT"
