"""Parses the URLs of the user's own server."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from h123.base.errors import UserError
from h123.base.terminal.redaction import hidden
from h123.study import request_path

HTTPS = 443
_PATIENCE_S = 2.0
"""The timeout, in s, of a connection that only tests whether an address works."""
_EXAMPLE = "write it as in https://localhost:8443/api/orders"


@dataclass(frozen=True)
class ProbedSite:
    """The host and port in one server's URLs, and the path of each URL with its query."""

    host: str
    port: int
    paths: tuple[str, ...]


def site_of(urls: Sequence[str]) -> ProbedSite:
    """Parse the URLs of one server. Raises UserError if a URL is not for HTTP over TLS, or if the URLs name more than
    one server."""
    if not urls:
        raise UserError("no URL given: h123 needs to know what to request", remedy=f"--url: {_EXAMPLE}")
    parts = [_parts(url) for url in urls]
    places = {(part.hostname or "", part.port or HTTPS) for part in parts}
    if len(places) > 1:
        raise UserError(
            f"the URLs name several servers: {', '.join(f'{host}:{port}' for host, port in sorted(places))}",
            remedy="give URLs of one server only; servers that it depends on can run in the lab too",
        )
    host, port = places.pop()
    paths = [request_path(part) for part in parts]
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise UserError(f"--url: {hidden(twice[0])} is given twice", remedy="give each URL once")
    return ProbedSite(host, port, tuple(paths))


def addresses_of(site: ProbedSite) -> list[str]:
    """Return the IP addresses of the server as this machine resolves them, at least one. Raises UserError."""
    try:
        addresses = socket.getaddrinfo(site.host, site.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UserError(
            f"{site.host} has no address here: {getattr(error, 'strerror', None) or error}",
            remedy="use a name that this machine can resolve, or the address with the name in --sni",
        ) from None
    return list(dict.fromkeys(str(place[0]) for *_, place in addresses))


def takes_a_connection(address: str, port: int) -> bool:
    """Return whether a program accepts TCP connections at the address and port."""
    try:
        socket.create_connection((address, port), _PATIENCE_S).close()
    except OSError:
        return False
    return True


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname, parts.scheme
        port = parts.port
    except ValueError as error:
        raise UserError(f"--url {hidden(url)}: {error}", remedy=_EXAMPLE) from None
    if "unix" in scheme or url.startswith("/"):
        raise UserError(
            f"--url {hidden(url)}: a Unix socket cannot be reached over a network",
            remedy="make the server listen on a TCP port (and UDP, for HTTP/3) of all addresses, and give that",
        )
    if scheme == "http":
        raise UserError(
            f"--url {hidden(url)}: h123 compares HTTP/2 and HTTP/3 as browsers use them, with TLS",
            remedy="turn on TLS (a self-signed certificate is enough), and write https://",
        )
    if scheme != "https" or not host:
        raise UserError(f"--url {hidden(url)}: this is not the address of a web server", remedy=_EXAMPLE)
    if parts.username is not None:
        raise UserError(
            f"--url {hidden(url)}: it cannot contain a user name and a password", remedy="--header 'Authorization: ...'"
        )
    if port == 0:
        raise UserError(
            f"--url {hidden(url)}: no server listens on port 0", remedy="give its HTTPS port, or none for 443"
        )
    return parts
