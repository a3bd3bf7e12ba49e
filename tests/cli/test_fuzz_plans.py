"""A slice of what `tools/fuzz` does with files that people write."""

import secrets
import subprocess
import sys

from cli.conftest import ROOT

READERS = ("networks", "studies", "manifests", "workloads")


def test_mutated_plans_are_taken_by_the_lab_or_refused() -> None:
    seed = str(secrets.randbelow(2**32))
    command = [sys.executable, str(ROOT / "tools/fuzz"), *READERS, "--cases", "60", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
