"""A slice of what `tools/fuzz` does: every reader answers or refuses in words."""

import secrets
import subprocess
import sys

from cli.conftest import ROOT

READERS = (
    *("journal", "campaign", "report", "trial", "client", "seal", "samples", "parquet", "forged-verdicts"),
    *("import-oha", "import-k6"),
)


def test_mutated_files_are_read_or_refused() -> None:
    seed = str(secrets.randbelow(2**32))
    command = [sys.executable, str(ROOT / "tools/fuzz"), *READERS, "--cases", "25", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"


def test_forged_campaigns_are_refused_in_words() -> None:
    """Every document of a campaign that was just measured, with values that it must not have."""
    seed = str(secrets.randbelow(2**32))
    readers = [f"forged-{name}" for name in ("campaign", "journal", "report", "trial", "samples")]
    command = [sys.executable, str(ROOT / "tools/fuzz"), *readers, "--cases", "8", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
