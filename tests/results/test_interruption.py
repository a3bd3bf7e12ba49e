"""Ctrl-C amid a query ends as it does anywhere else."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import duckdb
import pytest

from campaign.scripted import HEADER
from h123.base.errors import interruptible
from h123.measures.export import export
from h123.store import CampaignFolder, Rows

STRIKES = """
import os, signal, sys, threading, time
from pathlib import Path
from h123.store import samples
from h123.store.columns import COLUMNS
from h123.store.rows import Rows
from h123.store.parquet import read_columns, write_columns

folder, reads, lost = Path(sys.argv[1]), sys.argv[2], 0
columns = read_columns(folder / "samples.parquet")


def read():
    if reads == "ingest":
        samples._read(folder / "samples.csv", COLUMNS)
    elif reads == "write_columns":
        write_columns(columns, folder / "written.parquet", "zstd")
    else:
        Rows.read(folder / "samples.parquet")


read()
for number in range(150):
    strike = threading.Timer(0.001 * (number % 8), os.kill, (os.getpid(), signal.SIGINT))
    try:
        strike.start()
        for _ in range(4):
            read()
        strike.join()
        time.sleep(0.01)
        lost += 1
    except KeyboardInterrupt:
        strike.join()
print(f"{lost} of 150 lost")
"""


def test_ctrl_c_amid_a_query_is_ctrl_c() -> None:
    # With more threads DuckDB 2.0 ends one query in five only when a worker is through: of ours, within seconds.
    connection = duckdb.connect(":memory:", config={"threads": 1})
    strike = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    strike.start()
    with pytest.raises(KeyboardInterrupt), interruptible():
        connection.execute("SELECT sum(sin(range)) FROM range(3_000_000_000)").fetchall()
    strike.join()


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="something else"), interruptible():
        raise RuntimeError("something else")


def test_an_interruption_while_duckdb_reads_our_table_is_one_too() -> None:
    said = "counting the rows of the object registered as '_trials' failed: KeyboardInterrupt: "
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise duckdb.InvalidInputException(said)
    with pytest.raises(duckdb.InvalidInputException), interruptible():
        raise duckdb.InvalidInputException("no such column")


def test_an_interrupted_export_is_not_called_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def struck(*_arguments: object) -> Path:
        raise duckdb.Error("Traceback (most recent call last): ... KeyboardInterrupt: ")

    module = sys.modules["h123.measures.export"]  # the package has a function of this name
    monkeypatch.setattr(module, "connect_with_metrics", lambda *_, **__: None)
    monkeypatch.setattr(module, "_copy", struck)
    with pytest.raises(KeyboardInterrupt):
        export(cast(CampaignFolder, None), "csv", tmp_path / "out")


@pytest.mark.parametrize("reads", ["ingest", "Rows.read", "write_columns"])
def test_ctrl_c_while_samples_are_read_or_written_is_never_lost(reads: str, tmp_path: Path) -> None:
    """In an interpreter of its own: a callback of hypothesis, in this one, would swallow some."""
    row = "warm,0,1,,1000,20000000,40000000,200,0,1000,h2,0,1,,,"
    (tmp_path / "samples.csv").write_text("\n".join([HEADER, *[row] * 2_000, ""]))
    Rows.of([{"phase": "warm", "start_ns": number, "status": 200, "error": ""} for number in range(20_000)]).write(
        tmp_path / "samples.parquet"
    )
    command = [sys.executable, "-c", STRIKES, tmp_path, reads]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0 of 150 lost\n", "")
