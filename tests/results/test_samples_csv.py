"""Samples that clients write as CSV, held against Arrow's reader: the same are refused, and the rest say the same."""

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from h123.store import ingest
from h123.store.columns import COLUMNS, PHASES, REQUIRED, TEXT_COLUMNS
from h123.store.compact import LIMIT
from h123.store.rows import Rows

ASKED = {"protocol": "h3", "method": "GET", "size": 100}
WARM = ["warm", "0", "6", "", "7", "8", "9", "200", "0", "100", "h3", "0", "1", "", "", "0"]
ODD_NUMBERS = [
    *(
        "",
        " ",
        "5",
        " 5",
        "5 ",
        "\t5",
        "\x0b5",
        "\xa05",
        "\x005",
        "+5",
        "-5",
        "--5",
        "- 5",
        "-0",
        "007",
        "0" * 30 + "5",
    ),
    *(
        '""',
        '"5"',
        '" 5"',
        '5"',
        '"5"5',
        '"5',
        '"',
        '"5\n"',
        '"\n5"',
        '"1,2"',
        '"5,"',
        "1_000",
        "1e3",
        "1.0",
        "٣",
        "５",
    ),
    *("0" * 30 + "5", "٣", "５"),
    *(str(LIMIT), str(LIMIT - 1), str(1 - LIMIT), str(-LIMIT), str(2**63), "9" * 30, "9" * 5000, "null", "NaN", "0b1"),
]
ODD_TEXTS = [
    *("", "h2", "hot", " warm", "warm ", '"warm"', '"a,b"', '"a""b"', '"a"b', 'a"b', '"a', '"a\nb"', '"a\r\nb"'),
    *("a\rb", "a\nb", "\x00", '""', '"""', '""""', ' "a"', '"a" ', "ß", "\ufeff", "\u2028", "\x85", "\x0c", "a" * 3000),
]
ENDS = ["\n", "\r\n", "\r", "\n\n", "", ",\n", "\n,", " \n", "\x00\n", '"\n', "\n\r\n"]


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A row, nearly as it should be, and its end."""
    row = [*WARM]
    for place in draw(st.lists(st.integers(0, len(WARM) - 1), max_size=2)):
        odd = ODD_TEXTS if COLUMNS[place] in TEXT_COLUMNS else ODD_NUMBERS
        row[place] = draw(st.sampled_from(odd) | st.text(max_size=4).filter(lambda text: "," not in text))
    width = draw(st.sampled_from([16] * 20 + [15, 17, 1]))
    return ",".join([*row, ""][:width]) + draw(st.sampled_from(["\n"] * 20 + ENDS))


def _by_arrow(file: Path) -> list[dict[str, Any]] | None:
    """The rows; None: not all of them are by contract."""
    types = {name: pa.string() if name in TEXT_COLUMNS else pa.int64() for name in COLUMNS}
    try:
        table = pacsv.read_csv(
            file,
            read_options=pacsv.ReadOptions(use_threads=False),
            parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pacsv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=False, quoted_strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    rows: list[dict[str, Any]] = table.to_pylist()
    numbers = [*{*COLUMNS} - {*TEXT_COLUMNS}]
    sensible = all(
        row["phase"] in PHASES
        and all(row[name] is not None for name in REQUIRED & {*row})
        and all(row[name] is None or abs(row[name]) < LIMIT for name in numbers)
        for row in rows
    )
    return rows if sensible else None


def _ingested(folder: Path) -> list[dict[str, Any]] | None:
    """The rows; None: not all of them are by contract."""
    file = folder / "samples.parquet"
    codes = {reason["code"] for reason in ingest(folder, ASKED)}
    if not file.exists():
        assert codes <= {"samples-malformed", "samples-missing"}
        return None if "samples-malformed" in codes else []
    return [dict(row) for row in Rows.read(file, measured=True).samples()]


@given(body=st.lists(lines(), min_size=1, max_size=4).map("".join))
@example(body=",".join([*WARM[:-1], '"']))
@example(body=",".join([*WARM[:-1], '"5\n']))
@example(body=",".join([*WARM[:-1], '""']) + "\n")
@example(body=",".join(WARM) + "\n\n")
@example(body=",".join(WARM) + "\r" + ",".join(WARM))
def test_what_arrow_refuses_is_refused_and_the_rest_is_the_same(body: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "samples.csv"
        source.write_bytes(f"{','.join(COLUMNS)}\n{body}".encode())
        expected = _by_arrow(source)
        assert _ingested(Path(folder)) == expected


@pytest.mark.parametrize("number", ["0x1f", "0X1F", "-0x1"])
def test_a_number_has_ten_digits(number: str, tmp_path: Path) -> None:
    """Arrow would read others too."""
    row = ",".join([number if name == "user" else value for name, value in zip(COLUMNS, WARM, strict=True)])
    (tmp_path / "samples.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n", encoding="utf-8")
    (reason,) = ingest(tmp_path, ASKED)
    assert reason["code"] == "samples-malformed"
    assert f"line 2: user is '{number}'" in reason["detail"]


@pytest.mark.parametrize("where", [0, 30, -3])
def test_what_is_not_utf8_is_refused(where: int, tmp_path: Path) -> None:
    content = bytearray(f"{','.join(COLUMNS)}\n{','.join(WARM)}\n".encode())
    content[where] = 0xFF
    (tmp_path / "samples.csv").write_bytes(content)
    assert ingest(tmp_path, ASKED) == [{"code": "samples-malformed", "detail": "samples.csv: it is not UTF-8 text"}]


def test_many_rows_are_read_in_parts(tmp_path: Path) -> None:
    rows = [",".join([*WARM[:2], str(number), *WARM[3:]]) for number in range(30_001)]
    (tmp_path / "samples.csv").write_text("\n".join([",".join(COLUMNS), *rows, ""]), encoding="utf-8")
    assert ingest(tmp_path, ASKED) == []
    assert Rows.read(tmp_path / "samples.parquet")["start_ns"].values.tolist() == [*range(30_001)]
