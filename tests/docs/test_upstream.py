"""The fault reports to other projects: their commands are run as printed, and show what the pages quote."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from h123.base.paths import project_root

ROOT = project_root()
REPORTS = sorted(path for path in (ROOT / "docs/upstream").glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.M | re.S)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
VARYING = ("curl", "envoy", "quic-go")
"""Reports whose figures differ from run to run, by less than half."""
NEEDS = {"curl": ["strace"], "jetty": ["java"], "quic-go": ["go"], "quinn": ["cargo"]}


def _shows(line: str, output: list[str], varying: bool) -> bool:
    if not varying:
        return line in output
    alike = [other for other in output if NUMBER.sub("N", other).split() == NUMBER.sub("N", line).split()]
    return any(_close(line, other) for other in alike)


def _close(line: str, other: str) -> bool:
    pairs = zip(map(float, NUMBER.findall(line)), map(float, NUMBER.findall(other)), strict=True)
    return all(one / 2 <= two <= one * 2 for one, two in pairs)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
@pytest.mark.heavy
def test_the_commands_show_the_fault(report: Path, tmp_path: Path) -> None:
    lacking = [name for name in ["openssl", *NEEDS.get(report.stem, [])] if shutil.which(name) is None]
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}")
    blocks = BLOCK.findall(report.read_text("utf-8"))
    script = "".join(text for kind, text in blocks if kind == "sh").replace("/tmp/", f"{tmp_path}/")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["sh", "-c", script], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    output = done.stdout.splitlines()
    expected = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    assert expected
    missing = [line for line in expected if not _shows(line, output, report.stem in VARYING)]
    assert missing == [], done.stdout[-4000:]
