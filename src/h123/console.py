"""The two streams of the command line."""

import os
import sys

from rich.console import Console

WIDTH = 100
"""Of what goes into a file or a pipe: as wide as the widest table. A terminal, or COLUMNS, says its own."""

_told = sys.stdout.isatty() or "COLUMNS" in os.environ
out_console, err_console = Console(width=None if _told else WIDTH), Console(stderr=True)
"""Results, and everything that is said meanwhile."""


def say(text: str) -> None:
    """A line of what goes on."""
    err_console.print(text, markup=False, highlight=False, soft_wrap=True)
