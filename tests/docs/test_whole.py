"""What is published is whole."""

import subprocess

import pytest

from h123.base.paths import project_root

MOST_BYTES = 10_000_000
"""Of all tracked files."""
MARKS = "^(<{7}|>{7}|[|]{7})( |$)"


def test_no_file_has_the_marks_of_a_merge() -> None:
    found = _grep(MARKS)
    if found.returncode > 1:
        pytest.skip(f"not a checkout: {found.stderr}")
    assert found.stdout == ""


@pytest.mark.parametrize(
    ("mark", "found"), [("<" * 7 + " HEAD", True), (">" * 7 + " main", True), ("<" * 7 + "x", False)]
)
def test_the_marks_are_told_from_other_lines(mark: str, found: bool) -> None:
    done = subprocess.run(["grep", "-E", MARKS], input=f"text\n{mark}\n", capture_output=True, text=True)
    assert bool(done.stdout) == found


def _grep(pattern: str) -> "subprocess.CompletedProcess[str]":
    """In all text files that are kept, or are new and not ignored."""
    command = ["git", "grep", "--untracked", "-nIE", pattern]
    return subprocess.run(command, cwd=project_root(), capture_output=True, text=True)


def test_the_repository_stays_small() -> None:
    """Reports are rendered of data, and not kept."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=project_root(), capture_output=True, text=True)
    if listed.returncode:
        pytest.skip(f"not a checkout: {listed.stderr}")
    sizes = {name: (project_root() / name).lstat().st_size for name in listed.stdout.split("\0") if _is_there(name)}
    assert len(sizes) > 1000
    largest = sorted(sizes, key=lambda name: -sizes[name])[:20]
    assert sum(sizes.values()) <= MOST_BYTES, largest


def _is_there(name: str) -> bool:
    return bool(name) and (project_root() / name).is_file()
