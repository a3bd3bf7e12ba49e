"""The grain of the code: how long a file may be, how many modules a package may have, how many classes share a name.

What is beyond that today is listed, and the lists may only shrink.
"""

import ast
import subprocess
from collections import Counter

from h123.base.paths import project_root

ROOT = project_root()
FOLDERS = ["bench", "lab", "src", "subjects", "tests", "tools"]
SUFFIXES = {".c", ".go", ".h", ".java", ".js", ".lua", ".mjs", ".py", ".rs", ".sh"}
MOST_LINES = 400
MOST_MODULES = 15
# Change a number here only to make it smaller. Files of subjects wait for their next verification: a change of one
# makes the subject's public record untrue.
STILL_LONGER = {
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


def test_no_package_has_more_modules_than_it_may_have() -> None:
    modules = Counter(path.parent for path in (ROOT / "src").rglob("*.py") if path.name != "__init__.py")
    sizes = {str(package.relative_to(ROOT)): count for package, count in modules.items()}
    assert not {name: count for name, count in sizes.items() if count > MOST_MODULES}


def test_no_two_classes_have_one_name() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    shared = sorted(name for name, times in names.items() if times > 1)
    assert not shared
