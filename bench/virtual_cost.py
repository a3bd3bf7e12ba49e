"""Measures what a trial costs under the virtual clock: processor time and context switches per packet of its link.

    PYTHONPATH=src .venv/bin/python bench/virtual_cost.py [--beside LAB] [--beside-kernel KERNEL]

Each trial (1 MB three times, on `medium`, `home` and `satellite`) is executed alone. With `--beside`, an h123-lab of a
different version executes it next, so that the ratio comes from one run on one machine. `--beside-kernel` does the same
for virtual kernels. Other load on the machine increases the processor time, but has little effect on the switches.
Takes about 2 minutes, and 3 more with an earlier lab.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from h123.base.paths import lab_binary
from h123.execution.engine import LocalEngine
from h123.store import CampaignFolder
from h123.virtual import virtual_kernel

STUDY = """\
h123: study/1
name: cost
question: What does a trial cost under the virtual clock?
factors: {network: [medium, home, satellite], protocol: [h2, h3]}
settings: {server: go, client: go, congestion: cubic, size: 1MB, users: 2, requests: 1, cold: true, clock: virtual,
  timeout: 1h, trial_timeout: 1h}
compare: {factor: protocol, pairs: [h3/h2], twin: h2}
blocks: 1
"""


@dataclass(frozen=True)
class Cost:
    """The cost of one execution."""

    packets: int
    virtual_s: float
    cpu_s: float
    switches: int

    def __str__(self) -> str:
        each_ms, each = 1e3 * self.cpu_s / self.packets, self.switches / self.packets
        link = f"{self.packets:6} packets in {self.virtual_s:5.1f} virtual s"
        return f"{link}: {self.cpu_s:5.2f} s; a packet {each_ms:5.2f} ms, {each:4.0f} switches"

    def of(self, other: "Cost") -> str:
        """Format the cost as a multiple of the other cost."""
        return f"{self.cpu_s / other.cpu_s:.1f} of the time, {self.switches / other.switches:.1f} of the switches"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--beside", type=Path, metavar="LAB", help="an h123-lab of another version")
    options.add_argument("--beside-kernel", type=Path, metavar="KERNEL", help="another virtual kernel")
    given = options.parse_args()
    ours = {"H123_LAB": str(lab_binary()), "H123_KERNEL": str(virtual_kernel())}
    other = {
        "H123_LAB": str(given.beside or ours["H123_LAB"]),
        "H123_KERNEL": str(given.beside_kernel or ours["H123_KERNEL"]),
    }
    with tempfile.TemporaryDirectory() as place:
        campaign = _trials(Path(place))
        for trial in sorted(campaign.trials.iterdir()):
            if trial.name.endswith("-twin~1"):
                continue
            cost = _execute(trial, campaign, ours)
            print(f"{trial.name.partition('~')[0][8:]:14} {cost}", flush=True)
            if other != ours:
                beside = _execute(trial, campaign, other)
                print(f"{'  beside':14} {beside}\n{'  to ours':14} {beside.of(cost)}", flush=True)


def _trials(place: Path) -> CampaignFolder:
    (place / "cost.yaml").write_text(STUDY)
    command = [sys.executable, "-m", "h123", "run", str(place / "cost.yaml"), "--out", str(place / "out")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return CampaignFolder.open(place / "out")


def _execute(trial: Path, campaign: CampaignFolder, which: Mapping[str, str]) -> Cost:
    os.environ.update(which)
    engine = LocalEngine()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copy(trial / "workload.json", folder)
        # The link's check is no part of what a trial costs: only one in a block has it.
        content = json.loads((trial / "trial.json").read_text()) | {"check": False}
        (folder / "trial.json").write_text(json.dumps(content))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        engine.start(folder, campaign.roots)
        engine.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads((folder / "report.json").read_text())
    assert report["valid"], report["reasons"]
    ways = report["links"][0]["directions"].values()
    return Cost(
        packets=sum(way["packets_in"] for way in ways),
        virtual_s=sum(report["phases_ns"].values()) / 1e9,
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        switches=after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw,
    )


if __name__ == "__main__":
    main()
