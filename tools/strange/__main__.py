"""Gives strange files and texts to every command that reads or writes files. No command may hang, show a traceback,
print control characters, write outside its folder, or replace a device or other special file.

    PYTHONPATH=src .venv/bin/python tools/strange [--cases N] [--seed S] [--only WORDS]

All cases take minutes. With --cases, the seed selects N of each kind. It needs root, because the cases run in separate
namespaces with separate devices. The exit status is 1 if any case went wrong.
"""

import argparse
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tools/torture")]

import box  # noqa: E402
import injection  # noqa: E402
import special  # noqa: E402
from case import Case  # noqa: E402
from stage import Stage  # noqa: E402

import h123.analysis.analyse  # noqa: E402
import h123.cli.campaigns.run  # noqa: E402
import h123.cli.comparisons.comparison  # noqa: E402
import h123.report.page.campaign  # noqa: E402
import h123.report.trial_view  # noqa: E402
from h123.store import CampaignFolder  # noqa: E402
from synthetic import Scenario, make_campaign  # noqa: E402

_TOLD_EVERY = 50
"""The number of cases between reports, so that an interrupted run knows how far it came."""
_DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=None, help="so many of each kind, drawn. [default: all]")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="cases whose names have these words")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("tools/strange needs root, for namespaces and devices of its own", file=sys.stderr)
        return 3
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    drawn, began = random.Random(seed), time.monotonic()
    chosen = list[Case]()
    for kind in (special, injection):
        every = [one for one in kind.cases() if asked.only in one.name]
        chosen += every if asked.cases is None else drawn.sample(every, min(asked.cases, len(every)))
    print(f"seed {seed}, {len(chosen)} cases", flush=True)
    wrong = box.inside(lambda: _play(chosen))
    print(f"{len(chosen)} cases in {time.monotonic() - began:.0f} s, {wrong} went wrong")
    return 1 if wrong else 0


def _play(chosen: Sequence[Case]) -> int:
    """Play the cases inside the box, and return how many went wrong."""
    _own_devices()
    os.environ.update(H123_CACHE=str(box.PLACE / "cache"), COLUMNS="200", TMPDIR="/tmp")
    campaign = box.PLACE / "campaign"
    made = make_campaign(campaign, Scenario(blocks=1, networks={"lan": Scenario().networks["lan"]}))
    h123.analysis.analyse(CampaignFolder.open(made.path))
    wrong = 0
    for number, case in enumerate(chosen):
        if number and number % _TOLD_EVERY == 0:
            print(f"{number} of {len(chosen)} cases, {wrong} went wrong", flush=True)
        stage = Stage(box.PLACE / "stage", campaign)
        faults = [*case.play(stage), *stage.faults(), *_devices_replaced()]
        if faults:
            wrong += 1
            print("\n  ".join([f"WRONG: {case.name}", *faults[:5]]), flush=True)
    return wrong


def _own_devices() -> None:
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev"], check=True)
    for name, (major, minor) in _DEVICES.items():
        os.mknod(f"/dev/{name}", 0o20666, os.makedev(major, minor))
    Path("/dev/shm").mkdir()
    Path("/dev/net").mkdir()
    os.mknod("/dev/net/tun", 0o20666, os.makedev(10, 200))
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        Path("/dev", name).symlink_to(f"/proc/self/fd/{number}")


def _devices_replaced() -> list[str]:
    return [f"/dev/{name} is no device any more" for name in _DEVICES if not Path("/dev", name).is_char_device()]


if __name__ == "__main__":
    sys.exit(main())
