"""Prints the lines that subjects/constants.toml cites, from a source that you have unpacked.

    PYTHONPATH=src .venv/bin/python tools/sources.py quinn-proto 0.11.19 ~/.cargo/registry/src/*/quinn-proto-0.11.19

When you change a subject's version, use this to check that its source still has the cited content on those lines.
"""

import sys
from pathlib import Path

from h123.catalogue import DeclaredConstants, load_declared_constants


def main(source: str, version: str, folder: Path) -> int:
    """Print each cited line. Return exit status 1 if one does not exist."""
    named = [said for said in load_declared_constants() if (said.source, said.version) == (source, version)]
    if not named:
        known = ", ".join(dict.fromkeys(f"{said.source} {said.version}" for said in load_declared_constants()))
        print(f"subjects/constants.toml has nothing of {source} {version}, only of {known}", file=sys.stderr)
        return 1
    missing = 0
    for line in dict.fromkeys(line for said in named for line in _cited(said)):
        path, number = line.rsplit(":", 1)
        text = _line(folder / path, int(number))
        missing += text is None
        print(f"{line}: {'NOT THERE' if text is None else text}")
    return int(missing > 0)


def _cited(said: DeclaredConstants) -> list[str]:
    constants = (said.initial_window, said.decrease, said.retransmission)
    return [line for constant in constants if constant for line in constant.where]


def _line(path: Path, number: int) -> str | None:
    lines = path.read_text("utf-8", errors="replace").splitlines() if path.is_file() else []
    return lines[number - 1].strip() if number <= len(lines) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
