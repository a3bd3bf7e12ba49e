"""The grain of the code: how long a file may be, how many modules a package may have, and that no two classes share a
name."""

import ast
import subprocess
from collections import Counter
from pathlib import Path

from h123.base.paths import project_root

ROOT = project_root()
FOLDERS = ["bench", "lab", "src", "subjects", "tests", "tools"]
SUFFIXES = {".c", ".go", ".h", ".java", ".js", ".lua", ".mjs", ".py", ".rs", ".sh"}
MOST_LINES = 400
MOST_MODULES = 15


def test_no_file_is_longer_than_it_may_be() -> None:
    lengths = _lengths()
    assert {Path(name).parts[0] for name in lengths} == set(FOLDERS)
    longer = {name: lines for name, lines in lengths.items() if lines > MOST_LINES}
    assert not longer, f"at most {MOST_LINES} lines"


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
