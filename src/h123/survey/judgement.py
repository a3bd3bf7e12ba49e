"""What a survey means for whoever asked: why nothing can be compared, what to do about it, what is worth knowing."""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from h123.errors import UserError
from h123.study import Served
from h123.study.workload import OK
from h123.survey.found import Answer, Certificate, Found, Spoken
from h123.survey.inquiry import ANSWER_NS, Inquired, Inquiry
from h123.units import format_bytes

TITLES = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_BEHIND = (502, 503, 504)
_SLOW_NS = 100_000_000
"""Of a first answer: no request takes so long in the lab for its way alone."""
_PASSWORD, _FORBIDDEN, _TOO_MANY = (401, 407), 403, 429


@dataclass(frozen=True)
class Known:
    """What can be measured of a server, and what to tell about it."""

    spoken: Sequence[Spoken]
    """What came of the protocols that are asked for."""
    remarks: Sequence[str]
    protocols: Sequence[str]
    """All that it speaks. Whichever is asked for, it is ready when it listens for all of them: what has its UDP port
    open may still be starting, for nobody can see whether datagrams are read."""


def judge(inquired: Inquired, inquiry: Inquiry, asked: Sequence[str] | None = None) -> Known:
    """Of a server that answers all requests over each protocol (`asked`: of these alone). Raises UserError, with what
    to do, where it does not."""
    found = inquired.found
    if found is None:
        raise _not_asked(inquired, inquiry)
    spoken = [each for each in found.spoken() if asked is None or each.protocol in asked]
    if missing := [name for name in asked or () if name not in [each.protocol for each in spoken]]:
        raise _not_spoken(found, missing[0])
    if not spoken:
        raise _silent(inquired, found, inquiry)
    for each in spoken:
        if each.distrust:
            raise _distrusted(each, inquiry)
    for each in spoken:
        for number, (path, answers) in enumerate(zip(inquiry.site.paths, each.answers, strict=False)):
            fault = _fault(answers[-1], path) or (_of_page(answers[-1]) if inquiry.page else None)
            if fault and not (inquiry.page and number and not answers[-1].failed):
                raise _of_request(each.protocol, path, *fault, inquired.log)
    return Known(spoken, list(_remarks(found, spoken, inquiry)), [each.protocol for each in found.spoken()])


def served(answers: Sequence[Answer], path: str) -> Served:
    """What a server has of a page, by all its answers for the path."""
    faults = [fault[0] for answer in answers if (fault := _fault(answer, path) or _of_page(answer))]
    return Served(frozenset(answer.bytes for answer in answers), faults[0] if faults else None)


def _of_page(answer: Answer) -> tuple[str, str] | None:
    if answer.status == OK:
        return None
    return f"was answered with {answer.status}", f"parts of a page are answered with {OK}"


def _not_asked(inquired: Inquired, inquiry: Inquiry) -> UserError:
    """The server died, or never listened where it was expected."""
    reason = inquired.reasons[0]["detail"] if inquired.reasons else "the survey ended without a result"
    told = reason.partition("; its last output: ")[0].removesuffix("; it printed nothing")
    why = told.replace("role ", "the ", 1) if told.startswith("role ") else told
    return UserError(f"{why}.{_printed(inquired.log)}", remedy=_to_be_asked(reason, inquiry))


def _printed(log: Sequence[str]) -> str:
    """The end of what the server printed."""
    if not log:
        return " It printed nothing"
    return " Its output ends with:" + "".join(f"\n  | {line[:160]}" for line in log)


