"""Parquet files as columns of arrays: of any name, in forked processes, damaged, and as other programs write them."""

import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from h123.base.errors import UserError
from h123.base.processes import each
from h123.packets.capture import PACKET, read_packets, write_packets
from h123.store.columns import COLUMNS, TEXT_COLUMNS
from h123.store.parquet import DAMAGED, read_columns, read_types, text_column, write_columns
from h123.store.rows import Rows

SAMPLE = {name: "warm" if name in TEXT_COLUMNS else number for number, name in enumerate(COLUMNS)}
FAILED = SAMPLE | {"connected_ns": None, "group": None, "error": "other: no route"}


def _count(file: Path) -> int:
    return Rows.read(file).count


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "samples.parquet"
    Rows.of([SAMPLE, FAILED] * 50).write(file)
    return file


def test_forked_processes_read_what_their_parent_reads(file: Path) -> None:
    """A connection that was made before the fork is of no use after it."""
    assert _count(file) == 100
    assert set(each(_count, [file] * 400)) == {100}
    assert _count(file) == 100


@pytest.mark.parametrize("name", ["a*b?.parquet", "[x].parquet", "it's", "s3:\\host", 'a"b', " ", "file:x", "ß\n"])
def test_a_file_may_have_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "axb.parquet").write_bytes(b"")
    write_columns({"a": np.arange(3), "b": text_column(["x", None, ""])}, tmp_path / name, "zstd")
    read = read_columns(tmp_path / name)
    assert {name: column.tolist() for name, column in read.items()} == {"a": [0, 1, 2], "b": ["x", None, ""]}
    assert read_types(tmp_path / name) == {"a": "BIGINT", "b": "VARCHAR"}


@pytest.mark.parametrize("texts", [[], [None, None], [None] * 3000 + ["x"]])
def test_texts_that_are_not_there_are_texts(texts: list[str | None], tmp_path: Path) -> None:
    write_columns({"text": text_column(texts)}, tmp_path / "t", "zstd")
    assert read_types(tmp_path / "t") == {"text": "VARCHAR"}
    assert read_columns(tmp_path / "t")["text"].tolist() == texts


def test_a_damaged_file_is_an_error_or_read_and_harms_no_other(file: Path, tmp_path: Path) -> None:
    content, damaged, chance = file.read_bytes(), tmp_path / "damaged.parquet", random.Random(1)
    for _ in range(150):
        changed = bytearray(content)
        for _ in range(chance.choice([1, 3])):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        damaged.write_bytes(changed[: chance.choice([len(changed), chance.randrange(len(changed))])])
        with suppress(UserError):
            Rows.read(damaged, measured=True)
        try:
            read_columns(damaged)
        except DAMAGED:
            assert _count(file) == 100
    assert Rows.read(file).samples() == [SAMPLE, FAILED] * 50


@pytest.mark.parametrize("count", [2, 20_000])
def test_samples_of_earlier_versions_that_pyarrow_wrote_are_read(count: int, tmp_path: Path) -> None:
    schema = pa.schema([(name, pa.string() if name in TEXT_COLUMNS else pa.int64()) for name in COLUMNS])
    table = pa.Table.from_pylist([SAMPLE, FAILED] * (count // 2), schema=schema)
    numbers = [name for name in COLUMNS if name not in TEXT_COLUMNS]
    pq.write_table(
        table,
        tmp_path / "newer",
        compression={name: "zstd" if name == "error" else "none" for name in COLUMNS},
        use_dictionary=sorted(TEXT_COLUMNS),
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        write_statistics=False,
    )
    pq.write_table(table, tmp_path / "older", compression="zstd")
    for name in ("newer", "older"):
        assert Rows.read(tmp_path / name, measured=True).samples() == [SAMPLE, FAILED] * (count // 2)


def test_packets_that_pyarrow_wrote_are_read(tmp_path: Path) -> None:
    packets = np.zeros(1000, PACKET)
    packets["at_ns"], packets["left_ns"][::3], packets["seq"] = np.arange(1000), 7, 2**32 - 1
    write_packets(packets, tmp_path / "packets-access.parquet")
    table = pq.read_table(tmp_path / "packets-access.parquet")
    assert table["left_ns"].null_count == 666
    times = dict.fromkeys(("at_ns", "left_ns"), "DELTA_BINARY_PACKED")
    encodings = {**times, **dict.fromkeys(("seq", "ack"), "BYTE_STREAM_SPLIT")}
    others = [name for name in table.column_names if name not in encodings]
    with (tmp_path / "packets-access.parquet").open("wb") as file:
        pq.write_table(table, file, compression="zstd", use_dictionary=others, column_encoding=encodings)
    assert np.array_equal(read_packets(tmp_path), packets)
    assert np.array_equal(read_packets(tmp_path, columns=["seq"])["seq"], packets["seq"])


def test_a_new_interpreter_reads_samples_without_pyarrow(file: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = sys.modules['pandas'] = None; from pathlib import Path; "
    code += "from h123.store import Rows; print(Rows.read(Path(sys.argv[1])).count)"
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=True)
    assert done.stdout == "100\n"
