"""A server that stops answering costs `h123 compare` half a minute a trial."""

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Tool
from cli.own_programs import FILES

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.usefixtures("leaves_nothing_behind"),
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js"),
]


@pytest.mark.parametrize(("silent", "how"), [("h2", "never"), ("h2", "midway"), ("h1", "never"), ("h1", "midway")])
def test_half_a_minute_a_trial(h123: Tool, own: Path, silent: str, how: str) -> None:
    """Under the virtual clock, where waiting costs the test nothing."""
    shutil.copy(FILES / "falls-silent.mjs", own)
    command = f"node falls-silent.mjs {silent} {how}"
    builds = ["--server", f"base={command}", "--server", f"new={command}", "--url", "https://localhost:8443/x"]
    asked = ["--networks", "us-us", "--load", "4x5", "--clock", "virtual", "--max-blocks", "8", "--out", "c"]
    done = h123("compare", *builds, "--protocols", silent, *asked)
    assert done.returncode == 1, done.stdout
    assert "failed all their attempts, so the campaign stops" in " ".join(done.stderr.split())
    reports = [json.loads(path.read_text()) for path in (own / "c/trials").glob("*/report.json")]
    stuck = [one["phases_ns"]["main"] for one in reports if not one["valid"]]
    assert len(stuck) >= 3
    assert all(29e9 < took < 31e9 for took in stuck), stuck
