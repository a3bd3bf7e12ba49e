"""Prints messages about arguments that the command line cannot accept, and accepts spellings of the previous
version."""

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

from h123.base.complaints import nearest
from h123.base.errors import Interrupted, UserError
from h123.base.terminal.console import err_console, write
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
"""The previous version's names of options, with their present names. They are accepted until the next version."""
_NETWORKS = ("--filter", "choose among the study's networks with --filter network=NAME,...")
_PROTOCOLS = ("--filter", "choose among the study's protocols with --filter protocol=h2,h3")
_OWN = ("--filter", "`h123 compare` measures your own server: --server CMD --url URL")
INSTEAD = {
    "--network": (_NETWORKS,),
    "--networks": (_NETWORKS,),
    "--protocol": (_PROTOCOLS,),
    "--protocols": (_PROTOCOLS,),
    "--server": (_OWN,),
    "--url": (_OWN,),
    "--filter": (("--networks", "choose with --networks NAME,... and --protocols h2,h3"),),
    "--blocks": (("--max-blocks", "use --max-blocks N"),),
    "--max-blocks": (("--blocks", "use --blocks N"),),
    "--until-decided": (("--fail-if", "without --precision, the campaign ends when the question is decided"),),
    "--fail-if": (("--until-decided", "check the finished campaign: `h123 gate DIR --fail-if CONDITION`"),),
    "--scale": (("--load", "set the number of requests with --load USERSxREQUESTS"),),
    "--load": (("--scale", "send fewer requests with --scale S, or change `users` and `requests` in the study"),),
    "--clock": (("--knobs", "tuning always uses the virtual clock"),),
}
"""For options that some commands lack: an option that the command has, and what to do with it instead."""
_CHOICE = re.compile(r"'(.*)' is not one of ('.*')\.", re.DOTALL)
RENAMED_VALUES = {("--congestion", "own"): "default"}


class PlainWords(TyperGroup):
    """A group of commands with h123's own error messages. Without it, Typer would show pydantic's messages, such as
    `Value error, 'x' is not one of`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the requested command, and its arguments in this version's spelling."""
        name, command, rest = super().resolve_command(ctx, args)
        words = [*_respelled(rest, command)]
        _check_quotes(words, command)
        return name, command, words

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Return the context. Errors in options before the command's name have h123's own messages."""
        with _mended():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command with h123's own error messages. Typer would end an interrupted command without a
        message."""
        with _mended():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                write(err_console, "interrupted", lead="h123: ", lead_style="bold red")
                raise Interrupted from None


@contextmanager
def _mended() -> Iterator[None]:
    """Rewrite errors in h123's own words, and make control characters visible, because file names are untrusted
    input."""
    try:
        yield
    except TyperException as complaint:
        vars(complaint)["message"] = visible(_message(complaint))
        if hint := _instead(complaint):
            vars(complaint).update(message=f"{complaint.message}: {hint}", possibilities=None)
        elif (choice := _CHOICE.search(complaint.message)) and (
            near := nearest(choice[1], re.findall("'([^']*)'", choice[2]))
        ):
            vars(complaint)["message"] += f" Did you mean {near}?"
        raise


def _instead(complaint: TyperException) -> str | None:
    """Return what to do instead of using an option that the command lacks: another option, or another command."""
    if not hasattr(complaint, "possibilities"):
        return None
    option, context = str(vars(complaint)["option_name"]), vars(complaint)["ctx"]
    mine = _options(context.command)
    for needed, hint in INSTEAD.get(option, ()):
        if needed in mine:
            return hint
    group = context.parent.command if context.parent else context.command
    others = [name for name, command in getattr(group, "commands", {}).items() if option in _options(command)]
    return f"only {', '.join(f'`h123 {name}`' for name in others)} can use it" if 0 < len(others) < 5 else None


def _options(command: Any) -> dict[str, Any]:
    return {name: option for option in getattr(command, "params", ()) for name in option.opts}


def _message(complaint: TyperException) -> str:
    text = str(getattr(complaint, "message", ""))
    if complaint.__cause__ is None:
        return text
    from pydantic import ValidationError

    from h123.base.strict import describe

    return describe(complaint.__cause__.errors()[0], "") if isinstance(complaint.__cause__, ValidationError) else text


def _respelled(words: Iterable[str], command: Any) -> Iterator[str]:
    """Yield the words with options of the previous version, and their values, replaced by this version's."""
    options = _options(command)
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
            _hint(f"{old} is now called {name}", "name")
        values = [value] if equals else [] if getattr(options[name], "is_flag", False) else [*itertools.islice(rest, 1)]
        for index, text in enumerate(values):
            if new := RENAMED_VALUES.get((name, text)):
                _hint(f"{name} {text} is now called {name} {new}", "word")
                values[index] = new
        yield from [f"{name}={values[0]}"] if equals else [name, *values]
    yield from rest


def _check_quotes(words: Sequence[str], command: Any) -> None:
    """Refuse an option whose value the shell split, such as `--knob x={a,b}` without quotes. Raises UserError."""
    options = _options(command)
    known = {*options, "-h", "--help"}
    for number, (name, value) in enumerate(itertools.pairwise(words)):
        if name == "--":
            return
        form, head = str(getattr(options.get(name), "metavar", None)), f"{value.partition('=')[0]}="
        values = [value, *itertools.takewhile(lambda word: word.partition("=")[0] not in known, words[number + 2 :])]
        if len(values) == 1:
            continue
        if "=" in value and values[1].startswith(head):
            ends = ",".join(each.removeprefix(head) for each in values if each.startswith(head))
            wanted = f"{head}{ends}" if "[," in form else shlex.quote(f"{head}{{{ends}}}")
        elif value.count("{") > value.count("}") and not form.endswith("CMD"):
            wanted = shlex.quote(" ".join(values))
        elif form.endswith(",..."):
            wanted = ",".join(each.strip(",") for each in values)
        elif form.endswith(("CMD", "VALUE'")):
            wanted = "'...'"
        else:
            continue
        raise UserError(f"{name}: the shell split its value into several words", remedy=f"write {name} {wanted}")


def _hint(what: str, old: str) -> None:
    err_console.print(f"h123: {what}; the next version will refuse the old {old}", soft_wrap=True)
