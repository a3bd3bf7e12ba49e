"""A file is replaced as a whole, whoever else replaces it, and whatever a crash has left beside it."""

import threading
from pathlib import Path

import pytest

from h123.base.files import durable
from h123.base.files.durable import write_atomically


def test_two_that_write_one_file_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sync = tmp_path / "verdicts.json", durable.sync
    other = threading.Thread(target=write_atomically, args=(path, "the other's"))

    def meet(there: Path) -> None:
        if other.ident is None:  # the first of the two is about to give its file the name
            other.start()
            other.join(timeout=0.5)  # before they took turns, this was enough for the other to come between
        sync(there)

    monkeypatch.setattr(durable, "sync", meet)
    write_atomically(path, "the one's" * 10_000)
    other.join()
    assert path.read_text() == "the other's"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_crash_left_is_used_up(tmp_path: Path) -> None:
    (tmp_path / "verdicts.json.tmp").write_text("half of something long")
    write_atomically(tmp_path / "verdicts.json", "all")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("verdicts.json", "all")]


def test_after_a_failure_the_old_file_stands(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "a", "\ud800")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]
