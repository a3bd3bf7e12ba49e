"""A file that a person names: devices and pipes stay what they are, files are left alone unless they are to go."""

import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.files.durable import write_atomically
from h123.base.files.output import check_output, write_output
from h123.base.files.tree import check_tree, drop_specials
from h123.base.paths import project_root

sys.path.append(str(project_root() / "tools/torture"))  # programs, not a package

import box

Make = Callable[[Path], object]


def _socket(path: Path) -> None:
    """Its folder is named by a descriptor: a socket's path has room for 107 bytes."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


NO_FILES: dict[str, Make] = {
    "a folder": lambda path: path.mkdir(),
    "a named pipe": lambda path: os.mkfifo(path),
    "a socket": _socket,
    "a device": lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
    "a link": lambda path: path.symlink_to(path.parent / "elsewhere"),
}


def _nature(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_mode, found.st_ino


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", ["verdicts.json", "verdicts.json.tmp"])
def test_only_a_file_is_replaced(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / "elsewhere").write_text("private")
    NO_FILES[kind](tmp_path / name)
    before = _nature(tmp_path / name)
    with pytest.raises(UserError, match=kind):
        write_atomically(tmp_path / "verdicts.json", "new")
    assert _nature(tmp_path / name) == before
    assert (tmp_path / "elsewhere").read_text() == "private"


def test_another_name_of_a_file_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("private")
    os.link(tmp_path / "private", tmp_path / "verdicts.json.tmp")
    write_atomically(tmp_path / "verdicts.json", "new")
    assert (tmp_path / "private").read_text() == "private"
    assert (tmp_path / "verdicts.json").read_text() == "new"


def test_a_file_that_is_there_is_replaced_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_output(path, "one", force=False)
    with pytest.raises(UserError, match="is there already") as refused:
        write_output(path, "two", force=False)
    assert "--force" in (refused.value.remedy or "")
    assert path.read_text() == "one"
    write_output(path, "two", force=True)
    assert path.read_text() == "two"


def test_a_link_that_a_person_names_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one")
    link = tmp_path / "link"
    link.symlink_to("file")
    with pytest.raises(UserError, match="is there already"):
        check_output(link, force=False)
    write_output(link, "two", force=True)
    assert link.is_symlink()
    assert (tmp_path / "file").read_text() == "two"


@pytest.mark.parametrize(
    ("name", "said"),
    [("/", "is a folder"), (".", "is a folder"), ("loop", "a link"), ("x" * 300, "too long"), ("a\0b", "null byte")],
)
def test_what_names_no_file_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(UserError, match=said):
        check_output(Path(name), force=True)


@pytest.mark.parametrize("name", ["campaign.json", "trials/x/samples.parquet", "verdicts.json.tmp", "figures/a.svg"])
def test_a_campaigns_own_files_are_never_an_output(tmp_path: Path, name: str) -> None:
    (tmp_path / "campaign.json").write_text("{}")
    with pytest.raises(UserError, match="belongs to the campaign"):
        check_output(tmp_path / name, force=True)
    check_output(tmp_path / "export" / "samples.csv", force=True)


def test_a_pipe_that_nobody_reads_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="cannot be written"):
        write_output(tmp_path / "pipe", "text", force=True)


def test_what_is_written_to_a_pipe_arrives(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    said: list[str] = []
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout
        told = threading.Thread(target=lambda: said.append(reader.stdout.read() if reader.stdout else ""))
        told.start()
        while told.is_alive():
            try:
                write_output(tmp_path / "pipe", "text" * 100_000, force=False)
                break
            except UserError:  # it has not opened it yet
                time.sleep(0.01)
        told.join()
    assert said == ["text" * 100_000]
    assert (tmp_path / "pipe").is_fifo()


def test_a_device_stays_one() -> None:
    """In a namespace with devices of its own: were they replaced, the machine would be broken."""

    def write() -> dict[str, bool]:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev"], check=True)
        for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
            os.mknod(f"/dev/{name}", 0o20666, os.makedev(1, minor))
        said = {}
        for name in ("null", "zero", "full"):
            path = Path("/dev", name)
            try:
                write_output(path, "text", force=True)
                said[f"{name} written"] = True
            except UserError:
                said[f"{name} written"] = False
            said[name] = path.is_char_device()
        return said

    assert box.inside(write) == {
        "null written": True,
        "null": True,
        "zero written": True,
        "zero": True,
        "full written": False,
        "full": True,
    }


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("place", ["x", "a/b/x"])
def test_a_folder_of_others_has_files_and_folders_alone(tmp_path: Path, kind: str, place: str) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    check_tree(tmp_path)
    NO_FILES[kind](tmp_path / place)
    if kind == "a folder":
        check_tree(tmp_path)
        return
    with pytest.raises(UserError, match=f"{place} is {kind}"):
        check_tree(tmp_path)
    assert drop_specials(tmp_path) == [place]
    check_tree(tmp_path)


def test_sizes_are_bounded_by_kind(tmp_path: Path) -> None:
    for name in ("report.json", "journal.jsonl", "study.yaml", "samples.parquet"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 30)
        with pytest.raises(UserError, match=rf"{name} has 1\.07 GB; h123 reads files of this kind up to"):
            check_tree(tmp_path)
        (tmp_path / name).unlink()


def test_the_way_to_a_folder_may_have_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    check_tree(tmp_path / "link")
    (tmp_path / "real" / "trials").symlink_to(tmp_path)
    with pytest.raises(UserError, match="is a link to"):
        check_tree(tmp_path / "link")
