"""What `make wheel` builds, and commands that must succeed."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def run(command: Sequence[str | Path], **options: object) -> str:
    """Standard output; fails with both outputs."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return str(done.stdout)


def build(checkout: Path, out: Path) -> list[Path]:
    """The wheels of a checkout: h123 and the kernel."""
    run(["make", ".cache/packaging/stamp"], cwd=checkout)
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "H123_ROOT": str(checkout)}
    command = [sys.executable, checkout / "packaging/build.py", "--kernel", "--out", out]
    return [Path(line) for line in run(command, env=environment).splitlines()]
