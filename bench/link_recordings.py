"""Imports public recordings of links, and checks that each makes a network or is refused as link_recordings.txt says.

    PYTHONPATH=src .venv/bin/python bench/link_recordings.py CLONES

CLONES has a clone of each repository: CLONES/OWNER/NAME. After each line with a folder at a commit, the table lists its
files, what h123 must say about them, and the columns of times and rates. Rates in the table were computed without h123.
`h123 lab exec` loads each network.
"""

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory


def main(clones: Path) -> int:
    where, wrong = "", 0
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines():
        if not line.startswith(" "):
            where = line
            continue
        path, right, columns = (*line.strip().split(" | "), "")[:3]
        said = _tried(_file(clones, where + path), Path(path).name, columns.split(",") if columns else [])
        wrong += right not in said
        print(f"{'right' if right in said else 'WRONG'} {where.partition('@')[0]} {path[-60:]}: {said[:160]}")
    return 1 if wrong else 0


def _file(clones: Path, place: str) -> bytes:
    """Return a file's bytes. What follows an exclamation mark is a path in a ZIP archive."""
    repository, _, path = place.partition("@")
    outer, _, inner = path.partition("!")
    shown = subprocess.run(["git", "-C", clones / repository, "show", outer], stdout=subprocess.PIPE, check=True).stdout
    return zipfile.ZipFile(io.BytesIO(shown)).read(inner) if inner else shown


def _tried(content: bytes, name: str, columns: list[str]) -> str:
    with TemporaryDirectory() as folder:
        file, network = Path(folder) / name, Path(folder) / "network.yaml"
        file.write_bytes(content)
        named = [f"--column={kind}={each}" for kind, each in zip(("time", "down"), columns, strict=False)]
        said = _run("network", "import", file, "--out", network, *named)
        if network.exists():
            said = _run("lab", "exec", "--network", network, "--server", "sleep 9", "--client", "true") or said
        return " ".join(said.replace(f"{folder}/", "").split())


def _run(*arguments: str | Path) -> str:
    done = subprocess.run([sys.executable, "-m", "h123", *arguments], capture_output=True, text=True)
    return done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
