"""Every command's help begins with what it does, and ends with two examples that the command line takes."""

import shlex
from typing import Any

import pytest
import typer

from h123.cli.app import app

GROUP: Any = typer.main.get_command(app)


def commands(group: Any = GROUP, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found = []
    for name, command in group.commands.items():
        here = (*path, name)
        found += commands(command, here) if hasattr(command, "commands") else [(here, command)]
    return found


VERBS = {
    *("Run", "Rerun", "Show", "Reanalyse", "Write", "Export", "Import", "Compare", "Check", "Measure", "List"),
    *("Install", "Remove", "Try", "Publish", "Make", "Join", "Send", "Explain", "Print", "Merge"),
}


@pytest.mark.parametrize(("path", "command"), [pytest.param(*each, id=" ".join(each[0])) for each in commands()])
def test_the_help_of_a_command(path: tuple[str, ...], command: Any) -> None:
    text = command.help.strip()
    assert text.split()[0] in VERBS
    *_, heading, first, second = text.split("\n\n")
    assert heading == "Examples:"
    for example in (first, second):
        line = " ".join(example.strip("`").split())
        assert example.startswith(f"`h123 {' '.join(path)}")
        words = shlex.split(line)[1 + len(path) :]
        if "--help" not in words:
            command.make_context(" ".join(path), words, resilient_parsing=True)
            named = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert named <= {option for parameter in command.params for option in parameter.opts}


def test_seldom_needed_options_are_apart() -> None:
    for name in ("run", "compare"):
        panels = {
            parameter.name: getattr(parameter, "rich_help_panel", None) for parameter in GROUP.commands[name].params
        }
        assert panels["seed"] == panels["transport"] == "Advanced"
        assert panels["out"] is None
