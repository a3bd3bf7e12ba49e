"""Describes the servers of `h123 compare`: servers that h123 starts, or one that is already running."""

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.paths import real
from h123.base.strict import describe
from h123.base.terminal.console import say
from h123.catalogue import OwnServer
from h123.cli.comparisons.arguments import CompareArguments
from h123.probe import Inquiry, addresses_of, takes_a_connection
from h123.study import METRICS, Condition

PROTOCOLS = ("h1", "h2", "h3")
ONE = "server"
"""The name of a server that was given without a name."""
_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9-]{0,30})=(?P<command>.+)", re.DOTALL)


def named_servers(commands: Sequence[str], folder: Path) -> dict[str, str]:
    """Return the commands of the servers by name, in the given order."""
    if len(commands) == 1:
        match = None if _is_program(commands[0], folder) else _NAMED.fullmatch(commands[0])
        # In `PORT=8443 ./server`, PORT is a variable. Names of servers are in lower case.
        return {match["name"]: match["command"]} if match else {ONE: commands[0]}
    matches = [_NAMED.fullmatch(command) for command in commands]
    if len(commands) > 2 or not all(matches):
        raise UserError(
            "if --server is repeated, each needs a name; at most two are allowed",
            remedy="--server base='...' --server new='...'",
        )
    found_names = {name_match["name"]: name_match["command"] for name_match in matches if name_match}
    if len(found_names) < len(commands):
        raise UserError("both --server options have the same name", remedy="--server base='...' --server new='...'")
    return found_names


def check_protocols(names: Sequence[str]) -> None:
    for name in names:
        if name not in PROTOCOLS:
            raise UserError(f"--protocols {name}: {choose(name, PROTOCOLS)}")


def _is_program(command: str, folder: Path) -> bool:
    """Return whether the command begins with an existing program. This distinguishes a path that contains `=` from a
    named server."""
    try:
        program = shlex.split(command)[0]
        return (folder / program).is_file() if "/" in program else shutil.which(program) is not None
    except (ValueError, IndexError, OSError):
        return False


def server_started(
    command: str, arguments: CompareArguments, inquiry: Inquiry, subject: str | None = None
) -> OwnServer:
    """Return the description of a server that h123 starts. `subject`: the subject whose program `command` starts.
    Raises UserError."""
    values = {
        "command": command,
        "subject": subject,
        "folder": str(real(arguments.cwd)),
        "environment": environment_of(arguments.environment),
        "host": inquiry.site.host,
        "sni": arguments.sni,
        "protocols": list(PROTOCOLS),
        "ready": arguments.ready,
    }
    try:
        server = OwnServer.model_validate(values)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        raise UserError(f"--server: {describe(fault, '.'.join(map(str, fault['loc'])))}") from None
    server.check()
    return server


def environment_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the variables that `--env` sets. Raises UserError."""
    pairs = [text.partition("=") for text in texts]
    if wrong := [text for text, (name, sign, _) in zip(texts, pairs, strict=True) if not (name and sign)]:
        raise UserError(f"--env: {len(wrong)} of {len(pairs)} are not written as NAME=VALUE")
    return {name: value for name, _, value in pairs}


def check_remote_server(arguments: CompareArguments, conditions: Sequence[Condition]) -> None:
    """Refuse options that apply only to servers that h123 starts itself."""
    if arguments.clock == "virtual":
        raise UserError(
            "a server that is already running uses real time; the virtual clock is only for servers that h123 starts",
            remedy="leave --clock out, or give the command that starts it: --server CMD",
        )
    if arguments.environment or arguments.ready:
        raise UserError("--env and --ready are only for servers that h123 starts: give the command with --server CMD")
    for condition in conditions:
        if METRICS[condition.metric].of_the_server:
            raise UserError(
                f"--fail-if: {condition.metric} cannot be measured for a server that h123 does not start",
                remedy="give the command that starts it: --server CMD",
            )


def remote_server(arguments: CompareArguments, inquiry: Inquiry) -> OwnServer:
    """Return the server that the URL names, with its address resolved. Raises UserError."""
    site = inquiry.site
    shared = {
        "allow_remote_load": arguments.allow_remote_load,
        "host": site.host,
        "sni": arguments.sni,
        "protocols": list(PROTOCOLS),
    }
    servers = [OwnServer.model_validate({"address": address, **shared}) for address in addresses_of(site)]
    for server in servers:
        server.check()  # before h123 sends a single packet
    # A name such as localhost may have several addresses, and the server may listen on only one of them.
    server = next(
        (candidate for candidate in servers if takes_a_connection(candidate.address or "", site.port)), servers[0]
    )
    say(f"{site.host} is {server.address} here; h123 measures the server that runs there")
    return server
