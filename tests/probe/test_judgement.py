"""What a survey means: each thing that keeps a server from being compared is a sentence that says what to do."""

import time
from pathlib import Path
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.probe import Answer, Inquiry, ProbedSite, ProbeFindings, abilities_words, judge
from h123.probe.inquiry import InquiryResult

INQUIRY = Inquiry(ProbedSite("localhost", 8443, ("/orders",)))
GOOD: dict[str, Any] = {"status": 200, "bytes": 5000, "sha256": "", "endless": False, "error": "", "ns": 1_000_000}
GOOD |= {"location": "", "encoding": "", "authenticate": "", "alt_svc": ""}
DAY = 86_400


def spoken(protocol: str, unable: str = "", **answer: Any) -> dict[str, Any]:
    flaws = {"no_tls": False, "only_tls_1_2": False, "distrust": answer.pop("distrust", "")}
    flaws |= {"asks_for_certificate": answer.pop("asks", False), "connections": answer.pop("connections", 1)}
    answers = [] if unable else [[{**GOOD, **answer}] * 3]
    return {"protocol": protocol, "error": unable, **flaws, "answers": answers}


def inquired(*protocols: dict[str, Any], **certificate: Any) -> InquiryResult:
    now = int(time.time())
    described = {"subject": "CN=localhost", "issuer": "CN=localhost", "self_signed": True, "names": ["localhost"]}
    described |= {"fits": True, "not_before_unix": now - DAY, "not_after_unix": now + DAY, **certificate}
    found = {"h123": "found/1", "protocols": list(protocols), "certificate": described}
    return InquiryResult(ProbeFindings.model_validate(found, strict=True), [])


def test_a_good_server_is_described() -> None:
    known = judge(inquired(spoken("h1"), spoken("h2"), spoken("h3", "timeout")), INQUIRY)
    assert [each.protocol for each in known.spoken] == ["h1", "h2"]
    assert abilities_words(known, INQUIRY) == ["It speaks HTTP/1.1 and HTTP/2", "GET /orders: 200, 5 kB, 1.0 ms"]


@pytest.mark.parametrize(
    ("answer", "said", "remedy"),
    [
        ({"status": 500}, "was answered with 500", "log"),
        ({"status": 404}, "was answered with 404", "path"),
        ({"status": 302, "location": "https://example.org/"}, "leads elsewhere: 302 to https://example.org/", "--url"),
        ({"status": 401, "authenticate": "Basic"}, r"refused with 401 \(Basic\)", "Authorization"),
        ({"endless": True, "bytes": 7000}, r"did not end within 3 s \(7 kB came\)", "ends"),
        ({"error": "EOF"}, "failed: EOF", "by hand"),
        ({"status": 401, "authenticate": "Bearer"}, r"401 \(Bearer\)", "with Bearer and a token"),
        ({"status": 403}, "refused with 403", "--header 'Cookie: ...'"),
        ({"status": 302, "location": "/login?next=/orders"}, "302", "--url https://localhost:8443/login?next=/orders"),
        (
            {"status": 307, "location": "https://example.org/x"},
            "307",
            "https://example.org/x, if that is your server too",
        ),
        ({"status": 301, "location": "http://example.org/"}, "301", "give the final URL in --url"),
        ({"status": 304}, "with 304", "If-None-Match"),
        ({"status": 421}, "with 421", "does not serve the host localhost"),
        ({"status": 429}, "with 429", "h123 would measure that limit"),
        ({"status": 502}, "with 502", "the server behind it does not answer"),
        ({"status": 503}, "with 503", "limits its rate"),
        (
            {"status": 400, "asks": True},
            "with 400: the server requires a client certificate",
            "ssl_verify_client off",
        ),
        (
            {"error": "tls: certificate required", "asks": True},
            "requires a client certificate",
            "requestCert: false",
        ),
        ({"status": 404, "asks": True}, "with 404", "path"),
    ],
)
def test_an_answer_that_cannot_be_measured_is_refused(answer: dict[str, Any], said: str, remedy: str) -> None:
    with pytest.raises(UserError, match=f"HTTP/2: the request for /orders .*{said}") as caught:
        judge(inquired(spoken("h1"), spoken("h2", **answer)), INQUIRY)
    assert remedy in (caught.value.remedy or "")


