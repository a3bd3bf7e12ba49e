"""What the command line says of values that its options cannot take: in the same words as of those in files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from typer.core import TyperGroup
from typer.exceptions import TyperException

from h123.base.strict import describe
from h123.base.terminal.visible import visible


class PlainWords(TyperGroup):
    """Commands whose complaints are ours: Typer hands on what pydantic says, `Value error, 'x' is not one of`..."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Of the options before the command's name."""
        with _mended():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with _mended():
            return super().invoke(ctx)


@contextmanager
def _mended() -> Iterator[None]:
    """What was typed may be a stranger's, such as the name of a file."""
    try:
        yield
    except TyperException as complaint:
        if isinstance(complaint.__cause__, ValidationError):
            said = describe(complaint.__cause__.errors()[0], "")
        else:
            said = getattr(complaint, "message", "")
        vars(complaint)["message"] = visible(said)
        raise
