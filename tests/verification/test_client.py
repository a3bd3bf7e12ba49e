"""A client that lies is found out in the lab; the embedded one passes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalogue.own_cache import own_cache
from h123.catalogue import OPENINGS, Subject, catalogue, install, prefix
from h123.execution import LocalPool
from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.files import SERVER_ADDRESS
from h123.verification.client_cases import (
    FIRST_VISIT,
    INFORMED_VISIT,
    REPEAT_VISIT,
    SPOILED,
    ClientCase,
    assignments,
)
from h123.verification.clients import client
from h123.verification.clients.client import carry_out, judge
from h123.verification.trial import Trials
from verification.broken import broken


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return campaign_certificate(tmp_path_factory.mktemp("tls").resolve(), [SERVER_ADDRESS])


@pytest.fixture(autouse=True, scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """The embedded subject, in a cache that the broken ones may be installed into."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("H123_CACHE", str(own_cache(tmp_path_factory.mktemp("own"))))
        yield catalogue()["go"]


def test_what_is_broken_is_installed_apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert prefix(broken(tmp_path_factory.mktemp("apart"), "pass")).is_relative_to(tmp_path_factory.getbasetemp())


def _faults(subject: Subject, name: str, certificate: Certificate, folder: Path) -> list[str]:
    """Of the assignment called `name`."""
    install(subject, print)
    asked: ClientCase = next(one for one in assignments(subject) if one.name == name)
    subjects = {subject.name: subject, "go": catalogue()["go"]}
    trials = Trials(subjects, certificate, LocalPool())
    return judge(asked, subject, carry_out(asked, trials, folder / "trial"))


def _check(said: str, subject: Subject, name: str, certificate: Certificate, folder: Path) -> None:
    """Its faults say so; where nothing is to be said it has none."""
    faults = "; ".join(_faults(subject, name, certificate, folder))
    assert said in faults if said else not faults


SHARED = "GET 1 kB, 4 users, connections shared"
FAR = "times over a link of 100 ms and 10 Mbit/s"
PER_USER = SHARED.replace("shared", "per-user")
SILENT = "[r.update(connection='', reused='') for r in rows]"
LIES = [
    ("nothing", "pass", SHARED, ""),
    ("a row too few", "rows.pop()", SHARED, "11 rows of phase warm instead of 12"),
    ("a row twice", "rows.append(rows[-1])", SHARED, "13 rows of phase warm instead of 12"),
    ("another header", "header.reverse()", SHARED, "samples-malformed: samples.csv, line 1"),
    ("milliseconds", "[r.update(end_ns=int(r['end_ns']) // 10**6) for r in rows]", SHARED, "end_ns is before"),
    ("nothing reused", "[r.update(reused=0) for r in rows]", SHARED, "17 rows with reused 0 instead of 1"),
    ("all bytes", "[r.update(bytes_down=1016) for r in rows]", SHARED, "had a body of 1016 bytes instead of 1000"),
    ("first byte = end", "[r.update(first_byte_ns=r['end_ns']) for r in rows]", FAR, "as if it were the last"),
    ("first byte = sent", "[r.update(first_byte_ns=r['sent_ns']) for r in rows]", FAR, "a round trip takes 0.100 s"),
    (
        "connected = first byte",
        "rows[0].update(connected_ns=rows[0]['first_byte_ns'])",
        FAR,
        "the connection was ready",
    ),
    ("error hidden", "[r.update(error='', status=200) for r in rows]", "a server that is not there", "wrong-protocol"),
    ("status 1", "status = 1", SHARED, "client-failed"),
    ("bodies compared", "pass", SPOILED["zeros"], ""),
    (
        "bodies counted",
        "[r.update(error='') for r in rows]",
        SPOILED["middle"],
        "error '', 1000000 bytes down instead of",
    ),
]


