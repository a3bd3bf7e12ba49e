"""What the command line says of values that its options cannot take: in the same words as of those in files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

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
        vars(complaint)["message"] = visible(_said(complaint))
        raise


def _said(complaint: TyperException) -> str:
    said = str(getattr(complaint, "message", ""))
    if complaint.__cause__ is None:
        return said
    from pydantic import ValidationError

    from h123.base.strict import describe

    return describe(complaint.__cause__.errors()[0], "") if isinstance(complaint.__cause__, ValidationError) else said
