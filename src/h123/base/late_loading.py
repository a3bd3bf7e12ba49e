"""Loads the names of a package when they are first used, because no command needs all of them.

Such a package imports its public names below `if TYPE_CHECKING:`, where type checkers see them, and then calls
`load_late(__name__)`.
"""

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def load_late(package: str) -> None:
    """Make the package load its names on first use. Call this in its `__init__.py`."""
    module = sys.modules[package]
    assert module.__file__
    vars(module)["_origins"] = _origins(ast.parse(Path(module.__file__).read_text("utf-8")))
    module.__class__ = _LatePackage


def _origins(tree: ast.Module) -> dict[str, str]:
    """Return a map from each name to the module that defines it."""
    below = [statement for node in tree.body if isinstance(node, ast.If) for statement in node.body]
    imports = [statement for statement in below if isinstance(statement, ast.ImportFrom) and statement.module]
    return {each.name: str(statement.module) for statement in imports for each in statement.names}


class _LatePackage(ModuleType):
    _origins: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._origins:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        vars(self)[name] = getattr(importlib.import_module(self._origins[name]), name)
        return vars(self)[name]

    def __setattr__(self, name: str, value: object) -> None:
        # The import system assigns every loaded module to its package. If a public object has the name of its module,
        # the object takes precedence, as it would if it had been imported here.
        if not (isinstance(value, ModuleType) and name in self._origins):
            super().__setattr__(name, value)
