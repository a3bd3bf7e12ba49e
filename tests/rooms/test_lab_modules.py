"""The modules of lab/src: folders import downwards alone, no modules import in a circle, and none is too large."""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from h123.base.paths import project_root

SOURCE = project_root() / "lab/src"
# Lowest first. `fuzz` is for tests only.
FOLDERS = ["files", "host", "link", "check", "roles", "clock", "commands"]
MOST_MODULES = 15
# Names by which code reaches a module: `use crate::link::{nat, tun::Tun};` has two of them.
_USE = re.compile(r"^(?:pub )?use crate::([^;]+);", re.MULTILINE)
_TYPE = re.compile(r"^ *(?:pub(?:\(\w+\))? )?(?:struct|enum|trait|type) ([A-Z]\w*)", re.MULTILINE)
_INLINE = re.compile(r"(?<!use )\bcrate::(\w+)::(\w+)")


def test_every_module_of_the_lab_stands_in_a_folder() -> None:
    roots = {path.stem for path in SOURCE.glob("*.rs")}
    assert roots == {*FOLDERS, "main", "fuzz"}


def test_folders_of_the_lab_import_downwards_alone() -> None:
    upwards = [
        f"{importer} imports {imported}"
        for importer, names in _imports().items()
        for imported in names
        if FOLDERS.index(imported[0]) > FOLDERS.index(importer[0])
    ]
    assert not upwards


def test_no_modules_of_the_lab_import_in_a_circle() -> None:
    # Raises CycleError, which names them.
    assert list(TopologicalSorter(_imports()).static_order())


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_of_the_lab_name_each_other_in_full(folder: str) -> None:
    relative = [path.name for path in (SOURCE / folder).glob("*.rs") if "\nuse super::" in _product_code(path)]
    assert not relative, "say crate:: instead of super::"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_of_the_lab_has_few_modules(folder: str) -> None:
    assert len(list((SOURCE / folder).glob("*.rs"))) <= MOST_MODULES


def test_no_type_of_the_lab_is_named_twice() -> None:
    sources = [*SOURCE.rglob("*.rs"), *SOURCE.parent.glob("core/src/*.rs")]
    names = Counter(name for path in sources for name in _TYPE.findall(_product_code(path)))
    assert names
    assert not [name for name, times in names.items() if times > 1]


def test_the_circle_of_old_would_be_found() -> None:
    circle = {("link", "cross_traffic"): {("host", "namespace")}, ("host", "namespace"): {("link", "cross_traffic")}}
    with pytest.raises(ValueError, match="cycle"):
        list(TopologicalSorter(circle).static_order())


def test_names_in_braces_are_read() -> None:
    code = "use crate::link::{\n    nat::{Nat, Move},\n    tun,\n};\nlet x = crate::host::account::cpus();\n"
    assert set(_names(code)) == {("link", "nat"), ("link", "tun"), ("host", "account")}


def _imports() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Of each module the others that it imports. What a module has below it counts as its own."""
    imports: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path in SOURCE.rglob("*.rs"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if len(parts) > 1 and parts[0] in FOLDERS:
            module = (parts[0], parts[1])
            imports.setdefault(module, set()).update(set(_names(_product_code(path))) - {module})
    return imports


def _product_code(path: Path) -> str:
    """Without its tests, which may use what they like."""
    return re.split(r"^#\[cfg\(test\)\]\n(?:pub )?mod \w+ \{", path.read_text("utf-8"), flags=re.MULTILINE)[0]


def _names(code: str) -> Iterator[tuple[str, str]]:
    for clause in _USE.findall(code):
        folder, _, rest = clause.partition("::")
        for name in _first_names(rest):
            yield folder, name
    yield from _INLINE.findall(code)


def _first_names(rest: str) -> Iterator[str]:
    rest = rest.strip()
    if not rest.startswith("{"):
        yield re.split(r"\W", rest, maxsplit=1)[0]
        return
    depth, start = 0, 1
    for at, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if (character == "," and depth == 1) or depth == 0:
            if item := rest[start:at].strip():
                yield re.split(r"\W", item, maxsplit=1)[0]
            start = at + 1
