"""Provides the two output streams of the command line, and wraps prose."""

import dataclasses
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from h123.base.terminal.visible import visible

WIDTH = 100
"""The width of output to a file or a pipe, in columns: that of the widest table. A terminal, or COLUMNS, sets its own
width."""
_NARROWEST = 10
"""The minimum width of prose in columns, even in a narrower terminal."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_WITHIN_A_QUANTITY = re.compile(r"(?<=\d) (?=[^\W\d]|[%–×/])|(?<=[–×/]) (?=\d)")
_COMMAND = re.compile(r"(?<![^\s(/\"'])`([^`\n]+)`(?![\w`])")
"""Matches a command, or a word of a file's format, in backticks."""


_called: Callable[[str], str] = str
"""Replaces `h123` with the name that started this program, in commands to copy."""


def name_program(name: str, commands: Iterable[str]) -> None:
    """Set the name of the program in commands that h123 prints for the user to copy. In a checkout the name is
    `./h123`, so `h123 run quick` becomes `./h123 run quick`. `commands` are the words that can follow h123."""
    global _called
    command = re.compile(rf"(?<![\w./-])h123(?=[ \u00a0](?:{'|'.join(map(re.escape, commands))})\b)")
    _called = str if name == "h123" else lambda text: command.sub(lambda _: name, text)


def _width(stream_is_terminal: bool) -> int | None:
    return None if stream_is_terminal or "COLUMNS" in os.environ else WIDTH


class VisibleConsole(Console):
    """A console that escapes invisible characters in all its output, so that names, questions and messages from other
    people cannot control the terminal."""

    def render_str(self, text: str, **style: Any) -> Text:
        """Escape invisible characters before the layout, so that columns are as wide as their content."""
        return super().render_str(visible(_called(text)), **style)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape invisible characters in all other renderables, such as `Text`. Control segments come from the console
        itself and stay as they are."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(_called(segment.text))
            yield segment if text == segment.text else Segment(text, segment.style)


# Names and messages stay as they are: no markup, no `:x:` for a picture, no automatic highlighting.
out_console = VisibleConsole(width=_width(sys.stdout.isatty()), markup=False, emoji=False, highlight=False)
"""The console for results."""
err_console = VisibleConsole(width=_width(sys.stderr.isatty()), stderr=True, markup=False, emoji=False, highlight=False)
"""The console for all messages that are not results."""


def wrap(text: str, width: int, lead: str = "") -> str:
    """Break prose into lines of at most `width` columns, but never between a number and its unit, nor within a
    `command` or path.

    A line of `text` that begins with a blank is not prose (a command to copy, the output of a build) and stays as it
    is. `lead` comes before the first line, and the other lines are indented by its width.
    """
    margin = " " * len(lead)
    width = max(width, len(lead) + _NARROWEST)
    lines: list[str] = []
    for line in text.split("\n"):
        first = margin if lines else lead
        if line[:1] in ("", " "):
            lines.append((first + line).rstrip())
        else:
            lines += textwrap.wrap(
                _unbroken(line),
                width,
                initial_indent=first,
                subsequent_indent=margin,
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines).replace(_NO_BREAK, " ")


def write(console: Console, text: str, lead: str = "", style: str = "", lead_style: str = "") -> None:
    """Write prose, broken into lines by `wrap`. `lead_style` is the style of `lead`."""
    line = with_commands(wrap(visible(_called(text)), console.width, lead), style)
    line.stylize(lead_style, 0, len(lead.rstrip()))
    console.print(line, soft_wrap=True)


def with_commands(text: str, style: str = "") -> Text:
    """Return the text with its commands in bold, and without the backticks that mark them."""
    line = Text(style=style)
    end = 0
    for found in _COMMAND.finditer(text):
        line.append(text[end : found.start()])
        line.append(found[1], style="bold")
        end = found.end()
    return line.append(text[end:])


_quiet = False


def say(text: str) -> None:
    """Print a message about a command's progress, unless the command runs quietly."""
    if not _quiet:
        write(err_console, text)


@contextmanager
def quietly(*, is_quiet: bool) -> Iterator[None]:
    """Suppress messages about progress within this context if `is_quiet`."""
    global _quiet
    before, _quiet = _quiet, is_quiet
    try:
        yield
    finally:
        _quiet = before


def print_json(document: object) -> None:
    """Write a document to standard output as JSON, in which all non-ASCII characters are escaped."""
    out_console.file.write(json.dumps(document, indent=1, allow_nan=False, default=_as_json) + "\n")


def _as_json(value: object) -> object:
    """Convert a dataclass or a path to a value that JSON can represent."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")


def _unbroken(line: str) -> str:
    unbroken = _COMMAND.sub(lambda command: command[0].replace(" ", _NO_BREAK), line)
    return _WITHIN_A_QUANTITY.sub(_NO_BREAK, unbroken)
