"""Samples are taken in exactly by contract or not at all."""

import errno
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from h123.base.errors import UserError
from h123.measures.summary import summarise
from h123.store import ingest, read_samples
from h123.store.columns import COLUMNS, REQUIRED, RETRIED_COLUMNS, TEXT_COLUMNS
from h123.store.compact import LIMIT
from h123.store.rows import Numbers, Rows, Texts
from h123.study.workload import workload_of

HEADER = ",".join(COLUMNS)
COLD = "cold,0,1,2,3,4,5,200,0,100,h3,0,0,,,"
WARM = "warm,0,6,,7,8,9,200,0,100,h3,0,1,,,"
FAILED = 'warm,0,10,,,,20,0,0,0,,,,"other: a ""b"", c",,'
ASKED = {"protocol": "h3", "method": "GET", "size": 100}


def write(folder: Path, *lines: str, end: str = "\n") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "samples.csv").write_text("\n".join(lines) + end, encoding="utf-8")
    return folder


def test_a_good_file_becomes_parquet_with_nulls_where_it_was_empty(tmp_path: Path) -> None:
    assert ingest(write(tmp_path, HEADER, COLD, WARM, FAILED), ASKED) == []
    assert [path.name for path in tmp_path.iterdir()] == ["samples.parquet"]
    table = pq.read_table(tmp_path / "samples.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        (name, "string" if name in TEXT_COLUMNS else "int64") for name in COLUMNS
    ]
    assert table["connected_ns"].to_pylist() == [2, None, None]
    assert table["error"].to_pylist() == ["", "", 'other: a "b", c']


def test_the_largest_numbers_and_long_texts_come_back_as_they_were(tmp_path: Path) -> None:
    most = LIMIT - 1
    odd, texts = [most, -most, None, 0, most], ["a" * 100_000, "", "ß\n,", "b", "b"]
    rows = [
        {name: text if name in TEXT_COLUMNS else number for name in COLUMNS}
        for number, text in zip(odd, texts, strict=True)
    ]
    Rows.of(rows).write(tmp_path / "samples.parquet")
    assert pq.read_table(tmp_path / "samples.parquet").to_pylist() == rows


def test_the_same_samples_are_the_same_bytes(tmp_path: Path) -> None:
    """Seals are digests of them. More rows than DuckDB writes, or reads, at a time."""
    random = np.random.default_rng(1)
    count, starts = 150_000, np.cumsum(np.arange(150_000) % 7)
    numbers = {
        name: Numbers(starts + random.integers(0, 1000, count), random.random(count) < (name in REQUIRED or 0.5))
        for name in COLUMNS
        if name not in TEXT_COLUMNS
    }
    texts = {name: Texts(["", "warm", "other: no route"], random.integers(0, 3, count)) for name in TEXT_COLUMNS}
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for file in files:
        Rows(numbers, texts).write(file)
    assert len({file.read_bytes() for file in files}) == 1
    code = "from pathlib import Path; from h123.store import Rows; import sys; "
    code += "Rows.read(Path(sys.argv[1])).write(Path(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", code, files[0], tmp_path / "again.parquet"], check=True)
    assert (tmp_path / "again.parquet").read_bytes() == files[0].read_bytes()
    read = Rows.read(files[0])
    assert all(np.array_equal(read[name].of(read.every), numbers[name].of(read.every)) for name in numbers)
    assert read.samples()[::997] == Rows(numbers, texts).samples()[::997]


def test_an_answer_with_another_status_than_its_resource_must_have_has_failed(tmp_path: Path) -> None:
    """A client that did not notice leaves no error."""
    answers = [(0, 200), (0, 404), (1, 201), (1, 200), (None, 200)]
    rows = [
        {
            "phase": "warm",
            "protocol": "h3",
            "start_ns": 9 - n,
            "end_ns": 20,
            "status": status,
            "resource": of,
            "error": "",
        }
        for n, (of, status) in enumerate(answers)
    ]
    Rows.of(rows).write(tmp_path / "samples.parquet")
    read = read_samples(tmp_path / "samples.parquet", [200, 201])
    assert [row["error"] for row in reversed(read)] == ["", "status 404", "", "status 200", ""]
    assert [row["start_ns"] for row in read] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("lines", [None, [], [HEADER]])
