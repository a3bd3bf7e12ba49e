"""Checks whether a subject can do what a trial requires. If it cannot, the error names alternatives."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from h123.base.errors import UserError
from h123.base.transport import SETTINGS, TCP_PAYLOAD_IPV6
from h123.base.units import format_bytes, format_seconds
from h123.catalogue.commands import can_be_edge, controllers, manifest_of, server_uses, serves_documents, settable
from h123.catalogue.demand import ALT_SVC, DEFAULT_CONGESTION, Demand, Role
from h123.catalogue.manifest import (
    FIXED,
    NEWEST_TLS,
    USUAL_SHARE,
    Ability,
    Backend,
    Client,
    Origin,
    Probe,
    Scout,
    Server,
    Spoiler,
)
from h123.catalogue.openings import FULL, OPENINGS, QUIC, opening
from h123.catalogue.registry import catalogue
from h123.catalogue.subject import Subject

OVER_IPV6: Mapping[Role, Sequence[str]] = {
    "server": ["go", "apache", "caddy", "envoy", "hypercorn", "jetty"],
    "client": ["go", "load"],
}
"""The subjects that were tested over IPv6, by role. Manifests do not declare this, because a change to a manifest
invalidates its subject's verification."""
AT_BOTH = ["go"]
"""The servers that were tested with addresses of both IP versions at once."""
CHOOSERS: Mapping[str, Literal["addresses", "name"]] = {
    "autocannon": "name",
    "chromium": "name",
    "curl-ngtcp2": "addresses",
    "curl-openssl": "addresses",
    "curl-quiche": "addresses",
    "curl-tool-ngtcp2": "addresses",
    "curl-tool-openssl": "addresses",
    "curl-tool-quiche": "addresses",
    "firefox": "name",
    "pycurl": "addresses",
}
"""The clients that choose between IPv4 and IPv6 (Happy Eyeballs, RFC 8305). Each gets either both addresses of the
server, or the server's name, which it looks up. No browser is in the list: Chromium used only IPv4 in a trial, and
subjects/firefox turns off Firefox's second connection, so its requests time out if IPv6 is dropped."""


def check_supported(subject: Subject, role: Role, parameters: Demand) -> None:
    """Raise UserError if the subject cannot play the role under these parameters. The error names what the subject can
    do."""
    part = manifest_of(subject, role)
    if parameters.clock not in subject.features.clocks:
        raise _cannot(subject, role, "clock", parameters.clock, list(subject.features.clocks))
    if isinstance(part, Server | Backend) and parameters.store not in part.stores:
        raise _cannot(subject, role, "store", parameters.store, list(part.stores))
    if isinstance(part, Backend | Origin | Probe | Scout | Spoiler):
        return
    if parameters.protocol not in part.protocols:
        raise _cannot(subject, role, "protocol", parameters.protocol, part.protocols)
    _check_tls(subject, role, parameters)
    _check_key_share(subject, role, parameters)
    if parameters.address != "ipv4":
        _check_ipv6(subject, role, parameters)
    for method in parameters.workload.methods():
        if method not in part.methods:
            raise _cannot(subject, role, "method", method, list(part.methods))
    offered = controllers(subject, parameters.protocol)
    if _sends(role, parameters) and offered is not None and parameters.congestion not in [DEFAULT_CONGESTION, *offered]:
        askable = [*(name for name in offered if name != FIXED), DEFAULT_CONGESTION]
        raise _cannot(subject, role, f"congestion for {parameters.protocol}", parameters.congestion, askable)
    if _sends(role, parameters):
        _check_settings(subject, role, parameters)
    if isinstance(part, Server):
        _check_server(subject, part, parameters)
    else:
        _check_client(subject, part, parameters)


def _check_tls(subject: Subject, role: Role, parameters: Demand) -> None:
    if parameters.tls not in subject.features.tls:
        raise _cannot(subject, role, "TLS", parameters.tls, list(subject.features.tls))
    if parameters.tls == NEWEST_TLS:
        return
    if parameters.protocol == QUIC:
        raise UserError(
            f"there is no HTTP/3 over TLS {parameters.tls}: QUIC requires TLS {NEWEST_TLS} (RFC 9001)",
            remedy=f"compare with HTTP/3 over {NEWEST_TLS}: give `tls` only to the levels of h1 and h2",
        )
    if parameters.sessions != FULL:
        raise UserError(
            f"h123 resumes sessions only over TLS {NEWEST_TLS}, but the study requires {parameters.tls}",
            remedy=f"write `sessions: {FULL}`, or leave `tls` out",
        )


