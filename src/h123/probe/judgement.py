"""Explains a survey to the user: why nothing can be compared, what to do about it, and what else is worth knowing."""

import datetime as dt
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from h123.base.errors import UserError
from h123.base.terminal.redaction import hidden
from h123.base.units import format_bytes
from h123.catalogue import QUIC
from h123.probe.findings import Answer, PresentedCertificate, ProbeFindings, ProtocolFindings
from h123.probe.inquiry import ANSWER_NS, ONLY_IPV6, Inquiry, InquiryResult
from h123.study import RecordedAnswer
from h123.study.workload import BEYOND_OK, OK

TITLES = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_SLOW_NS = 100_000_000
"""The time in ns above which a first response is worth a remark. In the lab, the network is never so slow."""


@dataclass(frozen=True)
class ServerAbilities:
    """The protocols and ports over which h123 can measure a server, with remarks."""

    spoken: Sequence[ProtocolFindings]
    remarks: Sequence[str]
    protocols: Sequence[str]
    """All protocols that the server speaks. It is ready when it listens for all of them, even if the study uses only
    some: an open UDP port does not show whether the program already reads its datagrams."""
    http3_port: int | None = None
    """The server's HTTP/3 port, if it is not the requested one."""


def judge(result: InquiryResult, inquiry: Inquiry, protocols: Sequence[str] | None = None) -> ServerAbilities:
    """Return the abilities of a server over the protocols that it speaks, or over those in `protocols`.

    Raises UserError, which says what to do, if the server cannot be reached, lacks a protocol in `protocols`, or does
    not answer.
    """
    findings = result.findings
    if findings is None:
        raise _unanswered_probe(result, inquiry)
    spoken = [each for each in findings.spoken() if protocols is None or each.protocol in protocols]
    if missing := [name for name in protocols or () if name not in [each.protocol for each in spoken]]:
        raise _not_spoken(findings, missing[0], inquiry)
    if not spoken:
        raise _silent(result, findings, inquiry)
    for each in spoken:
        if each.distrust:
            raise _distrusted(each, inquiry)
    for each in spoken:
        for number, (path, answers) in enumerate(zip(inquiry.site.paths, each.answers, strict=False)):
            fault = _fault(answers[-1], path, inquiry) or (_of_page(answers[-1]) if inquiry.page else None)
            if fault and not (inquiry.page and number and not answers[-1].failed):
                log = result.log if _may_explain(answers[-1], result.log) else []
                raise _of_request(each, path, *fault, log, inquiry)
    remarks = list(_remarks(result, findings, spoken, inquiry))
    return ServerAbilities(spoken, remarks, [each.protocol for each in findings.spoken()], result.http3_port)


def served(answers: Sequence[Answer], path: str, inquiry: Inquiry) -> RecordedAnswer:
    """Return how the server serves one resource of a page, based on all of its responses for the path."""
    faults = [fault[0] for answer in answers if (fault := _fault(answer, path, inquiry) or _of_page(answer))]
    return RecordedAnswer(frozenset(answer.bytes for answer in answers), faults[0] if faults else None)


def _of_page(answer: Answer) -> tuple[str, str] | None:
    if OK <= answer.status < BEYOND_OK:
        return None
    return f"was answered with {answer.status}", f"parts of a page are answered with {OK} to {BEYOND_OK - 1}"


def _unanswered_probe(result: InquiryResult, inquiry: Inquiry) -> UserError:
    """Return the error about a server that ended, or never listened where it was expected to."""
    reason = result.reasons[0]["detail"] if result.reasons else "the survey ended without a result"
    detail = reason.partition("; its last output: ")[0].removesuffix("; it printed nothing")
    if detail.startswith("role gateway"):
        return _unreached(result.log, inquiry)
    why = detail.replace("role ", "the ", 1) if detail.startswith("role ") else detail
    return UserError(f"{why}.{_printed(result.log)}", remedy=_remedy(reason, inquiry, result.log))


