"""Bodies as files: by the contract's formula, made once, each whole or not at all."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.catalogue import block_file, files_folder, make_bodies, make_documents


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path))


def test_the_block_is_the_contracts() -> None:
    make_bodies([])
    digest = hashlib.sha256(block_file().read_bytes()).hexdigest()
    assert digest == "51701f62987c025c65dffc5728b4a3d1d10d50e6e1251608096c3454c21aa5a1"
    assert block_file().stat().st_size == 65_536


@pytest.mark.parametrize("size", [0, 1, 65_536, 200_001])
def test_a_body_is_the_block_repeated_and_cut(size: int) -> None:
    make_bodies([size])
    block = block_file().read_bytes()
    assert (files_folder() / f"bytes/{size}").read_bytes() == (block * 4)[:size]


def test_what_is_whole_is_left_alone_and_what_is_not_is_made_again() -> None:
    make_bodies([10, 20])
    whole, half = (files_folder() / f"bytes/{size}" for size in (10, 20))
    there = whole.stat().st_ino
    half.write_bytes(b"half")
    make_bodies([10, 20])
    assert whole.stat().st_ino == there
    assert half.stat().st_size == 20
    assert sorted(path.name for path in whole.parent.iterdir()) == ["10", "20"]


def test_a_size_beyond_the_disk_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(UserError, match="bodies that servers serve as files would take 1000 TB") as said:
        make_bodies([10, 10**15])
    assert "smaller `size`" in (said.value.remedy or "")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_documents_are_there_whole_or_not_at_all() -> None:
    def cut_off() -> Iterator[tuple[str, bytes]]:
        yield "0.html", b"<!doctype html>"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_documents("site/one", cut_off)
    assert not (files_folder() / "site/one").exists()
    make_documents("site/one", lambda: [("1.css", b"/* */")])
    make_documents("site/one", cut_off)  # it is there: nobody is asked
    assert {path.name: path.read_bytes() for path in (files_folder() / "site/one").iterdir()} == {"1.css": b"/* */"}