def _check_key_share(subject: Subject, role: Role, parameters: Demand) -> None:
    share = parameters.key_share
    if share not in subject.features.key_shares:
        able = [
            name for name, other in catalogue().items() if getattr(other, role) and share in other.features.key_shares
        ]
        raise UserError(
            f"subject {subject.name} as a {role} does not exchange keys with {share}; {', '.join(able)} can",
            remedy="choose another subject, or leave `key_share` out of the study",
        )
    if share != USUAL_SHARE and parameters.tls != NEWEST_TLS:
        raise UserError(f"{share} is a key exchange of TLS {NEWEST_TLS}, but the study requires {parameters.tls}")


def _check_ipv6(subject: Subject, role: Role, parameters: Demand) -> None:
    if parameters.address == "both" and role == "client":
        if subject.name not in CHOOSERS:
            raise UserError(
                f"client {subject.name} does not choose between IPv4 and IPv6; {', '.join(CHOOSERS)} do",
                remedy="write `address: ipv4`, or choose another client",
            )
    elif subject.name not in (tried := AT_BOTH if parameters.address == "both" else OVER_IPV6.get(role, [])):
        raise UserError(
            f"subject {subject.name} as a {role} was not tried over IPv6; {', '.join(tried)} "
            f"{'were' if len(tried) > 1 else 'was'}",
            remedy="write `address: ipv4`, or choose another subject",
        )
    size = parameters.setting("max_datagram")
    if isinstance(size, int) and size > TCP_PAYLOAD_IPV6:
        raise UserError(
            f"a packet over IPv6 has room for {TCP_PAYLOAD_IPV6} bytes of TCP's payload, not {size}",
            remedy=f"write `max_datagram: {TCP_PAYLOAD_IPV6}` or less",
        )


def _check_settings(subject: Subject, role: Role, parameters: Demand) -> None:
    """Check the settings that the study requests. With `transport: matched`, a setting that the subject cannot change
    is no error, because h123 then lists what it cannot match."""
    settings = [setting for setting in SETTINGS.values() if parameters.setting(setting.name) is not None]
    if brought := [setting for setting in settings if setting.brought_by == parameters.congestion]:
        raise UserError(
            f"{role} {subject.name} cannot change its {brought[0].title}: {parameters.congestion} brings its own",
            remedy=f"leave `{brought[0].name}` out there, or choose another congestion controller",
        )
    if parameters.transport == "matched" or parameters.protocol != QUIC:
        return
    if fixed := [setting for setting in settings if role not in settable(subject)[setting.name]]:
        raise UserError(
            f"subject {subject.name} as a {role} does not let its {fixed[0].title} over {QUIC} be chosen",
            remedy=f"leave `{fixed[0].name}` out there, or choose a subject that lists it in [features]",
        )


def _check_server(subject: Subject, server: Server, parameters: Demand) -> None:
    _check_wait(subject, parameters)
    _check_streams(subject, server, parameters)
    _check_idleness(subject, server, parameters)
    if parameters.backend_network is not None and parameters.store == "memory" and not can_be_edge(subject):
        raise UserError(
            f"nothing is behind the server {subject.name} that a `backend_network` could lead to",
            remedy="choose a server that can forward all requests, such as envoy, or leave `backend_network` out",
        )
    if parameters.workload.documents() and not serves_documents(subject, parameters):
        raise UserError(
            f"server {subject.name} does not serve a page's own documents (`documents: true`)",
            remedy="choose go, or a server that forwards all requests, such as envoy",
        )
    features = subject.features
    able = {
        way: [protocol for protocol in getattr(features, row.declared_by) if protocol in row.protocols]
        for way, row in OPENINGS.items()
    }
    _check_sessions(subject, "server", able, parameters)
    _check_second(subject, server, parameters)
    # Other protocols have no such log, so none can be missing.
    if parameters.qlog and parameters.protocol == "h3" and "h3" not in features.qlog:
        raise UserError(f"server {subject.name} cannot write qlog files: leave `qlog` out of the study")