CLOSED = """
import random
waited = sorted((row for row in rows if row["phase"] == "warm"), key=lambda row: int(row["end_ns"]))
start = int(waited[0]["start_ns"])
for row in waited:
    row["start_ns"] = start
    start += int(random.expovariate(50) * 1e9)
"""
DEEDS = [
    ("users wait for their answers", "asked['rate'] = None", CLOSED, "open loop, 50 requests a second", "they waited"),
    (
        "one connection",
        "asked['connections'] = 'shared'",
        SILENT,
        SHARED.replace("shared", "per-user"),
        "1 connections reached",
    ),
]


@pytest.mark.parametrize(("change", "lie", "name", "said"), [row[1:] for row in DEEDS], ids=[row[0] for row in DEEDS])
def test_what_was_not_done_is_seen(
    tmp_path: Path, certificate: Certificate, change: str, lie: str, name: str, said: str
) -> None:
    declares = "ttfb = true\nopen_loop = true\n"
    _check(said, broken(tmp_path, lie, declares, change=change), name, certificate, tmp_path)


ALL_RESUMED = (
    "told = json.load(open(facts)); [kind.update(resumed=True, early=True) for kind in told['tls']]; "
    "json.dump(told, open(facts, 'w'))"
)


@pytest.mark.parametrize(
    ("protocol", "check", "change", "said"),
    [
        (
            "h2",
            "resumed",
            "del asked['sessions']",
            "2 connections reached the server instead of 2 and one that earns a",
        ),
        ("h2", "resumed", "del asked['sessions']", "1 of 1 connections that should resume a session made a full"),
        ("h3", "resumed", "del asked['sessions']", "1 of 1 connections that should resume a session made a full"),
        ("h3", "early", "asked['sessions'] = 'resumed'", "the server got no early data on 2 of 2 connections"),
        ("h3", "early", "pass", ""),
    ],
)
def test_sessions_that_are_not_resumed(
    tmp_path: Path, certificate: Certificate, protocol: str, check: str, change: str, said: str
) -> None:
    """Whatever the client says: the server's packets show its certificate, or its log does, and what came early."""
    declares = f"ttfb = true\nsessions = {{resumed = ['{protocol}']" + ", early = ['h3']" * (protocol == "h3") + "}\n"
    declares += "[features]\ncongestion = {h3 = ['cubic']}\n" if protocol == "h3" else ""
    liar = broken(tmp_path, ALL_RESUMED, declares, protocol, change)
    _check(said, liar, OPENINGS[check].check, certificate, tmp_path)


@pytest.mark.parametrize(
    ("protocol", "name", "said"),
    [
        ("h3", "HTTP/3 where HTTP/2 is there too", ""),
        ("h2", "HTTP/3 where HTTP/2 is there too", "protocol 'h2' instead of 'h3'"),
        ("h2", "a fallback where networks drop UDP", ""),
        ("h2", "a fallback where networks reject UDP", ""),
    ],
)
def test_a_fallback_is_to_be_taken_where_it_is_needed_alone(
    tmp_path: Path, certificate: Certificate, protocol: str, name: str, said: str
) -> None:
    """Both servers are there, at one address; the client asks one of them whatever comes through."""
    declares = "ttfb = true\nfallback = true\n[features]\ncongestion = {h3 = ['cubic']}\n"
    client = broken(tmp_path, "pass", declares, 'h2", "h3', f"asked['protocol'] = '{protocol}'")
    _check(said, client, name, certificate, tmp_path)


NO_MEMORY = "asked.pop('visit', None); asked.pop('lookup', None); asked.update(protocol='{}', connections=1)"


