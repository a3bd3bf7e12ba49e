"""A slice of what `tools/fuzz` does: every reader answers or refuses in words."""

import secrets
import subprocess
import sys

import pytest

from cli.conftest import ROOT

MUTATED = (
    *("journal", "campaign", "report", "trial", "client", "seal", "samples", "parquet", "forged-verdicts"),
    *("import-oha", "import-k6"),
)
FORGED = tuple(f"forged-{name}" for name in ("campaign", "journal", "report", "trial", "samples"))
"""Every document of a campaign that was just measured, with values that it must not have."""
PLANS = ("networks", "studies", "manifests", "workloads")
"""Files that people write."""


@pytest.mark.parametrize(
    ("readers", "cases"), [(MUTATED, 25), (FORGED, 8), (PLANS, 60)], ids=["files", "forged", "plans"]
)
def test_changed_files_are_read_or_refused(readers: tuple[str, ...], cases: int) -> None:
    run_with_a_seed("fuzz", *readers, "--cases", str(cases))


def run_with_a_seed(tool: str, *arguments: str) -> None:
    """Run a tool of `tools` that tries random cases, and print the seed if it finds a fault."""
    seed = str(secrets.randbelow(2**32))
    command = [sys.executable, str(ROOT / "tools" / tool), *arguments, "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
