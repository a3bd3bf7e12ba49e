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
"""The columns for workloads that retry requests."""
FORMS = (COLUMNS, RETRIED_COLUMNS)
"""The sets of columns that files of samples may have."""
REQUIRED = {"user", "start_ns", "end_ns", "status", "bytes_up", "bytes_down", "tries"}
"""The columns of numbers that are never empty in measured samples. Files without retries have no column `tries`."""
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
    """The number of the user's visit, page or journey that the request is part of. None if the workload has none."""
    resource: int | None
    """The index of the requested resource in the workload. None if there is only one."""
    tries: NotRequired[int]
    """How many times the client sent the request. Only in workloads that retry requests."""


def sql_type(column: str) -> str:
    return "VARCHAR" if column in TEXT_COLUMNS else "BIGINT"
