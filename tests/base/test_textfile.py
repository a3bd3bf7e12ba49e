"""What is wrong with CSV is said in the words of who writes it."""

import csv

import pytest

from h123.base.files.textfile import csv_fault


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a" * 200_000, "a field is too long"),
        ('"abc', "the file ends within a quoted field"),
        ('"a"b,c', "more follows the end of a quoted field"),
        ("a\rb", "a line ends within a field that is not quoted"),
    ],
)
def test_a_fault_is_said_plainly(text: str, said: str) -> None:
    before = csv.field_size_limit(100_000)
    try:
        with pytest.raises(csv.Error) as fault:
            list(csv.reader([text], strict=True))
    finally:
        csv.field_size_limit(before)
    assert csv_fault(fault.value) == said
