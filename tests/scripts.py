"""Scripts of the project that belong to no package."""

import importlib.util
from types import ModuleType

from h123.base.paths import project_root


def script(name: str, folder: str = "tools") -> ModuleType:
    """Import a script of the folder."""
    spec = importlib.util.spec_from_file_location(name, project_root() / folder / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
