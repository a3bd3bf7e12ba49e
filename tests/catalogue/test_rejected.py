"""What was tried and is not in the catalogue is read as meant, or refused with file and line."""

from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.catalogue.registry import load_rejected_subjects

GOOD = """\
[[tried]]
name = "a"
stack = "s"
what = "all"
why = "none"

[[tried]]
name = "b"
stack = "s"
what = "some"
why = "too old"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    return tmp_path / "tried.toml"


def test_in_the_files_order(file: Path) -> None:
    assert load_rejected_subjects() == []
    file.write_text(GOOD)
    assert [(entry.name, entry.why) for entry in load_rejected_subjects()] == [("a", "none"), ("b", "too old")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('why = "too old"', 'wy = "too old"', ":11: tried.1: unknown key 'wy'; did you mean why?"),
        ('what = "some"\n', "", ":7: `tried.1.what` is missing"),
        ("[[tried]]", "[[tired]]", ":1: unknown key 'tired'"),
        ('"a"', "a", ":2: Invalid value"),
    ],
)
def test_a_mistake_names_file_and_line(file: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as refused:
        load_rejected_subjects()
    assert str(file) in refused.value.message
    assert said in refused.value.message


def test_what_is_not_text(file: Path) -> None:
    file.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(UserError, match=r"tried\.toml: cannot be read: not UTF-8 text"):
        load_rejected_subjects()