def test_a_protocol_that_was_asked_for_and_is_not_there() -> None:
    with pytest.raises(UserError, match="does not speak HTTP/3: no answer") as caught:
        judge(inquired(spoken("h2"), spoken("h3", "no answer")), INQUIRY, ["h2", "h3"])
    assert "UDP port" in (caught.value.remedy or "")
    known = judge(inquired(spoken("h2"), spoken("h3", status=500)), INQUIRY, ["h2"])
    assert [each.protocol for each in known.spoken] == ["h2"]
    assert list(known.protocols) == ["h2", "h3"]  # what it is to be ready for


@pytest.mark.parametrize(
    ("fault", "said"),
    [("no_tls", "without TLS"), ("only_tls_1_2", "not speak TLS 1.3"), ("", r"not speak HTTP on port 8443 \(.*EOF")],
)
def test_a_server_that_speaks_nothing_of_it(fault: str, said: str) -> None:
    silent = spoken("h1", "EOF")
    with pytest.raises(UserError, match=said):
        judge(inquired({**silent, **({fault: True} if fault else {})}), INQUIRY)


def test_a_certificate_that_is_checked() -> None:
    """Then nothing is left to remark about it; unlike one that nobody checks."""
    asked = Inquiry(INQUIRY.site, authorities=Path("ca.pem"))
    expired = {"not_after_unix": 0, "fits": False}
    with pytest.raises(UserError, match=r"HTTP/3: clients that trust ca\.pem refuse .* signed by unknown") as caught:
        judge(inquired(spoken("h2"), spoken("h3", distrust="x509: certificate signed by unknown authority")), asked)
    assert "skip the check with --insecure" in (caught.value.remedy or "")
    good = inquired(spoken("h2"), spoken("h3"), **expired)
    assert abilities_words(judge(good, asked), asked)[-1] == "Its certificate is trusted by ca.pem"
    assert sum("h123 does not check it" in line for line in abilities_words(judge(good, INQUIRY), INQUIRY)) == 2


@pytest.mark.parametrize(
    ("detail", "said", "remedy"),
    [
        ("role server ended with exit status 1; its last output: no such file", "the server ended with", "by hand"),
        ("role server ended with exit status 0; it printed nothing", "exit status 0", "in the foreground"),
        ("role server was not ready; it listens on TCP 127.0.0.1:8443", "it listens on TCP", "on all addresses"),
        ("role server was not ready; it listens on the Unix socket a.sock", "a.sock", "on a TCP port"),
        ("role server was not ready; it listens on TCP 0.0.0.0:9000", "0.0.0.0:9000", "--ready TEXT"),
        ("role server was not ready after 30.0 s", "not ready after 30.0 s", "it runs alone"),
    ],
)
def test_a_server_that_could_not_be_asked(detail: str, said: str, remedy: str) -> None:
    """What the lab says of it is told in plain words, and its output once."""
    with pytest.raises(UserError) as caught:
        judge(InquiryResult(None, [{"code": "not-ready", "detail": detail}], ["no such file"]), INQUIRY)
    told = str(caught.value)
    assert said in told
    assert told.count("no such file") == 1
    assert told.endswith("Its output ends with:\n  | no such file")
    assert remedy in (caught.value.remedy or "")


def test_a_survey_without_a_result() -> None:
    with pytest.raises(UserError, match=r"without a result\. It printed nothing"):
        judge(InquiryResult(None, []), INQUIRY)


