"""Ctrl-C amid a query ends as it does anywhere else."""

import os
import signal
import threading
import time
from pathlib import Path

import duckdb
import pytest

from campaign.scripted import HEADER
from h123.base.errors import interruptible
from h123.store import samples
from h123.store.samples import SCHEMA


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


def test_ctrl_c_while_samples_are_read_is_never_lost(tmp_path: Path) -> None:
    source, lost = tmp_path / "samples.csv", 0
    row = "warm,0,1,,1000,20000000,40000000,200,0,1000,h2,0,1,,,"
    source.write_text("\n".join([HEADER, *[row] * 20_000, ""]))
    samples._read(source, SCHEMA)
    for number in range(150):
        strike = threading.Timer(0.001 * (number % 8), os.kill, (os.getpid(), signal.SIGINT))
        try:
            strike.start()
            for _ in range(4):
                samples._read(source, SCHEMA)
            strike.join()
            time.sleep(0.01)
            lost += 1
        except KeyboardInterrupt:
            strike.join()
    assert lost == 0
