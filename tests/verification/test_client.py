"""A client that lies is found out in the lab; the embedded one passes."""

from pathlib import Path

import pytest

from h123.campaign import LocalEngine
from h123.campaign.certificate import Certificate, campaign_certificate
from h123.campaign.trialfile import SERVER_ADDRESS
from h123.catalogue import Subject, catalogue, install
from h123.verification.assignment import Assignment, assignments
from h123.verification.client import carry_out, judge, verify_client
from verification.broken import broken


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return campaign_certificate(tmp_path_factory.mktemp("tls").resolve(), [SERVER_ADDRESS])


@pytest.fixture(autouse=True, scope="module")
def go() -> Subject:
    subject = catalogue()["go"]
    install(subject, print)
    return subject


def _faults(subject: Subject, name: str, certificate: Certificate, folder: Path) -> list[str]:
    """Of the assignment called `name`."""
    install(subject, print)
    asked: Assignment = next(one for one in assignments(subject) if one.name == name)
    subjects = {subject.name: subject, "go": catalogue()["go"]}
    return judge(asked, subject, carry_out(asked, subjects, certificate, LocalEngine(), folder / "trial"))


SHARED = "GET 1 kB, 4 users, connections shared"
FAR = "times over a link of 100 ms and 10 Mbit/s"
LIES = [
    ("nothing", "pass", SHARED, ""),
    ("a row too few", "rows.pop()", SHARED, "11 rows of phase warm instead of 12"),
    ("a row twice", "rows.append(rows[-1])", SHARED, "13 rows of phase warm instead of 12"),
    ("another header", "header.reverse()", SHARED, "samples-malformed: samples.csv, line 1"),
    ("milliseconds", "[r.update(end_ns=int(r['end_ns']) // 10**6) for r in rows]", SHARED, "end_ns is before"),
    ("nothing reused", "[r.update(reused=0) for r in rows]", SHARED, "17 rows with reused 0 instead of 1"),
    ("all bytes", "[r.update(bytes_down=1016) for r in rows]", SHARED, "1016 down instead of 0 and 1000"),
    ("first byte = end", "[r.update(first_byte_ns=r['end_ns']) for r in rows]", FAR, "as if it were the last"),
    ("first byte = sent", "[r.update(first_byte_ns=r['sent_ns']) for r in rows]", FAR, "a round trip takes 0.100 s"),
    ("error hidden", "[r.update(error='', status=200) for r in rows]", "a server that is not there", "wrong-protocol"),
    ("status 1", "status = 1", SHARED, "client-failed"),
]


@pytest.mark.parametrize(("lie", "name", "said"), [row[1:] for row in LIES], ids=[row[0] for row in LIES])
def test_lies_are_found(tmp_path: Path, certificate: Certificate, lie: str, name: str, said: str) -> None:
    faults = _faults(broken(tmp_path, lie), name, certificate, tmp_path)
    assert said in "; ".join(faults) if said else faults == []


def test_what_is_not_declared_must_be_refused(tmp_path: Path, certificate: Certificate) -> None:
    faults = _faults(broken(tmp_path, "pass"), "refuses h3", certificate, tmp_path)
    assert "did not exit 127: the trial is valid" in faults[0]
    honest = broken(tmp_path, "status = 127 if asked['protocol'] != 'h2' else status")
    assert _faults(honest, "refuses h3", certificate, tmp_path / "again") == []


@pytest.mark.heavy
def test_the_embedded_client_passes(tmp_path: Path, certificate: Certificate, go: Subject) -> None:
    judged = list(verify_client(go, go, certificate, LocalEngine(), tmp_path))
    assert len(judged) == 48
    assert not {f"{j.assignment.parameters.protocol} {j.assignment.name}": j.faults for j in judged if j.faults}