def test_what_a_server_printed_is_told_beside_a_bad_answer() -> None:
    answered = inquired(spoken("h1", status=500))
    with pytest.raises(UserError, match=r"with 500\. Its output ends with:\n  \| no database"):
        judge(InquiryResult(answered.findings, [], ["no database"]), INQUIRY)


def test_what_a_server_printed_stays_out_where_the_answer_says_what_is_wrong() -> None:
    for status in (302, 401, 404, 421, 429):
        with pytest.raises(UserError) as caught:
            judge(
                InquiryResult(inquired(spoken("h1", status=status)).findings, [], ["ssl: SSLV3_ALERT_BAD_CERTIFICATE"]),
                INQUIRY,
            )
        assert "ALERT" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("ssl.SSLError: [SSL: SSLV3_ALERT_BAD_CERTIFICATE] ssl/tls alert bad certificate (_ssl.c:2580)", True),
        ("http: TLS handshake error from 10.0.0.1:4000: remote error: tls: bad certificate", True),
        ("javax.net.ssl.SSLHandshakeException: Received fatal alert: bad_certificate", True),
        ("no database", False),
    ],
)
def test_complaints_about_handshakes_are_said_to_be_of_the_survey(line: str, *, ours: bool) -> None:
    with pytest.raises(UserError) as caught:
        judge(InquiryResult(inquired(spoken("h1", status=500), spoken("h2", "no ALPN")).findings, [], [line]), INQUIRY)
    assert line in str(caught.value)
    assert ("can cause complaints about TLS" in str(caught.value)) is ours


@pytest.mark.parametrize("host", ["localhost", "::1"])
def test_a_server_elsewhere_that_nobody_has_started(host: str) -> None:
    inquiry = Inquiry(ProbedSite(host, 8443, ("/orders",)))
    line = "h123-lab: nothing listens at 127.0.0.1:8443, over TCP or UDP"
    reason = {"code": "not-ready", "detail": f"role gateway ended with exit status 2; its last output: {line}"}
    with pytest.raises(UserError) as caught:
        judge(InquiryResult(None, [reason], [line]), inquiry)  # type: ignore[list-item]
    place = "[::1]:8443" if ":" in host else "localhost:8443"
    assert str(caught.value) == (
        f"the server at {place} cannot be reached: nothing listens at 127.0.0.1:8443, over TCP or UDP"
    )
    assert (caught.value.remedy or "").startswith("start it, or correct the host and the port in --url")


def test_what_is_worth_knowing_is_told() -> None:
    answers = inquired(spoken("h1", encoding="gzip"), spoken("h2", bytes=6000), fits=False, not_after_unix=0)
    remarks = judge(answers, INQUIRY).remarks
    assert remarks == [
        "Responses to /orders differ in length (5 kB to 6 kB), so h123 does not check their sizes",
        "Responses to /orders are compressed (gzip), which no request asked for",
        "Its certificate expired on 1970-01-01: clients elsewhere refuse it (h123 does not check it)",
        "Its certificate is for localhost, not for localhost (h123 does not check it)",
    ]


def test_a_server_that_is_not_ready_for_its_first_request_is_told_of() -> None:
    late = spoken("h1")
    late["answers"][0][0] = {**GOOD, "ns": 254_000_000}
    [remark] = judge(inquired(late), INQUIRY).remarks
    assert remark.startswith("The first response to /orders took 254 ms, a later one 1 ms: ")
    assert "--ready tcp:PORT" in remark
    assert judge(inquired(spoken("h1", ns=254_000_000)), INQUIRY).remarks == []


def test_an_answer_is_read_strictly() -> None:
    assert Answer.model_validate(GOOD, strict=True).failed is False
    assert Answer.model_validate({**GOOD, "endless": True}, strict=True).failed is True


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206])
def test_any_success_is_one(status: int) -> None:
    assert judge(inquired(spoken("h2", status=status)), INQUIRY).remarks == []


