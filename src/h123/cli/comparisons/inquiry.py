"""Translates the arguments of `h123 compare` into the requests of its survey, and into the load."""

import dataclasses
import re
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from cryptography import x509
from pydantic import ValidationError

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.textfile import check_file, read_bytes
from h123.base.strict import describe
from h123.base.terminal.redaction import hidden
from h123.cli.comparisons.arguments import CompareArguments
from h123.probe import Inquiry, OfferedLoad, ProbedSite, site_of
from h123.study import METRICS, Condition, Header, RecordedPage

_LOAD = re.compile(r"([1-9][0-9]{0,3})(?:x([1-9][0-9]{0,5}))?")


def inquiry_of(arguments: CompareArguments, page: RecordedPage | None) -> Inquiry:
    method = arguments.method or ("POST" if arguments.data else "GET")
    if method not in ("GET", "POST"):
        raise UserError(f"--method {method}: {choose(method, ['GET', 'POST'])}")
    if page and method == "POST":
        raise UserError("a page is loaded with GET: --har cannot be combined with --method POST or --data")
    if (method == "POST") != (arguments.data is not None):
        raise UserError("--method POST and --data FILE are only valid together", remedy="--method POST --data FILE")
    if arguments.data:
        check_file(arguments.data, sizes.UPLOAD)
        if not arguments.data.stat().st_size:
            raise UserError(f"--data {arguments.data}: it is empty", remedy="name a file with the body to send")
    headers = tuple(_header(text) for text in arguments.headers)
    if arguments.cacert and arguments.insecure:
        raise UserError("--cacert and --insecure cannot be combined: --insecure turns off the check of the certificate")
    if arguments.cacert:
        _check_authorities(arguments.cacert)
    return Inquiry(
        _place(arguments, page),
        cast(Literal["GET", "POST"], method),
        headers,
        arguments.data,
        authorities=arguments.cacert or _trusted_here(arguments),
        page=page is not None,
    )


def _place(arguments: CompareArguments, page: RecordedPage | None) -> ProbedSite:
    """Return the server's address and the paths to request."""
    if page is None:
        return site_of(arguments.urls)
    if len(arguments.urls) > 1:
        raise UserError("with --har, give a single --url, the address of the server; the paths come from the recording")
    if not arguments.urls and not page.address.startswith("https://"):
        raise UserError(
            f"--har: the page was recorded from {page.address[:100]}",
            remedy="name your server: --url https://localhost:8443/",
        )
    site = site_of(arguments.urls or [page.address])
    if arguments.urls and site.paths != ("/",):
        raise UserError(
            f"--url {hidden(arguments.urls[0])}: with --har, it gives only the address of the server",
            remedy="leave out its path",
        )
    return dataclasses.replace(site, paths=page.paths)


def _trusted_here(arguments: CompareArguments) -> Path | None:
    """Return this machine's file of certificate authorities, or None if the server's certificate is not checked with
    it."""
    if arguments.servers or arguments.insecure:
        return None
    path = ssl.get_default_verify_paths().cafile
    if path is None:
        raise UserError(
            "this machine has no certificates of authorities, so the server's certificate cannot be checked",
            remedy="--cacert FILE, or --insecure; on Debian: apt install ca-certificates",
        )
    return Path(path)


def _check_authorities(path: Path) -> None:
    try:
        x509.load_pem_x509_certificates(read_bytes(path, sizes.AUTHORITIES))
    except ValueError:
        raise UserError(
            f"--cacert {path}: there is no certificate in it",
            remedy="name a PEM file of certificates, as for curl --cacert",
        ) from None


def _header(text: str) -> Header:
    name, colon, value = text.partition(":")
    if not colon:  # the value may be a password, so do not print it
        raise UserError(
            "--header: a header has no colon", remedy="write it as 'NAME: VALUE', as in 'accept: text/html'"
        )
    try:
        return Header(name=name.strip(), value=value.strip())
    except ValidationError as invalid:
        fault = describe({**invalid.errors()[0], "input": ""}, "")
        raise UserError(f"--header {name.strip()[:100]!r}: {fault}") from None


def load_of(arguments: CompareArguments, conditions: Sequence[Condition], page: bool) -> OfferedLoad:
    text = arguments.load or ("1" if page else "4")
    match = _LOAD.fullmatch(text)
    if not match:
        raise UserError(f"--load {text!r}: write USERS or USERSxREQUESTS, such as 4 or 4x25")
    if arguments.rate is not None and page:
        raise UserError("page visits follow one another, so --rate cannot be combined with --har")
    return OfferedLoad(
        int(match[1]),
        int(match[2]) if match[2] else None,
        rate=arguments.rate,
        least=max((METRICS[condition.metric].needs.requests for condition in conditions), default=0),
        virtual=arguments.clock == "virtual",
    )
