"""What a survey means: each thing that keeps a server from being compared is a sentence that says what to do."""

import time
from pathlib import Path
from typing import Any

import pytest

from h123.errors import UserError
from h123.survey import Answer, Found, Inquiry, Site, found_words, judge
from h123.survey.inquiry import Inquired

INQUIRY = Inquiry(Site("localhost", 8443, ("/orders",)))
GOOD: dict[str, Any] = {"status": 200, "bytes": 5000, "sha256": "", "endless": False, "error": "", "ns": 1_000_000}
GOOD |= {"location": "", "encoding": "", "authenticate": "", "alt_svc": ""}
DAY = 86_400


def spoken(protocol: str, unable: str = "", **answer: Any) -> dict[str, Any]:
    flaws = {"no_tls": False, "only_tls_1_2": False, "distrust": answer.pop("distrust", "")}
    answers = [] if unable else [[{**GOOD, **answer}] * 3]
    return {"protocol": protocol, "error": unable, **flaws, "answers": answers}


def inquired(*protocols: dict[str, Any], **certificate: Any) -> Inquired:
    now = int(time.time())
    described = {"subject": "CN=localhost", "issuer": "CN=localhost", "self_signed": True, "names": ["localhost"]}
    described |= {"fits": True, "not_before_unix": now - DAY, "not_after_unix": now + DAY, **certificate}
    found = {"h123": "found/1", "protocols": list(protocols), "certificate": described}
    return Inquired(Found.model_validate(found, strict=True), [])


def test_a_good_server_is_described() -> None:
    known = judge(inquired(spoken("h1"), spoken("h2"), spoken("h3", "timeout")), INQUIRY)
    assert [each.protocol for each in known.spoken] == ["h1", "h2"]
    assert found_words(known, INQUIRY) == ["It speaks HTTP/1.1 and HTTP/2", "GET /orders: 200, 5 kB, 1.0 ms"]


@pytest.mark.parametrize(
    ("answer", "said", "remedy"),
    [
        ({"status": 500}, "was answered with 500", "log"),
        ({"status": 404}, "was answered with 404", "path"),
        ({"status": 302, "location": "https://example.org/"}, "leads elsewhere: 302 to https://example.org/", "--url"),
        ({"status": 401, "authenticate": "Basic"}, r"refused with 401 \(Basic\)", "Authorization"),
        ({"endless": True, "bytes": 7000}, r"did not end within 3 s \(7 kB came\)", "ends"),
        ({"error": "EOF"}, "failed: EOF", "by hand"),
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
    [("no_tls", "without TLS"), ("only_tls_1_2", "no TLS 1.3"), ("", r"no HTTP on port 8443 \(.*EOF")],
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
    assert "with --insecure instead it is not checked" in (caught.value.remedy or "")
    good = inquired(spoken("h2"), spoken("h3"), **expired)
    assert found_words(judge(good, asked), asked)[-1] == "Its certificate is trusted by ca.pem"
    assert sum("h123 does not check it" in line for line in found_words(judge(good, INQUIRY), INQUIRY)) == 2


@pytest.mark.parametrize(
    ("detail", "said", "remedy"),
    [
        ("role server ended with exit status 1; its last output: no such file", "the server ended with", "by hand"),
        ("role server ended with exit status 0; it printed nothing", "exit status 0", "in the foreground"),
        ("role server was not ready; it listens on TCP 127.0.0.1:8443", "it listens on TCP", "on all addresses"),
        ("role server was not ready; it listens on the Unix socket a.sock", "a.sock", "on a TCP port"),
        ("role server was not ready; it listens on TCP 0.0.0.0:9000", "0.0.0.0:9000", "--ready TEXT"),
        ("role server was not ready after 30.0 s", "not ready after 30.0 s", "it is alone"),
        ("role gateway ended with exit status 2", "the gateway ended", "is it running?"),
    ],
)
def test_a_server_that_could_not_be_asked(detail: str, said: str, remedy: str) -> None:
    """What the lab says of it is told in plain words, and its output once."""
    with pytest.raises(UserError) as caught:
        judge(Inquired(None, [{"code": "not-ready", "detail": detail}], ["no such file"]), INQUIRY)
    told = str(caught.value)
    assert said in told
    assert told.count("no such file") == 1
    assert told.endswith("Its output ends with:\n  | no such file")
    assert remedy in (caught.value.remedy or "")


def test_a_survey_without_a_result() -> None:
    with pytest.raises(UserError, match=r"without a result\. It printed nothing"):
        judge(Inquired(None, []), INQUIRY)


def test_what_a_server_printed_is_told_beside_a_bad_answer() -> None:
    answered = inquired(spoken("h1", status=500))
    with pytest.raises(UserError, match=r"with 500\. Its output ends with:\n  \| no database"):
        judge(Inquired(answered.found, [], ["no database"]), INQUIRY)


def test_what_is_worth_knowing_is_told() -> None:
    answers = inquired(spoken("h1", encoding="gzip"), spoken("h2", bytes=6000), fits=False, not_after_unix=0)
    remarks = judge(answers, INQUIRY).remarks
    assert remarks == [
        "Answers to /orders differ in length (5 kB to 6 kB), so none is held against a size",
        "Answers to /orders are compressed (gzip) though nobody asked for it",
        "Its certificate expired on 1970-01-01: clients elsewhere refuse it (h123 does not check it)",
        "Its certificate is for localhost, not for localhost (h123 does not check it)",
    ]


def test_a_server_that_is_not_ready_for_its_first_request_is_told_of() -> None:
    late = spoken("h1")
    late["answers"][0][0] = {**GOOD, "ns": 254_000_000}
    [remark] = judge(inquired(late), INQUIRY).remarks
    assert remark.startswith("The first answer to /orders took 254 ms, a later one 1 ms: ")
    assert "--ready tcp:PORT" in remark
    assert judge(inquired(spoken("h1", ns=254_000_000)), INQUIRY).remarks == []


def test_an_answer_is_read_strictly() -> None:
    assert Answer.model_validate(GOOD, strict=True).failed is False
    assert Answer.model_validate({**GOOD, "endless": True}, strict=True).failed is True