@pytest.mark.parametrize(
    ("protocol", "name", "said"),
    [
        ("h2", FIRST_VISIT, ""),
        ("h3", FIRST_VISIT, "protocol 'h3' of a document instead of 'h2'"),
        ("h3", REPEAT_VISIT, ""),
        ("h2", REPEAT_VISIT, "protocol 'h2' of a document instead of 'h3'"),
        ("h3", INFORMED_VISIT, ""),
        ("h2", INFORMED_VISIT, "protocol 'h2' of a document instead of 'h3'"),
    ],
)
def test_what_a_visit_cannot_know_and_what_the_next_one_must(
    tmp_path: Path, certificate: Certificate, protocol: str, name: str, said: str
) -> None:
    """The client asks one of the two servers, whatever it could have learnt."""
    declares = (
        "ttfb = true\nkinds = ['requests', 'page']\nremembers = true\n[features]\ncongestion = {h3 = ['cubic']}\n"
    )
    client = broken(tmp_path, "pass", declares, 'h2", "h3', NO_MEMORY.format(protocol))
    _check(said, client, name, certificate, tmp_path)


@pytest.mark.heavy
def test_a_controller_that_is_declared_and_not_chosen(tmp_path: Path, certificate: Certificate) -> None:
    """quic-go has CUBIC, whatever it is asked for."""
    declares = "ttfb = true\n[features]\ncongestion = {h3 = ['cubic', 'reno']}\n"
    liar = broken(tmp_path, declares=declares, protocol="h3")
    assert _faults(liar, "congestion cubic", certificate, tmp_path) == []
    assert "behaves like cubic, not reno: " in _faults(liar, "congestion reno", certificate, tmp_path)[0]


@pytest.mark.parametrize(("lie", "name", "said"), [row[1:] for row in LIES], ids=[row[0] for row in LIES])
def test_lies_are_found(tmp_path: Path, certificate: Certificate, lie: str, name: str, said: str) -> None:
    subject = broken(tmp_path, lie, "ttfb = true\ncompares = true\n")
    _check(said, subject, name, certificate, tmp_path)


def test_who_does_not_say_so_is_not_asked_to_compare(tmp_path: Path) -> None:
    names = {asked.name for asked in assignments(broken(tmp_path))}
    assert not names & set(SPOILED.values())


def test_what_is_not_declared_must_be_refused(tmp_path: Path, certificate: Certificate) -> None:
    faults = _faults(broken(tmp_path, "pass"), "refuses h3", certificate, tmp_path)
    assert "did not exit 127: the trial is valid" in faults[0]
    honest = broken(tmp_path, "status = 127 if asked['protocol'] != 'h2' else status")
    assert _faults(honest, "refuses h3", certificate, tmp_path / "again") == []


def test_a_failure_is_recorded_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = broken(tmp_path, "rows.pop()")
    monkeypatch.setattr(client, "assignments", lambda asked: assignments(asked)[:1])
    monkeypatch.setattr(client, "failures_folder", lambda *_: tmp_path / "failures")
    install(subject, print)
    [result] = client.verify_client(subject, LocalPool())
    assert (result.role, result.protocol, result.check, result.verdict) == ("client", "h2", SHARED, "failed")
    assert result.detail.startswith("11 rows of phase warm instead of 12; ")
    assert result.detail.endswith(f" ({tmp_path}/failures/01)")
    assert (tmp_path / "failures/01/logs/client.log").is_file()


def test_what_the_client_says_of_tls_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = broken(tmp_path, "pass")
    monkeypatch.setattr(client, "assignments", lambda asked: assignments(asked)[:2])
    monkeypatch.setattr(client, "failures_folder", lambda *_: tmp_path / "failures")
    install(subject, print)
    results = list(client.verify_client(subject, LocalPool()))
    assert [result.check for result in results] == [SHARED, "TLS", PER_USER]
    assert results[1].detail == "1.3, TLS_AES_128_GCM_SHA256, X25519"
    assert not list((tmp_path / "failures").glob("*"))


@pytest.mark.heavy
def test_the_embedded_client_passes(go: Subject) -> None:
    results = list(client.verify_client(go, LocalPool()))
    # Beside its assignments TLS per protocol; of QUIC what can be set: two windows, pacing, two packet sizes.
    assert len(results) == len(assignments(go)) + 3 + 5
    assert not [result for result in results if result.verdict == "failed"]
