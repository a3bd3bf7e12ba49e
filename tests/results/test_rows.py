"""Columns of samples as arrays: the numbers, and which of them are known."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from h123.store import ingest
from h123.store.rows import Rows
from h123.store.samples import COLUMNS, succeeded, succeeded_sql

TIMES = st.lists(st.none() | st.integers(0, 2**40))
READ = """
import sys
from pathlib import Path
from h123.store.rows import Rows
rows = Rows.read(Path(sys.argv[1]))
print(rows["connected_ns"].valid.tolist(), rows.phase("warm").tolist(), "pandas" in sys.modules)
"""


@given(times=TIMES, first=st.integers(0, 20))
def test_a_null_is_not_known_wherever_the_column_begins(times: list[int | None], first: int) -> None:
    column, wanted = pa.array(times, pa.int64())[first:], times[first:]
    ends = Rows(pa.table({"end_ns": column}))["end_ns"]
    assert ends.valid.tolist() == [time is not None for time in wanted]
    assert ends.of(ends.valid).tolist() == [time for time in wanted if time is not None]


@given(errors=st.lists(st.none() | st.sampled_from(["", "closed", "timeout"])))
def test_a_row_without_a_text_has_none(errors: list[str | None]) -> None:
    column = pa.array(errors, pa.string()).dictionary_encode()
    rows = Rows(pa.table({"error": column}))
    assert rows.texts("error", rows.every) == sorted({error for error in errors if error is not None})
    assert rows.faultless.tolist() == [error == "" for error in errors]


def test_rows_are_read_without_pandas(tmp_path: Path) -> None:
    """Which each of the processes that read would import anew, for nothing."""
    rows = ["cold,0,1,2,3,4,5,200,0,100,h3,0,0,,,", "warm,0,6,,7,8,9,200,0,100,h3,0,1,,,"]
    (tmp_path / "samples.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n", encoding="utf-8")
    assert ingest(tmp_path, {"protocol": "h3", "method": "GET", "size": 100}) == []
    command = [sys.executable, "-c", READ, str(tmp_path / "samples.parquet")]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[0] == "[True, False] [False, True] False"


@given(
    answers=st.lists(st.tuples(st.sampled_from([0, 199, 200, 201, 204, 299, 300, 404]), st.integers(0, 1)), min_size=1),
    statuses=st.sampled_from([[200], [200, 404], [404, 200], [201, 404]]),
)
def test_any_success_is_one_and_another_status_is_that_alone(
    answers: list[tuple[int, int]], statuses: list[int]
) -> None:
    """Whoever asks: arrays, Arrow and SQL."""
    asked = [statuses[min(resource, len(statuses) - 1)] for _, resource in answers]
    wanted = [200 <= got < 300 if must == 200 else got == must for (got, _), must in zip(answers, asked, strict=True)]
    table = pa.table(
        {
            "error": [""] * len(answers),
            "status": [got for got, _ in answers],
            "resource": [min(resource, len(statuses) - 1) for _, resource in answers],
        }
    )
    assert succeeded(table, statuses).to_pylist() == wanted
    coded = table.set_column(0, "error", table["error"].combine_chunks().dictionary_encode())
    assert Rows(coded).ok(statuses).tolist() == wanted
    samples = duckdb.arrow(table)
    assert samples.project(succeeded_sql(statuses)).fetchall() == [(one,) for one in wanted]
