"""A slice of what `tools/strange` tries: special files in every place, and strange texts in every name."""

import secrets
import subprocess
import sys

import pytest

from cli.conftest import ROOT


@pytest.mark.parametrize("cases", [20, pytest.param(150, marks=pytest.mark.heavy)])
def test_strange_files_and_texts_harm_nothing(cases: int) -> None:
    seed = str(secrets.randbelow(2**32))
    command = [sys.executable, str(ROOT / "tools/strange"), "--cases", str(cases), "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
