"""The two streams of the command line."""

from rich.console import Console

out_console, err_console = Console(), Console(stderr=True)
"""Results, and everything that is said meanwhile."""


def say(text: str) -> None:
    """A line of what goes on."""
    err_console.print(text, markup=False, highlight=False, soft_wrap=True)
