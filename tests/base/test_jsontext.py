"""JSON of programs: read as it is, or refused in words that are not Python's."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.files.jsontext import parse_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_what_json_can_say_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{\n "a": "\xff"}', "line 2, column 8: this is not UTF-8 text"),
        ('{\n "a": "\\ud800"}', "line 2, column 14: this is half a character"),
        ("[" * 100_000, "line 1, column 202: it is nested too deeply"),
        ("9" * 5000, "line 1, column 4302: this number has too many digits"),
        ("[1,", "line 1, column 3: it ends too early"),
        ('{"a": 1} x', "line 1, column 10: more follows its end"),
        ('{"a": NaN}', "line 1, column 7: this is not JSON"),
        ("", "line 1, column 0: it ends too early"),
    ],
)
def test_what_is_no_json_is_said_in_words(text: bytes | str, said: str) -> None:
    with pytest.raises(ValueError, match=r"line") as refused:
        parse_json(text)
    assert str(refused.value) == said
