"""Columns of samples as arrays: the numbers, and which of them are known."""

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from h123.store import ingest
from h123.store.columns import COLUMNS
from h123.store.parquet import number_column
from h123.store.rows import Numbers, Rows, Texts
from h123.store.samples import succeeded_sql

TIMES = st.lists(st.none() | st.integers(0, 2**40))
READ = """
import sys
from pathlib import Path
from h123.store.rows import Rows
rows = Rows.read(Path(sys.argv[1]))
print(rows["connected_ns"].valid.tolist(), rows.phase("warm").tolist(), "pandas" in sys.modules)
"""


@given(times=TIMES)
def test_a_null_is_not_known(times: list[int | None]) -> None:
    ends = Numbers.from_column(number_column(times))
    assert ends.valid.tolist() == [time is not None for time in times]
    assert ends.of(ends.valid).tolist() == [time for time in times if time is not None]
    assert ends.column().tolist() == times


@given(errors=st.lists(st.none() | st.sampled_from(["", "closed", "timeout"])))
def test_a_row_without_a_text_has_none(errors: list[str | None]) -> None:
    rows = Rows({}, {"error": Texts.of(errors)})
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
    """In arrays as in SQL."""
    asked = [statuses[min(resource, len(statuses) - 1)] for _, resource in answers]
    wanted = [200 <= got < 300 if must == 200 else got == must for (got, _), must in zip(answers, asked, strict=True)]
    table = [{"error": "", "status": got, "resource": min(resource, len(statuses) - 1)} for got, resource in answers]
    rows = Rows.of(table)
    assert rows.ok(statuses).tolist() == wanted
    columns = {"error": np.full(len(table), ""), **{name: rows[name].values for name in ("status", "resource")}}
    with duckdb.connect() as connection:
        samples = connection.register("samples", columns).table("samples")
        assert samples.project(succeeded_sql(statuses)).fetchall() == [(one,) for one in wanted]
