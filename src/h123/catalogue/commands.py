"""A subject's command lines, and whether it can do what a trial asks."""

from typing import Literal, Protocol

from h123.catalogue.install import prefix
from h123.catalogue.subject import PLACEHOLDER, Backend, Client, Server, Subject
from h123.errors import UserError

Role = Literal["server", "client", "backend"]


class Demand(Protocol):
    """What check_supported looks at; study.Parameters is one."""

    @property
    def protocol(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def congestion(self) -> str: ...
    @property
    def store(self) -> str: ...
    @property
    def clock(self) -> str: ...
    @property
    def rate(self) -> float | None: ...


def server_command(subject: Subject, **placeholders: object) -> list[str]:
    """Command line of the server; `placeholders` as in docs/contracts.md, without `prefix`."""
    return _filled(_part(subject, "server").command, subject, placeholders)


def client_command(subject: Subject, **placeholders: object) -> list[str]:
    """Command line of the client; `placeholders` as in docs/contracts.md, without `prefix`."""
    return _filled(_part(subject, "client").command, subject, placeholders)


def backend_command(subject: Subject, **placeholders: object) -> list[str]:
    """Command line of the backend; `placeholders` as in docs/contracts.md, without `prefix`."""
    return _filled(_part(subject, "backend").command, subject, placeholders)


def check_supported(subject: Subject, role: Role, parameters: Demand) -> None:
    """Raises UserError if the subject cannot play the role under these parameters, and says what it can."""
    part = _part(subject, role)
    if parameters.clock not in subject.features.clocks:
        raise _cannot(subject, role, "clock", parameters.clock, list(subject.features.clocks))
    if not isinstance(part, Client) and parameters.store not in part.stores:
        raise _cannot(subject, role, "store", parameters.store, list(part.stores))
    if isinstance(part, Backend):
        return
    if parameters.protocol not in part.protocols:
        raise _cannot(subject, role, "protocol", parameters.protocol, part.protocols)
    if parameters.method not in part.methods:
        raise _cannot(subject, role, "method", parameters.method, list(part.methods))
    if isinstance(part, Client) and parameters.rate is not None and not part.open_loop:
        raise UserError(f"subject {subject.name} as a client has no open loop: leave `rate` out of the study")
    offered = subject.features.congestion.get(parameters.protocol, "kernel")
    if offered != "kernel" and parameters.congestion not in offered:
        raise _cannot(subject, role, f"congestion for {parameters.protocol}", parameters.congestion, offered)


def _part(subject: Subject, role: Role) -> Server | Client | Backend:
    parts: dict[Role, Server | Client | Backend | None] = {
        "server": subject.server,
        "client": subject.client,
        "backend": subject.backend,
    }
    part = parts[role]
    if part is None:
        raise UserError(f"subject {subject.name} has no {role}")
    return part


def _cannot(subject: Subject, role: Role, what: str, asked: str, offered: list[str]) -> UserError:
    return UserError(
        f"subject {subject.name} as a {role} does not support {what} {asked}; it supports {', '.join(offered)}",
        remedy="change the study, or leave these trials out with --only",
    )


def _filled(command: list[str], subject: Subject, values: dict[str, object]) -> list[str]:
    known = {"prefix": prefix(subject), **values}
    return [PLACEHOLDER.sub(lambda match: str(known[match.group(1)]), word) for word in command]