def _check_wait(subject: Subject, parameters: Demand) -> None:
    """Check that the server can wait for its certificate if the study requires that."""
    if parameters.certificate_wait is None:
        if not parameters.instant_ack:
            raise UserError(
                "`instant_ack: false` has no effect: a server that does not wait sends its answer with the "
                "acknowledgement",
                remedy="set `certificate_wait` too, or leave `instant_ack` out of the study",
            )
    elif parameters.protocol not in subject.features.certificate_wait:
        able = [name for name, other in catalogue().items() if other.features.certificate_wait]
        raise UserError(
            f"server {subject.name} cannot wait for its certificate over {parameters.protocol}; {', '.join(able)} can "
            f"over {QUIC}",
            remedy="choose another server, or leave `certificate_wait` out of the study",
        )


def _check_streams(subject: Subject, server: Server, parameters: Demand) -> None:
    """Check that the server accepts enough simultaneous requests on a connection. Otherwise, some requests would wait
    at the client, and the trial would measure that wait."""
    allowed = server.limits.streams.get(parameters.protocol)
    streams = parameters.workload.most_on_connection()
    if allowed is not None and streams is not None and streams > allowed:
        raise UserError(
            f"server {subject.name} has at most {allowed} requests of a connection in flight at once over "
            f"{parameters.protocol}, and the study has {streams} users on one",
            remedy="write `connections: per-user` or more connections, have fewer users, or choose another server",
        )


def _check_idleness(subject: Subject, server: Server, parameters: Demand) -> None:
    """Check that the server keeps idle connections open for long enough. Otherwise, requests would fail, or take longer
    because they need new connections."""
    allowed = server.limits.idle.get(parameters.protocol)
    if allowed is not None and (silence := parameters.workload.longest_silence_ns()) >= allowed:
        why = "its `rate` is so low" if parameters.workload.open_loop else "its users `think` or `pause` so long"
        raise UserError(
            f"server {subject.name} closes connections over {parameters.protocol} that are idle for "
            f"{format_seconds(allowed / 1e9)}, and in the study a connection can be idle for "
            f"{format_seconds(silence / 1e9)}: {why}",
            remedy="use a higher `rate`, or fewer connections"
            if parameters.workload.open_loop
            else "use a shorter `think` or `pause`",
        )


def _check_second(subject: Subject, server: Server, parameters: Demand) -> None:
    """Check that a second process of the server can serve the protocol to which clients fall back, and that the server
    announces HTTP/3 if clients discover it that way."""
    other = parameters.workload.fallback
    if other and other not in server.protocols:
        raise _cannot(subject, "server", "a fallback to", other, server.protocols)
    if other and parameters.store != "memory":
        raise UserError(f"a server that stores bodies ({parameters.store}) has no second one to fall back to")
    if parameters.workload.announcement == ALT_SVC and not server_uses(subject, "alt_svc"):
        raise UserError(
            f"server {subject.name} does not announce HTTP/3 (Alt-Svc), so no client finds it",
            remedy="choose one that does, such as caddy, nginx or envoy, or write `announced: https-record`",
        )


