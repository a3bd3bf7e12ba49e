"""What a person does with subjects: lists, installs and removes them, and tries who gets on with whom."""

import json
import shutil
import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from catalogue.own_cache import own_cache
from catalogue.small import MANIFEST, change_small, small, write_small
from cli.conftest import PATIENCE_S, Tool
from h123.base.errors import UserError
from h123.catalogue import Subject, read_subject
from h123.cli.app import app
from h123.cli.subjects.subject_listing import print_subject, print_subjects
from h123.verification import roles_of
from h123.verification.public_record import publish
from h123.verification.record import keep_results
from h123.verification.result import Result
from printing import printed

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")
WELL = Result(role="server", protocol="h3", check="GET 1", verdict="passed")
ILL = Result(role="client", protocol="h1", check="404", verdict="failed", detail="status 200")


@pytest.fixture
def subjects(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001
    """A folder for subjects of the test's own, which has none yet."""
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path / "subjects"))
    return tmp_path / "subjects"


def _listed(width: int = 110) -> list[str]:
    return printed(print_subjects, width).splitlines()


def _last_words() -> list[str]:
    """Of the only subject's row."""
    return _listed()[1].split()[-2:]


def _shown(subject: Subject) -> str:
    return printed(lambda console: print_subject(subject, console), width=200)


@pytest.mark.parametrize("width", [80, 110])
def test_the_catalogue_fits_the_terminal(width: int) -> None:
    lines = _listed(width)
    assert max(map(len, lines)) <= width
    assert ("version" in lines[0]) == (width >= 110)
    names = [line.split()[0] for line in lines[1 : lines.index("")]]
    assert {"go", "fake-gcs"} <= set(names)  # nothing is folded: each line begins with a name
    assert names == sorted(names)


def test_what_a_subject_can_do_is_in_its_row(subjects: Path) -> None:
    write_small(subjects)
    assert _listed()[1].split() == ["small", "-", "sh", "1", "123", "c", "123", "d", "-", "-"]
    able = MANIFEST.replace('"sh"', '"C++ and JavaScript, driven by sh"', 1).replace(
        "[client]", '[client]\nttfb = true\nkinds = ["requests", "mix"]\nheaders = true'
    )
    able += 'clocks = ["wall", "virtual"]\nresumption = ["h1"]\nzero_rtt = ["h3"]\nqlog = ["h3"]\n'
    write_small(subjects, able)
    header, row, *_, last = _listed()
    assert _listed(80)[1].split() == ["small", "-", "123", "0qc", "123", "tdkh", "v", "-", "-"]
    assert header.split() == [
        "name",
        "QUIC",
        "stack",
        "language",
        "version",
        "server",
        "client",
        "v",
        "size",
        "verified",
    ]
    assert row.split() == ["small", "-", "C++/JS", "1", "123", "0qc", "123", "tdkh", "v", "-", "-"]
    assert "shows everything about one" in last
    facts = [line.split() for line in _shown(read_subject(subjects / "small")).splitlines()]
    assert ["workloads", "requests", "mix"] in facts
    assert ["request", "headers", "yes"] in facts
    assert all(f"{mark} " in "\n".join(_listed()) for mark in "r0qctodkhv")


def test_a_subject_is_verified_until_its_files_change(subjects: Path) -> None:
    subject = small(subjects)
    assert _last_words() == ["-", "-"]
    record = keep_results(subject, "server", [WELL])
    assert _last_words() == ["server", "only"]
    keep_results(subject, "client", [WELL.model_copy(update={"role": "client"})])
    assert _last_words()[-1] == record.time[:10]
    keep_results(subject, "client", [ILL.model_copy(update={"verdict": "unsupported"})])
    assert _last_words()[-1] == f"{record.time[:10]}*"
    keep_results(subject, "client", [ILL])
    assert _last_words() == ["1", "failed"]
    words = " ".join(_shown(subject).split())
    assert "verified" in words
    assert "1 passed, 1 failed client h1 404: failed: status 200" in words
    changed = change_small(subjects)
    assert _last_words()[-1] == "changed"
    assert "its files have changed since" in " ".join(_shown(changed).split())


def test_what_limits_a_server_is_told(subjects: Path) -> None:
    limits = 'limits = {streams = {h2 = 8}, idle = {h3 = "30s"}}'
    subject = small(subjects, MANIFEST.replace('methods = ["GET"]\n', f'methods = ["GET"]\n{limits}\n', 1))
    windows = (
        "receive windows of 6291456 bytes a stream and 15728640 a connection, 100 requests at a time, idle for 30s"
    )
    keep_results(subject, "server", [WELL.model_copy(update={"check": "limits", "detail": windows})])
    words = " ".join(_shown(subject).split())
    assert "limit h2: 8 requests at once on a connection limit h3: ends a connection that is idle for 30 s" in words
    assert "receive windows as a server over h3: 6.29 MB per stream, 15.7 MB per connection" in words


