"""What the tool prints on a terminal, as text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from h123.report import print_summary


def printed(show: Callable[[Console], object], width: int = 80) -> str:
    """Return what `show` prints on a terminal with so many columns."""
    console = Console(width=width)
    with console.capture() as shown:
        show(console)
    return shown.get()


def summary(verdicts: Any, folder: Path | None = None, width: int = 80) -> str:
    """Return verdicts.json as `h123 analyse --details` prints it."""
    return printed(lambda console: print_summary(verdicts, console, folder), width)