def _check_client(subject: Subject, client: Client, parameters: Demand) -> None:
    if parameters.kind not in client.kinds:
        raise _cannot(subject, "client", "workloads of kind", parameters.kind, list(client.kinds))
    if parameters.kind == "page" and client.documents and not parameters.workload.documents():
        raise UserError(
            f"client {subject.name} loads only pages made of real documents",
            remedy="write `documents: true` in the study",
        )
    if parameters.workload.has_headers and not client.headers:
        raise UserError(f"client {subject.name} cannot send request headers: leave `headers` out of the study")
    if parameters.workload.open_loop and not client.open_loop:
        raise UserError(
            f"client {subject.name} cannot send at a given rate (open loop)",
            remedy="leave `rate` and `arrivals` out of the study",
        )
    if parameters.workload.schedules_requests and not client.arrivals:
        raise UserError(
            f"client {subject.name} cannot send at changing rates",
            remedy="write one `rate` instead of `arrivals` in the study",
        )
    if parameters.workload.schedules_connections and not client.per_connection:
        raise UserError(
            f"client {subject.name} cannot send at a separate rate for each connection",
            remedy="leave `per: connection` out of the study's `arrivals`, or choose a client that declares it",
        )
    if parameters.workload.abandons and not client.abandons:
        raise UserError(
            f"client {subject.name} cannot abandon requests",
            remedy="leave `abandon` out of the study, or choose a client that declares it",
        )
    if parameters.workload.retries and not client.retries:
        raise UserError(
            f"client {subject.name} cannot retry requests",
            remedy="leave `retry` out of the study, or choose a client that declares `retries`",
        )
    if parameters.cold and not client.cold:
        raise UserError(f"client {subject.name} cannot make cold requests: write `cold: false` in the study")
    way = parameters.connections if isinstance(parameters.connections, str) else "number"
    if way not in client.connections:
        raise _cannot(subject, "client", "connections", str(parameters.connections), list(client.connections))
    most, in_flight = client.at_once.get(parameters.protocol), parameters.workload.most_in_flight()
    if most is not None and in_flight is not None and in_flight > most:
        raise UserError(
            f"client {subject.name} has at most {most} requests at once over {parameters.protocol}, not {in_flight}",
            remedy="use fewer `users`, or exclude these trials with --filter",
        )
    _check_certificate(subject, client, parameters)
    _check_sessions(subject, "client", client.sessions, parameters)
    _check_memory(subject, client, parameters)


def _check_certificate(subject: Subject, client: Client, parameters: Demand) -> None:
    size, most = parameters.certificate, client.limits.certificate.get(parameters.protocol)
    if size is not None and most is not None and size > most:
        raise UserError(
            f"client {subject.name} accepts at most {format_bytes(most)} of certificates over {parameters.protocol}, "
            f"not {format_bytes(size)}",
            remedy="choose the client load, or exclude these trials with --filter",
        )


def _check_memory(subject: Subject, client: Client, parameters: Demand) -> None:
    """Check that the client can discover HTTP/3, remember it between visits and fall back from it, if the workload
    requires that."""
    work = parameters.workload
    if (work.announcement or work.repeats) and not client.remembers:
        inability = "does not discover HTTP/3" if work.announcement else "makes no repeat visits"
        raise UserError(
            f"client {subject.name} {inability}",
            remedy="choose a browser that does, such as chromium, or leave `fallback` and `visit` out of the study",
        )
    if work.fallback and not work.announcement and not client.fallback:
        raise UserError(
            f"client {subject.name} has no fallback from HTTP/3 to HTTP/2",
            remedy="leave `fallback` out of the study, or choose a client that declares it",
        )


def _check_sessions(subject: Subject, role: Role, able: Mapping[Any, Sequence[str]], parameters: Demand) -> None:
    """Raise UserError if the study requests a way of opening connections that the subject does not support. The subject
    would make full handshakes instead, and the trial would measure something else."""
    sessions, protocol = parameters.sessions, parameters.protocol
    if sessions == FULL or protocol in (over := able.get(sessions, ())):
        return
    raise UserError(
        f"subject {subject.name} as a {role} {opening(sessions).missing} over {protocol}"
        + (f", only over {', '.join(over)}" * bool(over)),
        remedy=f"write `sessions: {FULL}` for {protocol}, or choose a subject that declares it",
    )


def check_metrics(subject: Subject, needed: Mapping[str, Sequence[Ability]]) -> None:
    """Raise UserError if the client lacks an ability that one of these metrics needs."""
    client = manifest_of(subject, "client")
    for metric, abilities in needed.items():
        if not all(getattr(client, ability) for ability in abilities):
            raise UserError(
                f"subject {subject.name} as a client does not measure {metric}",
                remedy=f"choose another client, or remove {metric} from the study's `compare.families`",
            )


def _cannot(subject: Subject, role: Role, what: str, value: str, offered: list[str]) -> UserError:
    return UserError(
        f"subject {subject.name} as a {role} does not support {what} {value}; it supports {', '.join(offered)}",
        remedy="change the study, or exclude these trials with --filter",
    )


def _sends(role: Role, parameters: Demand) -> bool:
    """Return whether this role sends bodies, so that its congestion controller matters."""
    return role in parameters.workload.senders()
