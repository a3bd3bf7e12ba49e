"""The workflow that docs/ci.md offers, and the commands of all pages: they are whole, and what they name exists."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cli.conftest import h123
from cli.test_compare import URL, own, script
from h123.base.paths import project_root
from h123.cli.app import GROUPS, app
from h123.virtual import kernel

__all__ = ["h123", "own"]  # fixtures
ROOT = project_root()
FILE = ROOT / "docs/ci/h123.yml"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^[ \t]*(?:\./|h123/)?h123 (.*)", re.M)
WITH_ARGUMENTS = re.compile(r"[\w-]+/[\w-]+@v\d+")
ESSENTIAL = {"apt", "dpkg"}
"""Packages that each Debian has."""


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    read: dict[Any, Any] = yaml.safe_load(FILE.read_text())
    # To YAML 1.1 the key `on` is true.
    return {"on" if key is True else key: value for key, value in read.items()}


def _steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    [job] = workflow["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def _run(workflow: dict[str, Any], name: str) -> str:
    [found] = [step["run"] for step in _steps(workflow) if step.get("name") == name]
    return str(found)


def _h123(text: str) -> Iterator[list[str]]:
    """Each command of h123 in a script, without its name and what a shell does with it."""
    for line in COMMAND.findall(text.replace("\\\n", " ")):
        words = shlex.split(line, comments=True)
        ends = [words.index(mark) for mark in ("||", "&&", "|", ";", ">") if mark in words]
        yield words[: min(ends, default=len(words))]


def _filled(text: str, env: dict[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda found: env.get(found[1], found[0]), text)


def _parse(words: list[str]) -> None:
    """As the command line does; nothing runs. Raises click's UsageError."""
    group = typer.main.get_command(app)
    if words[0].startswith("-"):
        return
    name, *rest = words
    command = group.get_command(None, name)  # type: ignore[attr-defined,arg-type]
    assert command, f"there is no command {name}"
    if name in GROUPS:
        inner, *rest = rest
        command = command.get_command(None, inner)  # type: ignore[attr-defined]
        assert command, f"there is no command {name} {inner}"
    command.make_context(name, rest)


def test_it_is_a_workflow(workflow: dict[str, Any]) -> None:
    assert {*workflow} == {"name", "on", "permissions", "env", "jobs"}
    [job] = workflow["jobs"].values()
    assert {*job} == {"runs-on", "container", "timeout-minutes", "defaults", "steps"}
    assert "--privileged" in job["container"]["options"]
    for step in _steps(workflow):
        assert ("run" in step) != ("uses" in step)
        assert {*step} <= {"name", "if", "run", "uses", "with"}
        assert "uses" not in step or WITH_ARGUMENTS.fullmatch(step["uses"])


def test_its_scripts_are_such(workflow: dict[str, Any]) -> None:
    scripts = [step["run"] for step in _steps(workflow) if "run" in step]
    assert len(scripts) == 5
    for text in scripts:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
        used = {*re.findall(r"\$([A-Z0-9_]+)", text)} - {"HOME", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"}
        assert used <= {*workflow["env"]}


def test_its_commands_are_h123s(workflow: dict[str, Any]) -> None:
    commands = [words for step in _steps(workflow) for words in _h123(_filled(step.get("run", ""), workflow["env"]))]
    assert [words[0] for words in commands] == ["install", "compare"]
    for words in commands:
        _parse(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_so_are_those_of_each_page(page: Path) -> None:
    for block in FENCED.findall(page.read_text("utf-8")):
        for words in _h123(block):
            _parse([word for word in words if word not in ("...", "[OPTIONS]")])


def test_what_does_not_exist_is_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        _parse(["compare", "--server", "x", "--url", "y", "--fail-when", "z"])


def test_it_installs_what_the_kernel_is_built_with(workflow: dict[str, Any]) -> None:
    packages = {package for each in kernel._NEEDS.values() for package in each.split()} - ESSENTIAL
    tools = _run(workflow, "Tools").replace("\\\n", " ")
    [installed] = re.findall(r"apt-get install .*", tools)
    assert packages <= {*installed.split()}


@pytest.mark.heavy
@pytest.mark.parametrize(("window", "status"), [("", 0), ("4", 99)])
def test_its_gate_does_what_it_says(workflow: dict[str, Any], own: Path, window: str, status: int) -> None:
    """The script itself, with two builds as they are after a checkout: the same one twice, and one whose first flight
    is smaller."""
    for build in ("base", "new"):
        (own / build).mkdir()
        for name in ("cert.pem", "key.pem"):
            (own / build / name).symlink_to(own / name)
        script(own / build, "server", "h3")
    program = own / "new/server"
    program.write_text(program.read_text().replace("--initial-window=", f"--initial-window={window}"))
    (own / "h123").symlink_to(ROOT)
    env = {
        **os.environ,
        **workflow["env"],
        "SERVER": "./server",
        "URL": URL.replace("2000", "60000"),
        "NETWORKS": "home",
        "CONDITION": "cold_latency new/base > 1.05",
    }
    (own / "gate.sh").write_text(_run(workflow, "Is it slower?"))
    # As GitHub starts it.
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "gate.sh"],
        cwd=own, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    verdict = json.loads((own / "campaign/gate.json").read_text())["verdict"]
    assert verdict == ("failed" if status else "passed")
