"""Draws the rooms' declared flow (pyproject.toml, tool.importlinter) into docs/architecture.md."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/architecture.md"
_DRAWN = re.compile(r"(?<=<!-- drawn by tools/rooms.py -->\n```\n).*?(?=```\n)", re.DOTALL)
_WIDTH, _GAP = 76, 3


def layers() -> list[list[str]]:
    """Return the rooms from top to bottom. Rooms on the same level share a list."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (flow,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.split(r" [|:] ", layer) for layer in flow if not layer.startswith("_")]


def drawn(page: str) -> str:
    """Return the page with the current picture."""
    lines = [line.rstrip() for line in f"\n{'↓'.center(_WIDTH)}\n".join(map(_rows, layers())).splitlines()]
    return _DRAWN.sub("\n".join(lines) + "\n", page, count=1)


def _rows(rooms: list[str]) -> str:
    """Draw the rooms of a level side by side and centred, in as many rows as they need."""
    rows = [""]
    for room in rooms:
        longer = f"{rows[-1]}{' ' * _GAP}{room}" if rows[-1] else room
        rows = [*rows[:-1], longer] if len(longer) <= _WIDTH else [*rows, room]
    return "\n".join(row.center(_WIDTH) for row in rows)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text("utf-8")), "utf-8")
