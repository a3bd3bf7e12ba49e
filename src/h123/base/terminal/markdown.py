"""Writes tables in Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence

from h123.base.terminal.visible import visible

NOTHING = "–"
"""The content of an empty cell."""
_MARKS = re.compile(r"[\\`*\[\]|~#]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def table(rows: Sequence[Mapping[str, str]]) -> Iterable[str]:
    """Yield the lines of a Markdown table whose columns are the keys of the first row. Without rows there are no
    lines."""
    if not rows:
        return
    yield _line(rows[0])
    yield _line("--" for _ in rows[0])
    for row in rows:
        yield _line(row.values())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def plain(text: str) -> str:
    """Escape text that others wrote, and put it on one line, so that it creates no link, picture, markup, mention or
    table cell."""
    marked = _MARKS.sub(r"\\\g<0>", visible(" ".join(text.split())))
    return _TAG.sub("&lt;", marked).replace("@", "&#64;")


def _cell(text: str) -> str:
    """Escape text for a table cell, and put it on one line."""
    return visible(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")
