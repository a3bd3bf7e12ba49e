"""What a command does not need is not loaded: it would take longer than most commands do."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import ROOT
from synthetic import Scenario, make_campaign

LOADED = """
import contextlib, io, sys
from h123.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(*sys.modules)
"""


def loaded(*arguments: str, folder: Path) -> set[str]:
    """The modules that a command has loaded by its end."""
    command = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


HEAVY = {"numpy", "pyarrow", "duckdb", "scipy", "altair", "pandas"}


@pytest.mark.parametrize("arguments", [["run", "--help"], ["compare", "--help"], ["list", "studies"], ["claims"]])
def test_help_and_lists_need_no_library_of_data(tmp_path: Path, arguments: list[str]) -> None:
    assert not loaded(*arguments, folder=tmp_path) & HEAVY


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_words_about_commands_need_no_models_of_files(tmp_path: Path, arguments: list[str]) -> None:
    there = loaded(*arguments, folder=tmp_path)
    assert not there & {*HEAVY, "pydantic", "yaml"}
    assert not [name for name in there if name.startswith(("h123.study.", "h123.catalogue.", "h123.analysis."))]


def test_a_package_that_loads_late_offers_objects_before_modules_of_their_name(tmp_path: Path) -> None:
    code = """
import h123.analysis.analyse
from h123.analysis import analyse, sections
assert callable(analyse), analyse
assert sections.__name__ == "h123.analysis.sections"
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "src")}, check=True)


def test_plans_and_analyses_need_no_library_of_tests(tmp_path: Path) -> None:
    make_campaign(tmp_path / "c", Scenario(blocks=3))
    for arguments in (["plan", "quick"], ["analyse", "c"]):
        there = loaded(*arguments, folder=tmp_path)
        assert "h123.analysis.statistics.families" in there
        assert not there & {"scipy.stats", "statsmodels"}


def test_the_list_of_subjects_needs_none_that_makes_certificates(tmp_path: Path) -> None:
    assert "cryptography" not in loaded("list", "subjects", folder=tmp_path)
