"""No file of code is longer than can be read in one go. What is longer today is listed and may only get shorter."""

import subprocess

from h123.base.paths import project_root

ROOT = project_root()
FOLDERS = ["bench", "lab", "src", "subjects", "tests", "tools"]
SUFFIXES = {".c", ".go", ".h", ".java", ".js", ".lua", ".mjs", ".py", ".rs", ".sh"}
MOST_LINES = 400
# Change a number here only to make it smaller. Files of subjects wait for their next verification: a change of one
# makes the subject's public record untrue.
STILL_LONGER = {
    "src/h123/cli/comparing.py": 495,
    "subjects/go/peer/drive_test.go": 605,
    "subjects/load/job.c": 424,
    "subjects/load/quic.c": 475,
}


def test_no_file_is_longer_than_it_may_be() -> None:
    lengths = _lengths()
    assert len(lengths) > len(STILL_LONGER)
    longer = {
        name: lines for name, lines in lengths.items() if lines > max(MOST_LINES, STILL_LONGER.get(name, MOST_LINES))
    }
    assert not longer, f"at most {MOST_LINES} lines, or what is listed here"


def test_what_has_become_short_is_no_exception_any_more() -> None:
    lengths = _lengths()
    over = {name for name in STILL_LONGER if lengths.get(name, 0) <= MOST_LINES}
    assert not over, "take these out of the list"


def _lengths() -> dict[str, int]:
    tracked = subprocess.run(["git", "ls-files", "-z", *FOLDERS], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in tracked.decode().split("\0") if name]
    return {
        str(path.relative_to(ROOT)): path.read_bytes().count(b"\n")
        for path in paths
        if path.suffix in SUFFIXES and path.is_file()
    }
