"""Four machines run a campaign in real time, and one has a processor share taken away: it is named, and the verdicts of
the other three stand."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from campaign.test_runner import two_levels
from h123.base.paths import project_root

pytestmark = pytest.mark.heavy

MACHINES, BLOCKS, SLOW = 4, 16, "m3"
LOADED = two_levels(BLOCKS, "lan").replace("size: 1kB, users: 1, requests: 1", "size: 1MB, users: 2, requests: 10")
PERIOD_US, SHARE = 10_000, 0.2


@contextmanager
def limited() -> Iterator[Path]:
    """The file to write a process's number to, which then has `SHARE` of a processor."""
    group = Path("/sys/fs/cgroup/cpu", f"h123-slow-{os.getpid()}")
    try:
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(SHARE * PERIOD_US)))
    except OSError:
        group = group.parents[1] / group.name
        try:
            group.mkdir()
            (group / "cpu.max").write_text(f"{int(SHARE * PERIOD_US)} {PERIOD_US}")
        except OSError as error:
            pytest.skip(f"no processor share can be taken away here: {error}")
    yield group / "cgroup.procs"
    group.rmdir()


def h123(folder: Path, machine: str, *arguments: str, procs: Path | None = None, status: int = 0) -> None:
    environment = {**os.environ, "PYTHONPATH": str(project_root() / "src"), "H123_MACHINE": machine}
    joins = f"echo $$ > {procs}; " if procs else ""
    command = ["sh", "-ec", f'{joins}exec "$@"', "sh", sys.executable, "-m", "h123", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == status, done.stdout + done.stderr


def verdicts(folder: Path) -> Any:
    return json.loads((folder / "verdicts.json").read_text())


def test_a_machine_with_less_processor_is_named_and_the_other_three_decide(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(LOADED)
    names = [f"m{number}" for number in range(1, MACHINES + 1)]
    with limited() as procs:
        for number, name in enumerate(names, start=1):
            shard = ["run", "study.yaml", "--shard", f"{number}/{MACHINES}", "--out", name]
            h123(tmp_path, name, *shard, procs=procs if name == SLOW else None)
    for out, parts in (("four", names), ("three", [name for name in names if name != SLOW])):
        h123(tmp_path, "m1", "join", *parts, "--out", out, status=int(len(parts) < MACHINES))
        h123(tmp_path, "m1", "analyse", out)
    four, three = verdicts(tmp_path / "four"), verdicts(tmp_path / "three")
    named = four["machines"]["differences"]
    furthest = max(named, key=lambda row: abs(math.log(row["ratio"])))
    # Where this machine is busy with other things, the others differ too, but never by as much.
    assert (named[0]["machine"], furthest["machine"]) == (SLOW, SLOW), four["machines"]
    assert furthest["ratio"] > 1.5
    whole, part = (next(row for row in found["comparisons"] if not row["twin"]) for found in (four, three))
    print(four["machines"], [(row["ratio"], row["low"], row["high"], row["verdict"]) for row in (whole, part)])
    if four["machines"]["left_out"]:
        assert [row["ratio"] for row in whole["pairs"]] == [row["ratio"] for row in part["pairs"]]
    assert whole["low"] <= part["ratio"] <= whole["high"]
