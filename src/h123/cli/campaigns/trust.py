"""Protects users from programs in campaigns and studies that come from someone else.

A campaign contains commands, which the lab starts as root. If someone else sent it, h123 shows the commands and asks
first. h123 trusts studies that the user owns, and it remembers their commands, so the user can resume, move and copy a
campaign that started here.
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
"""The maximum number of characters of a command to show."""
Servers = Mapping[str, Mapping[str, Any]]
"""A study's own servers by name, with all settings resolved."""


def require_trust(servers: Servers, origin: Path, *, own: bool, trusted: bool) -> None:
    """Refuse to start programs that the user does not know.

    `own`: the study's file belongs to the user or comes with h123. `trusted`: the user gave --trust. Otherwise h123
    asks, if standard input is a terminal. Raises UserError unless the answer is yes.
    """
    risky = {name: _parts(server) for name, server in servers.items()}
    if not risky:
        return
    mark = cache_folder() / "trusted" / _digest(risky)
    if not (own or trusted or mark.is_file()):
        _ask(risky, origin)
    with suppress(OSError):  # after an error, the user is asked again next time
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def is_own(path: Path) -> bool:
    """Return whether the study's file and folder belong to the user, or come with h123."""
    return path.resolve().is_relative_to(project_root() / "studies") or is_mine(path)


def _parts(server: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of a server's description that decide which program starts, or which server receives load."""
    return {name: server.get(name) for name in ("command", "folder", "environment", "address")}


def _digest(risky: Mapping[str, Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(risky, sort_keys=True).encode(errors="backslashreplace")).hexdigest()


def _ask(risky: Mapping[str, Mapping[str, Any]], origin: Path) -> None:
    """Show the commands and ask. Raises UserError unless the user says yes."""
    lines = [f"  {_printable(line)}" for server in risky.values() for line in _described(server)]
    what = f"you did not start {_printable(str(origin))} on this machine, and it runs programs with full rights:"
    if not sys.stdin.isatty():
        raise UserError(
            "\n".join([what, *lines]), remedy="if you trust who wrote them, run the command again with --trust"
        )
    write(err_console, "\n".join([what, *lines]))
    err_console.print(_ASKED, end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UserError("nothing was started", remedy="--trust starts them without asking")
    say("They are trusted from now on.")


def _described(server: Mapping[str, Any]) -> list[str]:
    if server["command"] is None:
        return [f"requests to the server at {server['address']}"]
    variables = ", ".join(server["environment"] or {})
    return [f"{server['command']}   (in {server['folder']}{f', with {variables}' if variables else ''})"]


def _printable(text: str) -> str:
    """Replace characters that a terminal would interpret as commands."""
    return "".join(character if character.isprintable() else "?" for character in text[:_LONGEST]) + "..." * (
        len(text) > _LONGEST
    )
