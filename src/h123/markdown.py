"""Tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

NOTHING = "–"
"""In a cell."""


def table(rows: Sequence[Mapping[str, str]]) -> Iterable[str]:
    """Its lines; the first row's names are the columns. No rows, no lines."""
    if not rows:
        return
    yield _line(rows[0])
    yield _line("--" for _ in rows[0])
    for row in rows:
        yield _line(row.values())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    """In one line, and no sign of it is the table's."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
