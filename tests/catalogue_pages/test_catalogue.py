"""docs/catalogue.md: what it says of subjects that were verified, that failed, that changed, that were never asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from catalogue.small import MANIFEST, small, write_small
from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.base.units import format_bytes
from h123.catalogue import Subject, catalogue, installation, read_subject, subject_names
from h123.catalogue.registry import RejectedSubject, load_rejected_subjects
from h123.cli.subjects.subject_listing import print_subject
from h123.report.catalogue.catalogue import about_subjects, catalogue_page, role_tables
from h123.report.catalogue.measured_constants import measured_tables
from h123.verification.constants.findings import (
    Constants,
    Datagrams,
    Flight,
    HandshakeSize,
    InFlight,
    LossResponse,
    SlowStart,
    Tail,
)
from h123.verification.migration import MoveResult
from h123.verification.paths import PathBehaviour
from h123.verification.public_record import PublicRecord, public_records
from h123.verification.record import Record, fingerprint
from h123.verification.result import Result, Verdict
from printing import printed

FEATURES = (
    'resumption = ["h2", "h3"]\nzero_rtt = ["h3"]\n\n[[parts]]\nname = "libthing"\nversion = "2"\nlicence = "MIT"\n'
)


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    manifest = MANIFEST.replace('stack = "none"', 'stack = "tinyquic"\nnote = "Slow, but | honest."')
    return small(tmp_path, manifest + FEATURES)


def _records(subject: Subject, *results: Result) -> dict[str, PublicRecord]:
    record = Record(
        subject="small",
        version="1",
        fingerprint=fingerprint(subject),
        time="2026-11-21T18:00:00",
        machine={"cpus_usable": 2, "cpu": "a CPU", "distribution": "a Linux", "kernel": "6.18"},
        results=list(results),
    )
    return {"small": PublicRecord(seconds=92.0, bytes=71_000_000, record=record)}


def _seen(check: str, protocol: str = "h3", verdict: Verdict = "passed", detail: str = "") -> Result:
    return Result(role="server", protocol=protocol, check=check, verdict=verdict, detail=detail)


GOOD = [
    _seen("GET 1"),
    _seen("TLS", detail="1.3, X25519"),
    _seen("resumption", "h2"),
    _seen("0-RTT"),
    _seen("congestion cubic"),
    Result(role="server", protocol="h3", check="GET 1", verdict="passed", clock="virtual"),
]


def test_a_verified_server(subject: Subject) -> None:
    page = _site_page({"small": subject}, _records(subject, *GOOD))
    assert "The verified HTTP/3 servers use 1 QUIC stack: tinyquic." in page
    row = "| [small](../subjects/small) | tinyquic | 1 | h1 h2 h3 | resumption h2; 0-RTT h3 | cubic |"
    assert f"{row} 1.3, X25519 | wall, virtual | 2026-11-21: all 6 |" in page
    # As a client it was not asked.
    assert "| requests | shared, per-user, number | cold requests | – | – | no |" in page
    assert "Checks that did not pass" not in page
    assert "<!-- generated: subjects -->" in page


def test_what_the_site_says_about_each_subject(subject: Subject) -> None:
    about = about_subjects({"small": subject}, _records(subject, *GOOD))
    assert "* **small** (A shell script, sh): Slow, but | honest." in about
    assert "| `h123 install small` | any Unix | 71 MB | 1 min 32 s |" in about
    assert "2 processors (a CPU), a Linux, Linux 6.18" in about
    assert "| small | Apache-2.0 | libthing 2 (MIT) |" in about


@pytest.mark.parametrize("name", subject_names())
def test_the_terminal_has_it_too(name: str) -> None:
    """What docs/catalogue.md leaves to the site and to `h123 list subjects NAME`."""
    subject, record = catalogue()[name], public_records().get(name)
    shown = " ".join(printed(lambda console: print_subject(subject, console), width=100_000).split())
    facts = [subject.title, subject.language, subject.licence, subject.note, subject.parts_note]
    facts += [f"{part.name} {part.version} ({part.licence})" for part in subject.parts]
    if not subject.install.embedded and not installation(subject):
        facts += [subject.install.needs_help, format_bytes(record.bytes) if record and record.bytes else None]
    facts = [" ".join(fact.split()).replace("`", "") for fact in facts if fact]
    assert [fact for fact in facts if fact not in shown] == []


def _site_page(
    subjects: dict[str, Subject], records: dict[str, PublicRecord], rejected: Sequence[RejectedSubject] = ()
) -> str:
    page = catalogue_page(subjects, records, rejected)
    for name, lines in (*role_tables(subjects, records), *measured_tables(subjects, records)):
        page = page.replace(f"<!-- generated: {name} -->", "\n".join(lines))
    return page


def test_what_a_server_makes_of_clients_that_move(subject: Subject) -> None:
    known = _records(subject, *GOOD)
    assert "When the client moves" not in _site_page({"small": subject}, known)
    moves = [
        MoveResult(clock="virtual", new="address"),
        MoveResult(clock="virtual", new="port", survived=True, answered=0.0002, flowed=0.0612),
    ]
    moved = known["small"].model_copy(update={"record": known["small"].record.model_copy(update={"moves": moves})})
    page = _site_page({"small": subject}, {"small": moved})
    survived = "survived: 200 µs, 61.2 ms"
    assert f"| small | tinyquic | {survived} | not survived, nothing is sent there | virtual |" in page


def test_what_stacks_do_on_paths(subject: Subject) -> None:
    known = _records(subject, *GOOD)
    assert "ECN and the MTU of paths" not in _site_page({"small": subject}, known)
    paths = [PathBehaviour(role="server", clock="virtual", ect="none", reports=True)]
    known = {
        "small": known["small"].model_copy(update={"record": known["small"].record.model_copy(update={"paths": paths})})
    }
    page = _site_page({"small": subject, "other": subject}, {**known, "other": known["small"]})
    assert "| small, other | server | tinyquic | no ECT | yes | – | – |" in page


def test_a_limit_stands_beside_its_protocol(tmp_path: Path) -> None:
    limited = MANIFEST.replace('methods = ["GET"]\n', 'methods = ["GET"]\nlimits = {streams = {h2 = 8}}\n', 1)
    page = _site_page({"small": small(tmp_path, limited)}, {})
    assert "| [small](../subjects/small) | – | 1 | h1 h2 (at most 8 at once) h3 |" in page


def test_so_does_the_time_after_which_it_ends_an_idle_connection(tmp_path: Path) -> None:
    limits = 'limits = {streams = {h2 = 8}, idle = {h2 = "20s", h3 = "30s"}}'
    limited = MANIFEST.replace('methods = ["GET"]\n', f'methods = ["GET"]\n{limits}\n', 1)
    page = _site_page({"small": small(tmp_path, limited)}, {})
    assert "| h1 h2 (at most 8 at once, idle for at most 20 s) h3 (idle for at most 30 s) |" in page


def test_what_a_client_reads_of_workloads(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("[client]", '[client]\nkinds = ["requests", "mix"]\nheaders = true')
    page = _site_page({"small": small(tmp_path, manifest)}, {})
    assert "| requests, mix, headers | shared, per-user, number |" in page


def test_what_a_client_lets_a_server_do_stands_beside_what_it_declares(tmp_path: Path) -> None:
    limits = 'limits = {streams = {h3 = 100}, windows = {h3 = "1.25MiB"}}'
    subject = small(tmp_path, MANIFEST.replace("[client]", f"[client]\n{limits}"))
    seen = [
        Result(role="client", protocol="h3", check=check, verdict="passed", detail=detail)
        for check, detail in (("streams at once", "100 of 300 requests"), ("receive windows", "1.31 MB a stream"))
    ]
    page = _site_page({"small": subject}, _records(subject, *seen))
    declared = "at most 100 requests at once, windows of at most 1.31 MB"
    assert f"| small | 100 of 300 requests | 1.31 MB a stream | {declared} |" in page
    # Nothing was asked, or something else came out: nothing is said of it.
    failed = [one.model_copy(update={"verdict": "failed"}) for one in seen]
    assert declared not in _site_page({"small": subject}, _records(subject, *failed))


def test_a_failure_has_its_reason_and_its_stack_does_not_count(subject: Subject) -> None:
    bad = _seen("qlog", verdict="failed", detail="no file | at all")
    skipped = _seen("everything", verdict="unsupported", detail="no kernel")
    page = _site_page({"small": subject}, _records(subject, *GOOD, bad, skipped))
    assert "HTTP/3 here, verified" not in page
    assert "2026-11-21: 6 of 8, 1 failed, 1 not tested |" in page
    assert "| small | server, h3 | qlog | failed | no file \\| at all |" in page
    assert "| small | server, h3 | everything | unsupported | no kernel |" in page


def test_constants_of_servers_and_of_the_kernel(subject: Subject) -> None:
    seen = Constants(
        role="server",
        protocol="h3",
        congestion="cubic",
        handshake=HandshakeSize(round_trips=1, bytes_up=1300, bytes_down=3400),
        first_flight=Flight(packets=32, full=31, bytes=40_000, spread=0.5),
        slow_start=SlowStart(growth=2, spread=1, ends=2_000_000, why="a fixed limit"),
        decrease=LossResponse(keeps=0.7, each=[0.55, 0.7, 0.71], regrown={10: 1.1}),
        datagrams=Datagrams(first=1252, common=1452, largest=1452, grew=3),
        tail_near=Tail(round_trip_ms=2, first_ms=28, second_ms=84),
        received=InFlight(early=6_000_000, late=14_000_000, held=True),
        acknowledgements=0.25,
    )
    windows = (
        "receive windows of 6291456 bytes a stream and 15728640 a connection, 100 requests at a time, idle for 5m0s"
    )
    known = _records(subject, *GOOD, _seen("limits", detail=windows))
    assert "Constants" not in _site_page({"small": subject}, known)
    record = known["small"].record.model_copy(update={"constants": [seen, seen.model_copy(update={"role": "client"})]})
    page = _site_page({"small": subject}, {"small": known["small"].model_copy(update={"record": record})})
    flight = "32 (31), 40 kB, 50%"
    rest = "28, 84 | 1252, 1452 after 3 round trips | 1, 1.3 kB, 3.4 kB | 6.29 MB, 15.7 MB | 6 MB, 14 MB |"
    assert page.count(f"| small | h3 | {flight} | x2 | 2 MB, a fixed limit | 0.7 (0.55 to 0.71) | {rest}") == 1
    assert page.count("1, 1.3 kB, 3.4 kB | 6 MB, 14 MB | 0.25 |") == 1, "as a client"
    by_kernel = [seen.model_copy(update={"protocol": "h2", "congestion": name}) for name in ("cubic", "reno")]
    record = record.model_copy(update={"constants": by_kernel, "subject": "go"})
    page = _site_page({"go": subject}, {"go": known["small"].model_copy(update={"record": record})})
    assert page.count("| go | h2 | 32 (31)") == 1
    assert page.count("| cubic | 32 (31)") == page.count("| reno | 32 (31)") == 1


def test_what_changed_since_is_not_verified(subject: Subject, tmp_path: Path) -> None:
    known = _records(subject, *GOOD)
    write_small(tmp_path, MANIFEST)
    page = _site_page({"small": read_subject(tmp_path / "small")}, known)
    assert "| – | – | – | changed since 2026-11-21 |" in page
    assert "HTTP/3 here, verified" not in page


def test_what_was_never_asked(subject: Subject) -> None:
    page = _site_page(
        {"small": subject}, {}, [RejectedSubject(name="s2n", stack="s2n-quic", what="to build", why="no glue")]
    )
    assert "| no |" in page
    assert "| s2n | s2n-quic | to build | no glue |" in page


def test_what_was_tried_is_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    assert load_rejected_subjects() == []
    entry = '[[tried]]\nname = "s2n"\nstack = "s2n-quic"\nwhat = "to build it"\nwhy = "no glue"\n'
    (tmp_path / "tried.toml").write_text(entry)
    assert load_rejected_subjects() == [
        RejectedSubject(name="s2n", stack="s2n-quic", what="to build it", why="no glue")
    ]
    (tmp_path / "tried.toml").write_text(entry.replace("why", "whyy"))
    with pytest.raises(UserError, match="did you mean why"):
        load_rejected_subjects()


def test_the_projects_page_is_what_its_files_generate() -> None:
    page = (project_root() / "docs/catalogue.md").read_text()
    assert page == catalogue_page(catalogue(), public_records(), load_rejected_subjects()), (
        "`h123 publish` writes it again"
    )