def test_a_subject_verified_upstream_only_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = tmp_path / "root", tmp_path / "cache"
    subject = small(root / "subjects")
    for name, folder in (("H123_ROOT", root), ("H123_CACHE", cache), ("H123_SUBJECTS", root / "subjects")):
        monkeypatch.setenv(name, str(folder))
    for role in roles_of(subject):
        keep_results(subject, role, [WELL.model_copy(update={"role": role})])
    assert publish(subject)
    shutil.rmtree(cache)
    assert _last_words()[-1] == "upstream"
    assert "upstream, " in _shown(subject)
    assert "not yet on this machine: h123 verify small" in _shown(subject)
    record = [keep_results(subject, role, [WELL.model_copy(update={"role": role})]) for role in roles_of(subject)][-1]
    assert _last_words()[-1] == record.time[:10]
    change_small(root / "subjects")
    assert _last_words()[-1] == "changed"


def test_what_is_published_already_is_left_alone_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("H123_ROOT", "root"), ("H123_CACHE", "cache"), ("H123_SUBJECTS", "root/subjects")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    subject, record = small(tmp_path / "root/subjects"), tmp_path / "root/docs/verified/records.json.xz"
    keep_results(subject, "server", [WELL])
    published = CliRunner().invoke(app, ["publish"])
    assert (published.exit_code, published.output) == (0, "small: published\n")
    made = record.stat().st_mtime_ns
    assert CliRunner().invoke(app, ["publish"]).output == "nothing new to publish\n"
    assert record.stat().st_mtime_ns == made
    assert CliRunner().invoke(app, ["publish", "small"]).output == "small: published\n"
    assert record.stat().st_mtime_ns > made


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["install"], 2, "give either subject names or --all"),
        (["install", "go", "--all"], 2, "give either subject names or --all"),
        (["install", "gone"], 2, "did you mean go?"),
        (["remove", "gone"], 2, "did you mean go?"),
        (["remove", "go"], 2, "part of h123"),
        (["list", "subjects", "gone"], 2, "did you mean go?"),
        (["list", "networks", "lan"], 2, "only subjects can be named"),
        (["matrix", "--servers", "fake-gcs"], 2, "there is no server 'fake-gcs'"),
        (["matrix", "--protocols", "h1,h4"], 2, "there is no protocol 'h4'"),
    ],
)
def test_mistakes_are_said_at_once(arguments: list[str], status: int, said: str) -> None:
    failed = CliRunner().invoke(app, arguments).exception
    assert isinstance(failed, UserError)
    assert failed.status == status
    assert said in f"{failed.message} {failed.remedy}"


def test_installed_and_removed(h123: Tool, subjects: Path) -> None:
    write_small(subjects)
    write_small(subjects, MANIFEST.replace('"small"', '"poor"').replace('["sh"]', '["gone"]'), name="poor")
    done = h123("install", "--all")
    assert done.returncode == 3
    assert done.stdout == "small: installed\n"
    assert "[1/2] poor" in done.stderr
    assert "needs gone, not found on PATH" in done.stderr
    assert "any Unix" in done.stderr
    assert h123("remove", "small", "poor").stdout == "small: removed\npoor: was not installed\n"


MATRIX = ["matrix", "--servers", "go", "--clients", "go", "--out", "m"]


def test_a_matrix_is_stopped_and_gone_on_with(h123: Tool) -> None:
    process, journal = h123.start(*MATRIX), h123.folder / "m/journal.jsonl"
    deadline = time.monotonic() + PATIENCE_S
    while not journal.exists() or '"cell"' not in journal.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "run the same command to resume" in err
    assert "not tried" in (h123.folder / "m/matrix.html").read_text()
    before = journal.read_text()
    done = h123.succeed(*MATRIX)
    assert "go               ✓✓✓" in done.stdout
    assert journal.read_text().startswith(before)
    cells = [event["pairing"]["protocol"] for line in journal.open() if (event := json.loads(line))["event"] == "cell"]
    assert cells == ["h1", "h2", "h3"]


def test_a_failure_in_the_matrix_ends_it_with_status_1(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens and says nothing of use."""
    subjects = h123.folder / "subjects"
    folder = write_small(
        subjects, MANIFEST.replace('"{prefix}/serve", "{address}', '"python3", "{prefix}/serve", "{address}')
    )
    (folder / "serve").write_text("""\
import signal, socket, sys
address, _, port = sys.argv[1].partition(":")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
listener = socket.create_server((address, int(port)))
print("not today", flush=True)
while True:
    listener.accept()[0].close()
""")
    (subjects / "go").symlink_to(Path(__file__).resolve().parents[2] / "subjects/go")
    monkeypatch.setenv("H123_CACHE", str(own_cache(h123.folder)))
    monkeypatch.setenv("H123_SUBJECTS", str(subjects))
    done = h123("matrix", "--servers", "small", "--clients", "go", "--protocols", "h2", "--out", "m")
    assert done.returncode == 1
    assert "small / go, HTTP/2 GET: " in done.stdout
    assert "1 trial failed" in done.stderr
    page = (h123.folder / "m/matrix.html").read_text()
    assert "not today" in page
