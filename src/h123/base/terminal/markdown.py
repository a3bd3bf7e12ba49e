"""Tables in Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence

from h123.base.terminal.visible import visible

NOTHING = "–"
"""In a cell."""
_MARKS = re.compile(r"[\\`*\[\]|~#]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


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


def plain(text: str) -> str:
    """Text that others wrote, in one line: it makes no link, picture, markup, mention or cell of its own."""
    marked = _MARKS.sub(r"\\\g<0>", visible(" ".join(text.split())))
    return _TAG.sub("&lt;", marked).replace("@", "&#64;")


def _cell(text: str) -> str:
    """In one line, and no sign of it is the table's."""
    return visible(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")