def _unreached(log: Sequence[str], inquiry: Inquiry) -> UserError:
    """Return the error about a server that runs elsewhere, with the reason why the gateway cannot reach it."""
    site = inquiry.site
    host = f"[{site.host}]" if ":" in site.host else site.host
    why = log[-1].partition("h123-lab: ")[2] or log[-1] if log else "the gateway to it ended without a message"
    return UserError(
        f"the server at {host}:{site.port} cannot be reached: {why[:300]}",
        remedy="start it, or correct the host and the port in --url; this machine must be able to reach it there",
    )


def _printed(log: Sequence[str], *, answered: bool = False) -> str:
    """Return the end of the server's output. If the server `answered` over one protocol, complaints about TLS in this
    output concern the other protocols."""
    if not log:
        return " It printed nothing"
    printed = " Its output ends with:" + "".join(f"\n  | {line[:160]}" for line in log)
    if answered and any(_ALERT.search(line) for line in log):
        return (
            f"{printed}\n  (h123 also tried protocols that the server may not speak, which can cause complaints about "
            "TLS)"
        )
    return printed


_ALERT = re.compile(r"\balert\b|_alert_|handshake|bad.?certificate|sslerror|tlsv?1", re.IGNORECASE)
"""Words that servers and their libraries log when a client aborts a handshake."""


def _may_explain(answer: Answer, log: Sequence[str]) -> bool:
    """Return whether the server's output may explain a bad response. Most statuses explain themselves."""
    return bool(answer.error) or answer.status == _FORBIDDEN or answer.status >= _FAULT_OF_SERVER or _misses_others(log)


_FORBIDDEN, _FAULT_OF_SERVER = 403, 500


def _remedy(reason: str, inquiry: Inquiry, log: Sequence[str]) -> str:
    """Explain how to make a server reachable, based on the reason why it was not."""
    port = inquiry.site.port
    if _misses_others(log):
        return _isolated(inquiry)
    if "ended with exit status 0" in reason:
        return "it ended, or went into the background: keep it in the foreground, as `daemon off;` does for nginx"
    if " ended with " in reason:
        return "check that it runs by hand, in the same folder (--cwd) with the same variables (--env). " + _ALONE
    if ONLY_IPV6 in reason:
        return (
            "it listens only on IPv6, but the lab's clients use IPv4: make it listen on both (also 0.0.0.0, or :: "
            f"without `ipv6only`), or start it yourself, leave out --server, and write --url https://[::1]:{port}/"
        )
    if f"TCP 127.0.0.1:{port}" in reason or f"TCP [::1]:{port}" in reason:
        return "make it listen on all addresses (0.0.0.0 or ::): in the lab, clients connect from a different host"
    if "the Unix socket" in reason:
        return f"make it listen on a TCP port (and UDP, for HTTP/3): {port}, or the port in --url{_LONGER}"
    if "it listens on" in reason:
        return f"give its port in --url{_LONGER}"
    return f"start it by hand, and check that it opens port {port} and stays in the foreground. {_ALONE}"


def _misses_others(log: Sequence[str]) -> bool:
    """Return whether the server's output reports that it cannot reach another server."""
    return any(_UNREACHABLE.search(line) for line in log)


def _isolated(inquiry: Inquiry) -> str:
    site = inquiry.site
    host = f"[{site.host}]" if ":" in site.host else site.host
    return (
        "in the lab a server cannot reach anything outside, not even a database on this machine: give --server a "
        "script that starts what it needs, or start everything yourself and leave out --server: "
        f"--url https://{host}:{site.port}/ measures it there"
    )


_UNREACHABLE = re.compile(
    r"ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|connection refused|name or service not known"
    r"|name resolution|no such host|could not translate host name|getaddrinfo|nodename nor servname|unknown host"
    r"|network is unreachable|no route to host|can't connect to .*server|could not connect to server",
    re.IGNORECASE,
)
"""Words with which language runtimes and database clients report that they cannot reach another server."""
_ALONE = "In the lab it runs alone: a script must also start what it needs, such as a database"
_LONGER = "; if it opens the port late, give the text that it prints then: --ready TEXT"