def test_no_samples_are_missing_samples(tmp_path: Path, lines: list[str] | None) -> None:
    if lines is not None:
        write(tmp_path, *lines, end="\n" if lines else "")
    assert [reason["code"] for reason in ingest(tmp_path, ASKED)] == ["samples-missing"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([HEADER.replace("user", "usr"), WARM], "line 1"),
        ([HEADER + ",more", WARM + ",1"], "line 1"),
        ([HEADER, WARM, "warm,0,1"], "line 3: 3 fields instead of 16"),
        ([HEADER, WARM, WARM.replace("9", "nine")], "line 3: end_ns is 'nine'"),
        ([HEADER, WARM.replace("9", "9.5")], "line 2: end_ns is '9.5'"),
        ([HEADER, WARM.replace("9", str(2**63))], "line 2: end_ns is"),
        ([HEADER, WARM.replace("warm", "hot")], "line 2: phase is 'hot'"),
        ([HEADER, WARM, "", WARM], "line 3: 0 fields"),
        ([HEADER, "warm,0,,,7,8,9,200,0,100,h3,0,1,,,"], "line 2: start_ns is empty"),
    ],
)
def test_a_malformed_file_is_kept_and_the_line_named(tmp_path: Path, lines: list[str], told: str) -> None:
    (reason,) = ingest(write(tmp_path, *lines), ASKED)
    assert reason["code"] == "samples-malformed"
    assert told in reason["detail"]
    assert [path.name for path in tmp_path.iterdir()] == ["samples.csv"]


def test_how_often_requests_were_made_stands_where_they_are_made_again_and_nowhere_else(tmp_path: Path) -> None:
    again, header = ASKED | {"retry": {"after": 5, "at_most": 2}}, f"{HEADER},tries"
    assert ingest(write(tmp_path / "told", header, f"{COLD},1", f"{WARM},3"), again) == []
    file = tmp_path / "told/samples.parquet"
    assert pq.read_schema(file).names == RETRIED_COLUMNS
    assert summarise(Rows.read(file), workload_of(again)).retried == 1
    assert [row["tries"] for row in read_samples(file, [200])] == [1, 3]
    for parameters, lines, said in (
        (again, (HEADER, WARM), "line 1: the header is"),
        (ASKED, (header, f"{WARM},1"), "line 1: the header is"),
        (again, (header, f"{WARM},"), "line 2: tries is empty"),
        (again, (header, f"{WARM},some"), "line 2: tries is 'some'"),
    ):
        (reason,) = ingest(write(tmp_path / "malformed", *lines), parameters)
        assert (reason["code"], said in reason["detail"]) == ("samples-malformed", True), reason


def test_a_row_torn_by_a_killed_client_is_malformed(tmp_path: Path) -> None:
    (reason,) = ingest(write(tmp_path, HEADER, WARM, WARM[:20], end=""), ASKED)
    assert (reason["code"], "line 3" in reason["detail"]) == ("samples-malformed", True)


def test_another_protocol_on_a_successful_row_is_wrong(tmp_path: Path) -> None:
    (reason,) = ingest(write(tmp_path, HEADER, COLD, WARM.replace("h3", "h2")), ASKED)
    assert reason["code"] == "wrong-protocol"
    assert "1 of 2 successful requests went over 'h2' instead of 'h3'" in reason["detail"]
    assert (tmp_path / "samples.parquet").exists()


def test_another_protocol_is_right_where_the_client_may_fall_back_to_it(tmp_path: Path) -> None:
    may = ASKED | {"fallback": True}
    assert ingest(write(tmp_path / "h2", HEADER, COLD, WARM.replace("h3", "h2")), may) == []
    (reason,) = ingest(write(tmp_path / "h1", HEADER, COLD, WARM.replace("h3", "h1")), may)
    assert "1 of 2 successful requests went over 'h1' instead of 'h3' or 'h2'" in reason["detail"]