def _to_be_asked(reason: str, inquiry: Inquiry) -> str:
    """What lets a server be asked, by why it could not."""
    port = inquiry.site.port
    if reason.startswith("role gateway"):
        return f"is it running? From this machine {inquiry.site.host} must answer on port {port}"
    if "ended with exit status 0" in reason:
        return "it ended, or went into the background: let it stay in the foreground, as nginx does with `daemon off;`"
    if " ended with " in reason:
        return "does it run by hand, from the same folder (--cwd), with the same variables (--env)? " + _ALONE
    if f"TCP 127.0.0.1:{port}" in reason or f"TCP [::1]:{port}" in reason:
        return "let it listen on all addresses (0.0.0.0 or ::): in the lab its clients come from another host"
    if "the Unix socket" in reason:
        return f"let it listen on a TCP port (and UDP, for HTTP/3), {port} or another that --url names{_LONGER}"
    if "it listens on" in reason:
        return f"name the port that it has in --url{_LONGER}"
    return f"start it by hand: does it open port {port}, stay in the foreground, and say what it waits for? {_ALONE}"


_ALONE = "In the lab it is alone: what it needs, such as a database, a script of yours has to start with it"
_LONGER = "; if it needs longer to open it, say what it prints then: --ready TEXT"


def _not_spoken(found: Found, missing: str) -> UserError:
    why = next(each.error for each in found.protocols if each.protocol == missing)
    return UserError(
        f"the server does not speak {TITLES[missing]}: {why}",
        remedy=_turn_on(missing),
    )


def _distrusted(each: Spoken, inquiry: Inquiry) -> UserError:
    """The library's words begin with its own name."""
    why = each.distrust.removeprefix("x509: ")
    return UserError(
        f"{TITLES[each.protocol]}: clients that trust {inquiry.authorities} refuse the server's certificate: {why}",
        remedy="give the authority that signed it (--cacert), and the name that it is for (in --url, or --sni); with "
        "--insecure instead it is not checked",
    )


def _turn_on(protocol: str) -> str:
    if protocol == "h3":
        return "let it listen on the UDP port of the same number too, or leave h3 out of --protocols"
    return f"turn it on in the server's configuration, or leave {protocol} out of --protocols"


def _silent(inquired: Inquired, found: Found, inquiry: Inquiry) -> UserError:
    port = inquiry.site.port
    if any(each.no_tls for each in found.protocols):
        return UserError(
            f"the server answers on port {port} without TLS",
            remedy="let it speak TLS there (a self-signed certificate will do): so do HTTP/2 and HTTP/3",
        )
    if any(each.only_tls_1_2 for each in found.protocols):
        return UserError(
            f"the server speaks no TLS 1.3 on port {port}",
            remedy="turn TLS 1.3 on: HTTP/3 has no other, and like is compared with like",
        )
    said = "; ".join(f"{TITLES[each.protocol]}: {each.error}" for each in found.protocols)
    return UserError(
        f"the server speaks no HTTP on port {port} ({said}).{_printed(inquired.log)}",
        remedy="name the port of its HTTPS in --url; if it listens there before it is ready, say what it prints then: "
        "--ready TEXT",
    )


def _fault(answer: Answer, path: str) -> tuple[str, str] | None:
    """What is wrong with an answer, and what to do."""
    seconds = ANSWER_NS // 10**9
    if answer.endless:
        what = f"did not end within {seconds} s ({format_bytes(answer.bytes)} came)"
        return what, "ask for something that ends: streams without an end have no latency"
    if answer.error:
        return f"failed: {answer.error}", f"try it by hand: does the server answer {path} there?"
    if answer.status in _PASSWORD:
        asks = f" ({answer.authenticate})" if answer.authenticate else ""
        return f"was refused with {answer.status}{asks}", "give what it asks for: --header 'Authorization: ...'"
    if answer.status == _FORBIDDEN:
        return (
            "was refused with 403",
            "it asks for more (--header), or it may not read what it serves: see its log",
        )
    if answer.status == _TOO_MANY:
        return "was answered with 429", "it limits how often it may be asked: lift that for this test, or ask another"
    if 300 <= answer.status < 400:
        where = answer.location or "nowhere"
        return f"leads elsewhere: {answer.status} to {where}", "name in --url what is to be measured itself"
    if answer.status in _BEHIND:
        return (
            f"was answered with {answer.status}",
            "what stands behind it does not answer: start that too, and first (--ready tcp:PORT waits for its port, "
            "--ready TEXT for a line that it prints)",
        )
    if not 200 <= answer.status < 300:
        wrong = f"the server's log says why. {_ALONE}" if answer.status >= 500 else "is the path right, and --method?"
        return f"was answered with {answer.status}", wrong
    return None


