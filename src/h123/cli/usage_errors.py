"""The command line's messages about words that it cannot accept, or that an earlier version spelled differently."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

from h123.base.terminal.console import err_console
from h123.base.terminal.visible import visible

RENAMED = {
    "--width": "--precision",
    "--at-most": "--max-blocks",
    "--lanes": "--jobs",
    "--metrics": "--metrics-listen",
    "--i-may-load-this": "--allow-remote-load",
    "--unverified": "--allow-unverified",
    "--only": "--filter",
}
"""Options of the previous version, which are accepted until the next one."""
RENAMED_VALUES = {("--congestion", "own"): "default"}


class PlainWords(TyperGroup):
    """Commands with h123's own error messages: Typer passes on pydantic's, such as `Value error, 'x' is not one
    of`..."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The requested command, and its words in this version's spelling."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, [*_respelled(rest, command)]

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Make the context, with h123's own errors about options before the command's name."""
        with _mended():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command, with h123's own errors."""
        with _mended():
            return super().invoke(ctx)


@contextmanager
def _mended() -> Iterator[None]:
    """The typed words may be a stranger's, such as the name of a file."""
    try:
        yield
    except TyperException as complaint:
        vars(complaint)["message"] = visible(_message(complaint))
        raise


def _message(complaint: TyperException) -> str:
    text = str(getattr(complaint, "message", ""))
    if complaint.__cause__ is None:
        return text
    from pydantic import ValidationError

    from h123.base.strict import describe

    return describe(complaint.__cause__.errors()[0], "") if isinstance(complaint.__cause__, ValidationError) else text


def _respelled(words: Iterable[str], command: Any) -> Iterator[str]:
    """Replace options of the previous version, and their values, by this version's; leave the rest as it is."""
    options = {name: option for option in getattr(command, "params", ()) for name in option.opts}
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield word
            break
        old, equals, value = word.partition("=")
        name = RENAMED.get(old, old) if old not in options and RENAMED.get(old) in options else old
        if name not in options:
            yield word
            continue
        if name != old:
            _hint(f"{old} is called {name} now", "name")
        values = [value] if equals else [] if getattr(options[name], "is_flag", False) else [*itertools.islice(rest, 1)]
        for index, text in enumerate(values):
            if new := RENAMED_VALUES.get((name, text)):
                _hint(f"{name} {text} is called {name} {new} now", "word")
                values[index] = new
        yield from [f"{name}={values[0]}"] if equals else [name, *values]
    yield from rest


def _hint(what: str, old: str) -> None:
    err_console.print(f"h123: {what}; the next version will not know the old {old}", soft_wrap=True)
