"""What the tool prints, as text."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from h123.report import print_summary


def printed(show: Callable[[Console], object], width: int = 80) -> str:
    """Return what `show` prints with so many columns."""
    text = io.StringIO()
    show(Console(width=width, file=text))
    return text.getvalue()


def summary(verdicts: Any, folder: Path | None = None, width: int = 80) -> str:
    """Return verdicts.json as `h123 analyse --details` prints it."""
    return printed(lambda console: print_summary(verdicts, console, folder), width)