def _of_request(protocol: str, path: str, what: str, remedy: str, log: Sequence[str]) -> UserError:
    """Of a server that runs elsewhere nobody sees what it prints."""
    printed = f".{_printed(log)}" if log else ""
    return UserError(f"{TITLES[protocol]}: the request for {path} {what}{printed}", remedy=remedy)


def _remarks(found: Found, spoken: Sequence[Spoken], inquiry: Inquiry) -> Iterator[str]:
    answers = {
        path: [answer for each in spoken for answer in each.answers[number]]
        for number, path in enumerate(inquiry.site.paths)
    }
    if various := {path: sizes for path, had in answers.items() if len(sizes := {answer.bytes for answer in had}) > 1}:
        sizes = next(iter(various.values()))
        between = f"{format_bytes(min(sizes))} to {format_bytes(max(sizes))}"
        yield f"Answers to {_named(various)} differ in length ({between}), so none is held against a size"
    asked = any(header.name.lower() == "accept-encoding" for header in inquiry.headers)
    packed = {path: codes for path, had in answers.items() if (codes := {answer.encoding for answer in had} - {""})}
    if packed and not asked:
        how = ", ".join(sorted(set().union(*packed.values())))
        yield f"Answers to {_named(packed)} are compressed ({how}) though nobody asked for it"
    slow = [path for path, had in answers.items() if had and had[0].ns > _SLOW_NS and had[0].ns > 10 * had[-1].ns]
    if slow:
        first, later = (f"{answers[slow[0]][index].ns / 1e6:.0f} ms" for index in (0, -1))
        yield (
            f"The first answer to {_named(slow)} took {first}, a later one {later}: if what stands behind the server "
            "starts late, --ready tcp:PORT or --ready TEXT waits for it"
        )
    if found.certificate and not inquiry.authorities:
        yield from _of_certificate(found.certificate, inquiry)


def _named(paths: Collection[str]) -> str:
    """The first, and how many more."""
    first, *more = paths
    return f"{first} and {len(more)} more" if more else first


def _of_certificate(certificate: Certificate, inquiry: Inquiry) -> Iterator[str]:
    now = dt.datetime.now(dt.UTC).timestamp()
    if certificate.not_after_unix < now:
        day = dt.datetime.fromtimestamp(certificate.not_after_unix, dt.UTC).date()
        yield f"Its certificate expired on {day}: clients elsewhere refuse it (h123 does not check it)"
    elif certificate.not_before_unix > now:
        yield "Its certificate is not valid yet: clients elsewhere refuse it (h123 does not check it)"
    if not certificate.fits:
        names = ", ".join(certificate.names) or certificate.subject
        yield f"Its certificate is for {names}, not for {inquiry.site.host} (h123 does not check it)"


def found_words(known: Known, inquiry: Inquiry) -> list[str]:
    """What was found, in a few lines."""
    titles = [TITLES[each.protocol] for each in known.spoken]
    lines = [f"It speaks {' and '.join([', '.join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)}"]
    for number, path in enumerate(inquiry.site.paths[: 1 if inquiry.page else None]):
        first = known.spoken[0].answers[number][0]
        lines.append(f"{inquiry.method} {path}: {first.status}, {format_bytes(first.bytes)}, {first.ns / 1e6:.1f} ms")
    if inquiry.authorities:
        lines.append(f"Its certificate is trusted by {inquiry.authorities}")
    return lines + [f"Note: {remark}" for remark in known.remarks]