@pytest.mark.parametrize(
    ("alert", "remedy"),
    [
        ("remote error: tls: unrecognized name", "--sni"),
        ("remote error: tls: internal error", "--sni"),
        ("remote error: tls: handshake failure", "X25519"),
        ("EOF", "--ready TEXT"),
    ],
)
def test_what_an_alert_says(alert: str, remedy: str) -> None:
    for asked in (None, ["h2"]):
        with pytest.raises(UserError) as caught:
            judge(inquired(spoken("h1", alert), spoken("h2", alert)), INQUIRY, asked)
        assert remedy in (caught.value.remedy or "") or asked is not None


@pytest.mark.parametrize(
    ("header", "announced", "said"),
    [
        ('h3=":8444"; ma=86400', ("", 8444), "on UDP port 8444, where nothing answers: timeout"),
        ('h3-29=":1", h3="localhost:8444"', ("localhost", 8444), "on UDP port 8444, where nothing answers"),
        ('h2="alt:443",h3="alt.example.org:443"; ma=1', ("alt.example.org", 443), "--url https://alt.example.org:443/"),
        ('h3=":99999"', None, ""),
        ("clear", None, ""),
        ("", None, ""),
    ],
)
def test_http3_that_is_announced(header: str, announced: tuple[str, int] | None, said: str) -> None:
    found = inquired(spoken("h1", alt_svc=header), spoken("h2"), spoken("h3", "timeout"))
    assert found.findings is not None
    assert found.findings.announced() == announced
    assert said in " ".join(judge(found, INQUIRY).remarks)


def test_http3_at_the_announced_port_is_taken() -> None:
    found = inquired(spoken("h1", alt_svc='h3=":8444"'), spoken("h3"))
    known = judge(InquiryResult(found.findings, [], http3_port=8444), INQUIRY)
    assert known.http3_port == 8444
    assert "UDP port 8444" in known.remarks[0]


def test_connections_that_end_with_their_answer() -> None:
    known = judge(inquired(spoken("h1", connections=3), spoken("h2", connections=2)), INQUIRY)
    assert known.remarks == [
        "Over HTTP/1.1 it closes each connection after one response, so every request needs a handshake"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
        'psycopg2.OperationalError: could not translate host name "db" to address: Name or service not known',
        "dial tcp: lookup redis on 127.0.0.53:53: no such host",
        "getaddrinfo EAI_AGAIN postgres",
        "Can't connect to MySQL server on 'localhost' (111)",
        "connect() failed (111: Connection refused) while connecting to upstream",
    ],
)
def test_a_server_that_misses_its_database(line: str) -> None:
    """Whether it ends, or answers with an error."""
    ended: Any = [{"code": "server-exited", "detail": "role server ended with exit status 1 after 0.2 s"}]
    good = inquired(spoken("h2", status=500))
    for known in (InquiryResult(None, ended, ["starting", line]), InquiryResult(good.findings, [], [line])):
        with pytest.raises(UserError) as caught:
            judge(known, INQUIRY)
        assert "in the lab a server cannot reach anything outside" in (caught.value.remedy or "")
        assert "--url https://localhost:8443/ measures it there" in (caught.value.remedy or "")


def test_a_server_that_listens_for_ipv6_alone() -> None:
    detail = "role server was not ready after 4.1 s: waiting for TCP port 8443 over IPv4; it listens on TCP [::]:8443"
    with pytest.raises(UserError, match="waiting for TCP port 8443 over IPv4") as caught:
        judge(InquiryResult(None, [{"code": "server-not-ready", "detail": detail}]), INQUIRY)
    assert "it listens only on IPv6" in (caught.value.remedy or "")


def test_a_certificate_without_names_is_for_no_host() -> None:
    """It was called `for CN=localhost, not for localhost`: clients go by subjectAltName alone."""
    [remark] = judge(inquired(spoken("h1"), names=[], fits=False), INQUIRY).remarks
    assert remark == (
        "Its certificate (CN=localhost) has no subjectAltName, so it is for no host, localhost included: clients "
        "elsewhere refuse it (h123 does not check it)"
    )
