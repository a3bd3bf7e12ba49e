"""Whether the programs that a campaign or study starts come from the person who runs it.

A campaign that somebody else sent has commands in it, and the lab starts them as root. So, as git does with folders of
others, h123 shows them and asks. It trusts a study that the person owns, and after that its commands wherever they
stand: a campaign that was begun here can be resumed, moved and copied.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.paths import cache_folder, is_mine, project_root
from h123.base.terminal.console import err_console, say, write

_ASKED = "Start them? [y/N] "
_LONGEST = 300
"""Characters of a command that are shown."""
Servers = Mapping[str, Mapping[str, Any]]
"""A study's own servers by name, as resolved."""


def require_trust(servers: Servers, origin: Path, *, own: bool, trusted: bool) -> None:
    """Refuse to start programs that the user does not know.

    `own`: the study's file is the user's, or comes with h123. `trusted`: the user gave --trust. Otherwise this
    asks, where standard input is a terminal. Raises UserError if the answer is not yes.
    """
    risky = {name: _parts(server) for name, server in servers.items()}
    if not risky:
        return
    mark = cache_folder() / "trusted" / _digest(risky)
    if not (own or trusted or mark.is_file()):
        _ask(risky, origin)
    with suppress(OSError):  # then it is asked again
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def is_own(path: Path) -> bool:
    """Whether the study's file and its folder belong to the user, or come with h123."""
    return path.resolve().is_relative_to(project_root() / "studies") or is_mine(path)


def _parts(server: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parts that decide which program starts, or which server is loaded."""
    return {name: server.get(name) for name in ("command", "folder", "environment", "address")}


def _digest(risky: Mapping[str, Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(risky, sort_keys=True).encode(errors="backslashreplace")).hexdigest()


def _ask(risky: Mapping[str, Mapping[str, Any]], origin: Path) -> None:
    """Raises UserError unless the person says yes."""
    lines = [f"  {_printable(line)}" for server in risky.values() for line in _described(server)]
    what = f"{_printable(str(origin))} was not begun by you on this machine, and it starts programs with all rights:"
    if not sys.stdin.isatty():
        raise UserError(
            "\n".join([what, *lines]), remedy="if you trust who wrote them, repeat the command with --trust"
        )
    write(err_console, "\n".join([what, *lines]))
    err_console.print(_ASKED, end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UserError("nothing was started", remedy="--trust starts them without a question")
    say("They are trusted from now on.")


def _described(server: Mapping[str, Any]) -> list[str]:
    if server["command"] is None:
        return [f"requests to the server at {server['address']}"]
    variables = ", ".join(server["environment"] or {})
    return [f"{server['command']}   (in {server['folder']}{f', with {variables}' if variables else ''})"]


def _printable(text: str) -> str:
    """Replace characters that would be commands to a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text[:_LONGEST]) + "..." * (
        len(text) > _LONGEST
    )
