"""What the command line says of values that its options cannot take: in the same words as of those in files."""

from typing import Any

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from h123.strict import describe


class PlainWords(TyperGroup):
    """Commands whose complaints are ours: Typer hands on what pydantic says, `Value error, 'x' is not one of`..."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as complaint:
            if isinstance(complaint.__cause__, ValidationError):
                complaint.message = describe(complaint.__cause__.errors()[0], "")
            raise
