"""Ctrl-C amid a query ends as it does anywhere else."""

import os
import signal
import threading

import duckdb
import pytest

from h123.base.interruption import interruptible


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
