"""Builds subjects' command lines, and finds the congestion controllers and settings for them.

`placeholders` are the values of the placeholders in docs/contracts/subject.md, except `prefix`.
"""

from h123.base.errors import UserError
from h123.base.roots import mounted
from h123.base.transport import SETTINGS, Name
from h123.catalogue.demand import DEFAULT_CONGESTION, TCP_DEFAULT, Demand, Role
from h123.catalogue.manifest import PLACEHOLDER, Backend, Client, Origin, Probe, Scout, Server, Spoiler
from h123.catalogue.openings import QUIC
from h123.catalogue.subject import Subject

RoleManifest = Server | Client | Backend | Origin | Probe | Scout | Spoiler
"""The section of a manifest about one role."""


def command_line(subject: Subject, role: Role, **placeholders: object) -> list[str]:
    """Return the command line of a role."""
    roots = {"prefix": mounted("subjects", subject.installed_as), **placeholders}
    command = manifest_of(subject, role).command
    return [PLACEHOLDER.sub(lambda match: str(roots[match.group(1)]), word) for word in command]


def server_uses(subject: Subject, placeholder: str) -> bool:
    """Return whether the server's command line contains `{placeholder}`."""
    return subject.server is not None and f"{{{placeholder}}}" in " ".join(subject.server.command)


def serves_documents(subject: Subject, parameters: Demand) -> bool:
    """Return whether the server can serve a page's real documents, either from files or by forwarding all requests."""
    always = server_uses(subject, "upstream") and not server_uses(subject, "files")
    return server_uses(subject, "documents") or always or is_edge(subject, parameters)


def can_be_edge(subject: Subject) -> bool:
    """Return whether the server can forward all requests to an origin on a different host."""
    edge = subject.server is not None and subject.server.edge
    return server_uses(subject, "upstream") and (edge or not server_uses(subject, "files"))


def is_edge(subject: Subject, parameters: Demand) -> bool:
    """Return whether, in a trial with these parameters, the server forwards all requests to an origin on a different
    host."""
    return can_be_edge(subject) and parameters.backend_network is not None


def controllers(subject: Subject, protocol: str) -> list[str] | None:
    """Return the congestion controllers that the subject itself implements. None if the subject uses the kernel's
    controllers, or if its own are unknown."""
    offered = subject.features.congestion.get(protocol, "kernel")
    return None if offered == "kernel" else offered


def controller(subject: Subject, parameters: Demand) -> str:
    """Return the value of `{congestion}` for a subject. If the subject uses the kernel's controllers, this is TCP's
    controller. Otherwise, it is the requested controller if the subject has it, or else the subject's default. A
    subject can lack the requested controller only if it sends no bodies."""
    offered = controllers(subject, parameters.protocol)
    if offered is None:
        return kernel_controller(parameters.congestion)
    return parameters.congestion if parameters.congestion in offered else offered[0]


def settable(subject: Subject) -> dict[Name, list[str]]:
    """Return, for each setting, the roles in which the subject accepts it over QUIC."""
    roles = {"server": subject.server, "client": subject.client}
    commands = {name: " ".join(role.command) for name, role in roles.items() if role}
    return {
        setting: [role for role, command in commands.items() if f"{{{setting}}}" in command] for setting in SETTINGS
    }


def settings(parameters: Demand) -> dict[str, str]:
    """Return the value of each setting's placeholder. An empty value means the subject's default."""
    over_quic = parameters.protocol == QUIC
    return {name: str(parameters.setting(name) or "") if over_quic else "" for name in SETTINGS}


def kernel_controller(congestion: str) -> str:
    """Return the congestion controller that TCP uses on every host of the lab."""
    return TCP_DEFAULT if congestion == DEFAULT_CONGESTION else congestion


def default_controller(subject: Subject, protocol: str) -> str:
    """Return the subject's default congestion controller, or the kernel's if the subject has none of its own."""
    return (controllers(subject, protocol) or [kernel_controller(DEFAULT_CONGESTION)])[0]


def manifest_of(subject: Subject, role: Role) -> RoleManifest:
    """Return the section of a subject's manifest about one role. Raises UserError if the subject does not have that
    role."""
    parts: dict[Role, RoleManifest | None] = {
        "server": subject.server,
        "client": subject.client,
        "backend": subject.backend,
        "origin": subject.origin,
        "probe": subject.probe,
        "scout": subject.scout,
        "spoiler": subject.spoiler,
    }
    part = parts[role]
    if part is None:
        raise UserError(
            f"subject {subject.name} is not a {role}", remedy=f"`h123 list subjects {subject.name}` shows its roles"
        )
    return part
