"""The rooms of src/h123: what they import flows one way, and they are entered by what they offer alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from h123.base.paths import project_root
from scripts import script

ROOT = project_root()


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("h123", cache_dir=None)


def test_what_rooms_import_is_as_declared(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_a_room_is_entered_by_what_it_offers(graph: grimp.ImportGraph) -> None:
    inside = [
        f"{importer} imports {imported}"
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if _room(importer) != _room(imported) and not _offered(imported)
    ]
    assert not inside, "not in the __all__ of its room"


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _offered(module: str) -> bool:
    """Each name after the room's is in the `__all__` of the package before it."""
    names = module.split(".")
    return all(name in _offers(names[:at]) for at, name in enumerate(names) if at >= 2)


def _offers(package: list[str]) -> list[str]:
    tree = ast.parse(Path(ROOT, "src", *package, "__init__.py").read_text("utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return [
        name for node in assigned if ast.unparse(node.targets[0]) == "__all__" for name in ast.literal_eval(node.value)
    ]


def test_the_picture_shows_the_declared_flow() -> None:
    picture = script("rooms")
    page = picture.PAGE.read_text("utf-8")
    assert all(room in page for layer in picture.layers() for room in layer)
    assert page == picture.drawn(page), "tools/rooms.py draws it again"


def test_only_execution_looks_at_the_machine_and_constructs_what_runs_trials() -> None:
    """Processors, memory and /proc: what a trial runs on is one choice in one place. /proc/self is a process's own."""
    inside = ("h123.execution", "h123.base")
    found = {
        f"{module}: {word}" for module, tree in _modules() if not module.startswith(inside) for word in _looks(tree)
    }
    assert found == set(_BUILDS)


_MACHINE = {
    "sched_getaffinity",
    "sched_setaffinity",
    "cpu_count",
    "process_cpu_count",
    "sysconf",
    "virtual_memory",
    "psutil",
    "getloadavg",
}
"""What asks for processors or memory."""
_ENGINES = {"LocalEngine", "usable_processors"}
"""What runs trials, and what tells how many may run at once."""
_BUILDS = ("h123.virtual.kernel: usable_processors",)
"""A compiler may have all processors; no trial runs meanwhile."""


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(Path(ROOT, "src/h123").rglob("*.py")):
        yield ".".join(file.relative_to(ROOT / "src").with_suffix("").parts), ast.parse(file.read_text("utf-8"))


def _looks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                if names := {*name.split(".")} & (_MACHINE | _ENGINES):
                    yield names.pop()
            case ast.Constant(value=value) if _names_the_machine(value):
                yield str(value)


def _names_the_machine(value: object) -> bool:
    """A file of the kernel's, in whole or to be put together; or a name for `getattr`."""
    if not isinstance(value, str) or value.startswith("/proc/self/"):
        return False
    return value.startswith(("/proc", "/sys/devices")) or value in {"proc", *_MACHINE, *_ENGINES}


@pytest.mark.parametrize(
    "code",
    [
        "import os as o\no.cpu_count()",
        "from os import sched_getaffinity as mine",
        "import psutil.cpu as x",
        "getattr(os, 'sysconf')('SC_AVPHYS_PAGES')",
        "Path('/proc') / 'meminfo'",
        "Path('/', 'proc', 'stat')",
        "f'/proc/{pid}/stat'",
        "from h123.execution.engine import LocalEngine as _E",
        "pool._engine = made.LocalEngine()",
    ],
)
def test_other_ways_to_ask_the_machine_would_be_found(code: str) -> None:
    assert [*_looks(ast.parse(code))]