def test_a_success_with_another_size_than_asked_is_wrong(tmp_path: Path) -> None:
    (reason,) = ingest(write(tmp_path, HEADER, COLD, WARM.replace(",100,", ",50,"), FAILED), ASKED)
    assert reason["code"] == "wrong-size"
    assert reason["detail"] == "1 of 2 responses had a body of 50 bytes instead of 100"


def test_of_an_upload_the_size_is_that_of_what_was_sent(tmp_path: Path) -> None:
    sent = WARM.replace("200,0,100", "200,100,3")
    assert ingest(write(tmp_path / "whole", HEADER, sent), ASKED | {"method": "POST"}) == []
    (reason,) = ingest(write(tmp_path / "cut", HEADER, WARM), ASKED | {"method": "POST"})
    assert reason["code"] == "wrong-size"


def test_an_answer_that_is_none_may_have_any_size(tmp_path: Path) -> None:
    assert ingest(write(tmp_path, HEADER, WARM.replace("200,0,100", "404,0,9")), ASKED) == []


def test_a_failed_request_need_not_have_negotiated(tmp_path: Path) -> None:
    assert ingest(write(tmp_path, HEADER, FAILED), ASKED) == []


def test_a_full_disk_is_told_by_its_number_and_keeps_the_csv(tmp_path: Path) -> None:
    source, limits = write(tmp_path, HEADER, WARM), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            ingest(source, ASKED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert (tmp_path / "samples.csv").exists()


def test_the_csv_stays_where_the_parquet_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "samples.parquet.tmp").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        ingest(write(tmp_path, HEADER, WARM), ASKED)
    assert (tmp_path / "samples.csv").exists()


def test_a_column_whose_name_is_not_utf8_is_a_sentence_that_names_the_file(tmp_path: Path) -> None:
    assert ingest(write(tmp_path, HEADER, WARM, FAILED), ASKED) == []
    file = tmp_path / "samples.parquet"
    file.write_bytes(file.read_bytes().replace(b"protocol", b"\xf4rotocol"))
    with pytest.raises(UserError, match=r"samples\.parquet is not complete"):
        summarise(Rows.read(file), workload_of(ASKED))


@pytest.mark.parametrize(("sizes", "quickest"), [((100, 100), (20, 100)), ((100, 10), (50, 100)), ((0, 0), (20, 0))])
def test_the_quickest_request_moves_most_bytes_a_second(
    tmp_path: Path, sizes: tuple[int, int], quickest: tuple[int, int]
) -> None:
    """Of bodies of one size that is the shortest; of others it need not be."""
    rows = [f"warm,0,0,,,,50,200,0,{sizes[0]},h3,0,1,,,", f"warm,0,100,,,,120,200,0,{sizes[1]},h3,0,1,,,"]
    ingest(write(tmp_path, HEADER, *rows, FAILED, f"warm,0,130,,,,130,200,0,{sizes[0]},h3,0,1,,,"), ASKED)
    file = tmp_path / "samples.parquet"
    found = summarise(Rows.read(file), workload_of(ASKED))
    assert (found.quickest_down_ns, found.quickest_down_bytes) == quickest
    assert (found.shortest_ns, found.quickest_up_bytes) == (20, 0)


@pytest.mark.parametrize("name", sorted(REQUIRED - {"tries"} | {*TEXT_COLUMNS}))
@pytest.mark.parametrize("some", [False, True])
def test_a_measured_sample_has_all_that_its_client_must_write(name: str, some: bool, tmp_path: Path) -> None:
    """A file whose digests hold may still be forged. Imported samples may lack times, sizes and protocols."""
    ingest(write(tmp_path, HEADER, COLD, WARM), ASKED)
    file = tmp_path / "samples.parquet"
    first, second = (dict(row) for row in Rows.read(file).samples())
    Rows.of([first | {name: None}, second if some else second | {name: None}]).write(file)
    with pytest.raises(UserError, match=f"column {name} is empty in"):
        Rows.read(file, measured=True)
    with pytest.raises(UserError, match=f"column {name} is empty in"):
        read_samples(file, [200], measured=True)
    if name in ("end_ns", "bytes_up", "bytes_down", "protocol"):
        assert Rows.read(file).count == 2