def _not_spoken(findings: ProbeFindings, missing: str, inquiry: Inquiry) -> UserError:
    unable = findings.of(missing)
    remedy = _of_handshake([unable], inquiry) or _turn_on(missing)
    return UserError(f"the server does not speak {TITLES[missing]}: {unable.error}", remedy=remedy)


def _of_handshake(unable: Sequence[ProtocolFindings], inquiry: Inquiry) -> str | None:
    """Give advice about a failed TLS handshake, based on the server's alert. None if the alert does not help."""
    errors = " ".join(each.error for each in unable)
    if any(each.asks_for_certificate for each in unable):
        return _NO_CERTIFICATE
    if "unrecognized name" in errors or "internal error" in errors:
        return (
            f"it may not know the name {inquiry.site.host}: give one that it serves in --url, or only for TLS in --sni"
        )
    if "handshake failure" in errors:
        return "h123's clients offer TLS 1.3 only with the key exchange X25519: make the server accept it"
    return None


_NO_CERTIFICATE = (
    "h123's clients have no certificate: make the server request none in this test (nginx: `ssl_verify_client "
    "off`, Node.js: `requestCert: false`, Go: `tls.NoClientCert`)"
)


def _distrusted(each: ProtocolFindings, inquiry: Inquiry) -> UserError:
    """Return the error about a distrusted certificate, in the TLS library's words but without their prefix `x509`."""
    why = each.distrust.removeprefix("x509: ")
    return UserError(
        f"{TITLES[each.protocol]}: clients that trust {inquiry.authorities} refuse the server's certificate: {why}",
        remedy="give the authority that signed it (--cacert), and the name that it is for (in --url, or --sni); or "
        "skip the check with --insecure",
    )


def _turn_on(protocol: str) -> str:
    if protocol == "h3":
        return "make it listen on the UDP port with the same number too, or leave h3 out of --protocols"
    return f"turn it on in the server's configuration, or leave {protocol} out of --protocols"


def _silent(result: InquiryResult, findings: ProbeFindings, inquiry: Inquiry) -> UserError:
    port = inquiry.site.port
    if any(each.no_tls for each in findings.protocols):
        return UserError(
            f"the server answers on port {port} without TLS",
            remedy="turn on TLS there (a self-signed certificate is enough), because HTTP/2 and HTTP/3 use it",
        )
    if any(each.only_tls_1_2 for each in findings.protocols):
        return UserError(
            f"the server does not speak TLS 1.3 on port {port}",
            remedy="turn TLS 1.3 on: HTTP/3 requires it, and all protocols are compared under the same TLS",
        )
    errors = "; ".join(f"{TITLES[each.protocol]}: {each.error}" for each in findings.protocols)
    return UserError(
        f"the server does not speak HTTP on port {port} ({errors}).{_printed(result.log)}",
        remedy=_of_handshake(findings.protocols, inquiry)
        or "give its HTTPS port in --url; if it listens there before it is ready, give the text that it prints then: "
        "--ready TEXT",
    )


