"""Reads mutated files until one causes anything but an answer or a clear refusal.

    PYTHONPATH=src .venv/bin/python tools/fuzz READER...|all [--cases 100000] [--seed S]

100 000 cases take minutes. Prints the seed, the cases per second, and each failure with the file of a small case that
shows it. The exit status is 1 if there was a failure. A reader is a `Reader` in a module of this folder; `readers.py`
names them all.
"""

import argparse
import secrets
import sys

from reader import ROOT

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from readers import READERS  # noqa: E402
from runner import Course, run  # noqa: E402

FAILURES = ROOT / ".cache/fuzz"


def main() -> int:
    """Run the requested readers, one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "readers", nargs="+", choices=[*READERS, "forged", "all"], metavar="READER", help=", ".join(READERS)
    )
    parser.add_argument("--cases", type=int, default=100_000, help="of each reader")
    parser.add_argument("--failures", type=int, default=10, help="of a reader, after which it ends")
    parser.add_argument("--seed", type=int, default=None, help="[default: another each time]")
    arguments = parser.parse_args()
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    failed = 0
    for name in READERS if "all" in arguments.readers else _chosen(arguments.readers):
        course = run(READERS[name], arguments.cases, seed, arguments.failures)
        failed += len(course.failures)
        _tell(name, seed, course)
    return 1 if failed else 0


def _chosen(names: list[str]) -> list[str]:
    """Return the names of readers, with `forged` replaced by all readers of forged documents."""
    forged = [name for name in READERS if name.startswith("forged-")]
    return [one for name in names for one in (forged if name == "forged" else [name])]


def _tell(name: str, seed: int, course: Course) -> None:
    speed = course.done / course.seconds
    said = f"{course.done} cases, {course.refused} refused, {len(course.failures)} failed, {speed:.0f} a second"
    print(f"{name}: {said} (seed {seed})", flush=True)
    for failure in course.failures:
        FAILURES.mkdir(parents=True, exist_ok=True)
        file = FAILURES / f"{name}-{seed}-{failure.number}"
        file.write_bytes(failure.case)
        print(f"  case {failure.number}: {failure.what}\n    {file}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
