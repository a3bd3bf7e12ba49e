"""The reference that follows from the code is complete, and the pages that are kept are current."""

import importlib.util
from types import ModuleType
from typing import Any

import pytest
import typer

from h123.base.paths import project_root
from h123.cli.app import app
from h123.study.parameters import PARAMETER_NAMES


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", project_root() / "tools/reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.mark.parametrize("name", TOOL.kept_pages())
def test_a_kept_page_is_what_the_code_gives(name: str) -> None:
    page = (project_root() / "docs" / name).read_text("utf-8")
    assert page == TOOL.kept_pages()[name], "PYTHONPATH=src .venv/bin/python tools/reference.py --save"


def test_each_option_of_each_command_is_there() -> None:
    text = "\n".join(TOOL.command_line())
    commands = list(_commands(typer.main.get_command(app), "h123"))
    assert len(commands) > 20
    every = set[str]()
    for name, command in commands:
        assert f"\n## {name}\n" in f"\n{text}"
        section = f"\n{text}".partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        options = {option for each in command.params if each.param_type_name == "option" for option in each.opts}
        every |= options
        assert [option for option in options - {"--help", "-h"} if f"`{option}" not in section] == []
    assert {"--blocks", "--json", "--shard"} <= every


def _commands(group: Any, path: str) -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    for name, command in getattr(group, "commands", {}).items():
        inner = _commands(command, f"{path} {name}")
        found += inner or [(f"{path} {name}", command)]
    return found


def test_each_parameter_of_a_study_is_there() -> None:
    text = "\n".join(TOOL.study_keys())
    assert [name for name in PARAMETER_NAMES if f"| `{name}` |" not in text] == []