def _fault(answer: Answer, path: str, inquiry: Inquiry) -> tuple[str, str] | None:
    """Describe what is wrong with a response, and what to do about it. Return None if nothing is wrong."""
    seconds = ANSWER_NS // 10**9
    if answer.endless:
        what = f"did not end within {seconds} s ({format_bytes(answer.bytes)} came)"
        return what, "request something that ends: an endless stream has no latency"
    if answer.error:
        return f"failed: {answer.error}", f"check by hand that the server answers {hidden(path)} there"
    if OK <= answer.status < BEYOND_OK:
        return None
    what = f"was answered with {answer.status}"
    match answer.status:
        case 401 | 407:
            asks = f" ({answer.authenticate})" if answer.authenticate else ""
            return f"was refused with {answer.status}{asks}", _give(answer)
        case 403:
            return (
                "was refused with 403",
                "it may require more (--header 'Cookie: ...' or a key, or a different host name in --url), or be "
                "unable to read its own files: see its log",
            )
        case 421:
            return what, f"it does not serve the host {inquiry.site.host}: give one that it serves in --url"
        case 429:
            return (
                what,
                "it limits the rate of requests, so h123 would measure that limit: lift it for this test, or use a "
                "different server",
            )
        case 304:
            return what, "leave out the --header that makes it conditional (If-None-Match, If-Modified-Since)"
        case 502 | 504:
            return what, f"the server behind it does not answer: {_FIRST}"
        case 503:
            return (
                what,
                "it is overloaded or in maintenance, limits its rate (as nginx's limit_req does: lift that for this "
                f"test), or the server behind it does not answer: {_FIRST}",
            )
        case status if 300 <= status < 400:
            return f"leads elsewhere: {status} to {answer.location or 'nowhere'}", _follow(answer, path, inquiry)
        case status if status >= 500:
            return what, f"the server's log says why. {_ALONE}"
    return what, "check the path and --method"


_FIRST = "start that one first (--ready tcp:PORT waits for its port, --ready TEXT for a line that it prints)"


def _give(answer: Answer) -> str:
    scheme = answer.authenticate.partition(" ")[0].lower()
    how = {"basic": " with Basic and USER:PASSWORD in base64", "bearer": " with Bearer and a token"}.get(scheme, "")
    return f"give the credentials that it requires: --header 'Authorization: ...'{how}"


def _follow(answer: Answer, path: str, inquiry: Inquiry) -> str:
    """Give advice about a redirect, including its target in the form in which the user should give it."""
    here = f"https://{inquiry.site.host}:{inquiry.site.port}"
    to = urljoin(here + path, answer.location)
    if not answer.location or not to.startswith("https://"):
        return "h123 does not follow redirects: give the final URL in --url"
    near = "" if to.startswith(f"{here}/") else ", if that is your server too"
    return f"h123 does not follow redirects: give the final URL, --url {to}{near}"


def _of_request(
    each: ProtocolFindings, path: str, what: str, remedy: str, log: Sequence[str], inquiry: Inquiry
) -> UserError:
    """Return the error about a request. `log` is the server's output, or empty if the server runs elsewhere."""
    printed = f".{_printed(log, answered=True)}" if log else ""
    request = f"{TITLES[each.protocol]}: the request for {hidden(path)} {what}"
    if each.asks_for_certificate and not any(status in what for status in _OTHER_THAN_WHO):
        return UserError(f"{request}: the server requires a client certificate{printed}", remedy=_NO_CERTIFICATE)
    if _misses_others(log):
        return UserError(f"{request}{printed}", remedy=_isolated(inquiry))
    return UserError(f"{request}{printed}", remedy=remedy)


_OTHER_THAN_WHO = ("did not end", "leads elsewhere", "with 404", "with 429", "with 5")
"""Words in messages about faults that do not depend on who sends the request."""


