"""Drops the hashes of wheels that h123 cannot use from requirements/*.txt and subjects/*/requirements.txt.

Run it after uv has locked versions.

uv lists the hashes of all of a release's wheels. Most of them are for systems, processors and Pythons that h123 does
not run on (docs/install.md). The hash of the source archive stays, so pip can still build what has no wheel.

The names of files come from the package index in the environment variable PIP_INDEX_URL, which pip reads too.
"""

import json
import os
import re
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([\w.-]+)==")
_HASH = re.compile(r"^ +--hash=sha256:(\w+)")
_USABLE = re.compile(
    r"[.](tar[.]\w+|zip)$"  # the source
    r"|-((py2[.])?py3\d*|cp3\d+(?=-abi3)|cp31[1-9])-(none|abi3|cp3\d+)"  # not PyPy, nor older or free-threaded Pythons
    r"-(any|manylinux[\w.]*_(x86_64|aarch64))[.]whl$"
)
_FEW = 6
"""A release with no more files than this stays as it is."""


def main() -> None:
    for lock in [*sorted(ROOT.glob("requirements/*.txt")), *sorted(ROOT.glob("subjects/*/requirements.txt"))]:
        lock.write_text("".join(map(_pruned, re.split(r"(?m)^(?=\S)", lock.read_text()))))


def _pruned(entry: str) -> str:
    pin, lines = _PIN.match(entry), entry.replace(" \\\n", "\n").splitlines()
    if not pin or len(lines) <= 1 + _FEW:
        return entry
    unusable = _unusable(pin[1])
    kept = [line for line in lines if not ((found := _HASH.match(line)) and found[1] in unusable)]
    return " \\\n".join(kept) + "\n"


def _unusable(name: str) -> set[str]:
    """Return the hashes of a project's files that h123 cannot use, from the index's JSON (PEP 691)."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(f"{_index()}/{name}/", headers=accept)) as answer:
        files = json.load(answer)["files"]
    return {file["hashes"].get("sha256", "") for file in files if not _USABLE.search(file["filename"])}


def _index() -> str:
    if address := os.environ.get("PIP_INDEX_URL"):
        return address.rstrip("/")
    raise SystemExit("set PIP_INDEX_URL to the address of a package index: its file names say what to drop")


if __name__ == "__main__":
    main()
