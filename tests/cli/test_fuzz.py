"""A slice of what `bench/fuzz` does: every reader answers or refuses in words."""

import secrets
import subprocess
import sys

from cli.conftest import ROOT

READERS = ("journal", "campaign", "report", "trial", "client", "seal", "samples", "import-oha", "import-k6")


def test_mutated_files_are_read_or_refused() -> None:
    seed = str(secrets.randbelow(2**32))
    command = [sys.executable, str(ROOT / "bench/fuzz"), *READERS, "--cases", "25", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