def _remarks(
    result: InquiryResult, findings: ProbeFindings, spoken: Sequence[ProtocolFindings], inquiry: Inquiry
) -> Iterator[str]:
    yield from _of_http3(result, findings, inquiry)
    for each in spoken:
        if 1 < sum(map(len, each.answers)) <= each.connections:
            title = TITLES[each.protocol]
            yield f"Over {title} it closes each connection after one response, so every request needs a handshake"
    if any(each.asks_for_certificate for each in spoken):
        yield "It requests a certificate from its clients, but also answers those without one"
    answers = {
        path: [answer for each in spoken for answer in each.answers[number]]
        for number, path in enumerate(inquiry.site.paths)
    }
    if various := {path: sizes for path, had in answers.items() if len(sizes := {answer.bytes for answer in had}) > 1}:
        sizes = next(iter(various.values()))
        between = f"{format_bytes(min(sizes))} to {format_bytes(max(sizes))}"
        yield f"Responses to {_path_names(various)} differ in length ({between}), so h123 does not check their sizes"
    protocols = any(header.name.lower() == "accept-encoding" for header in inquiry.headers)
    packed = {path: codes for path, had in answers.items() if (codes := {answer.encoding for answer in had} - {""})}
    if packed and not protocols:
        how = ", ".join(sorted(set().union(*packed.values())))
        yield f"Responses to {_path_names(packed)} are compressed ({how}), which no request asked for"
    slow = [path for path, had in answers.items() if had and had[0].ns > _SLOW_NS and had[0].ns > 10 * had[-1].ns]
    if slow:
        first, later = (f"{answers[slow[0]][index].ns / 1e6:.0f} ms" for index in (0, -1))
        yield (
            f"The first response to {_path_names(slow)} took {first}, a later one {later}: if something "
            "behind the server starts late, --ready tcp:PORT or --ready TEXT waits for it"
        )
    if findings.certificate and not inquiry.authorities:
        yield from _of_certificate(findings.certificate, inquiry)


def _of_http3(result: InquiryResult, findings: ProbeFindings, inquiry: Inquiry) -> Iterator[str]:
    """Yield remarks if the server announces HTTP/3 that the study does not measure, or measures elsewhere."""
    site, announced = inquiry.site, findings.announced()
    if result.http3_port:
        yield f"Its HTTP/3 is on UDP port {result.http3_port}, as its Alt-Svc says, and is measured there"
    elif announced and findings.of(QUIC).error:
        host, port = announced
        if host not in ("", site.host):
            yield f"Its Alt-Svc announces HTTP/3 on a different host: to measure that, use --url https://{host}:{port}/"
        else:
            yield f"Its Alt-Svc announces HTTP/3 on UDP port {port}, where nothing answers: {findings.of(QUIC).error}"


def _path_names(paths: Collection[str]) -> str:
    first, *more = map(hidden, paths)
    return f"{first} and {len(more)} more" if more else first


def _of_certificate(certificate: PresentedCertificate, inquiry: Inquiry) -> Iterator[str]:
    now = dt.datetime.now(dt.UTC).timestamp()
    if certificate.not_after_unix < now:
        day = dt.datetime.fromtimestamp(certificate.not_after_unix, dt.UTC).date()
        yield f"Its certificate expired on {day}: clients elsewhere refuse it (h123 does not check it)"
    elif certificate.not_before_unix > now:
        yield "Its certificate is not valid yet: clients elsewhere refuse it (h123 does not check it)"
    if not certificate.fits and certificate.names:
        names = ", ".join(certificate.names)
        yield f"Its certificate is for {names}, not for {inquiry.site.host} (h123 does not check it)"
    elif not certificate.fits:
        yield (
            f"Its certificate ({certificate.subject}) has no subjectAltName, so it is for no host, {inquiry.site.host} "
            "included: clients elsewhere refuse it (h123 does not check it)"
        )


def abilities_words(abilities: ServerAbilities, inquiry: Inquiry) -> list[str]:
    """Describe the abilities in a few lines."""
    titles = [TITLES[each.protocol] for each in abilities.spoken]
    lines = [f"It speaks {' and '.join([', '.join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)}"]
    for number, path in enumerate(inquiry.site.paths[: 1 if inquiry.page else None]):
        first = abilities.spoken[0].answers[number][0]
        lines.append(
            f"{inquiry.method} {hidden(path)}: {first.status}, {format_bytes(first.bytes)}, {first.ns / 1e6:.1f} ms"
        )
    if inquiry.authorities:
        lines.append(f"Its certificate is trusted by {inquiry.authorities}")
    return lines + [f"Note: {remark}" for remark in abilities.remarks]
