"""What a person does with subjects: lists, installs and removes them, and tries who gets on with whom."""

import io
import json
import shutil
import signal
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from catalogue.own_cache import own_cache
from catalogue.small import MANIFEST, small, write_small
from cli.conftest import PATIENCE_S, Tool
from h123.base.errors import UserError
from h123.catalogue import read_subject
from h123.cli.app import app
from h123.cli.subjects.subject_listing import print_subject, print_subjects
from h123.verification import roles_of
from h123.verification.public_record import publish
from h123.verification.record import keep_results
from h123.verification.result import Result

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")
WELL = Result(role="server", protocol="h3", check="GET 1", verdict="passed")
ILL = Result(role="client", protocol="h1", check="404", verdict="failed", detail="status 200")


def _shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _listed(width: int = 110) -> str:
    console = Console(width=width, file=io.StringIO())
    print_subjects(console)
    return _shown(console)


@pytest.mark.parametrize("width", [80, 110])
def test_the_catalogue_fits_the_terminal(width: int) -> None:
    lines = _listed(width).splitlines()
    assert max(map(len, lines)) <= width
    assert ("version" in lines[0]) == (width >= 110)
    names = [line.split()[0] for line in lines[1 : lines.index("")]]
    assert {"go", "fake-gcs"} <= set(names)  # nothing is folded: each line begins with a name
    assert names == sorted(names)


def test_what_a_subject_can_do_is_in_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path / "subjects"))
    write_small(tmp_path / "subjects")
    assert _listed().splitlines()[1].split() == ["small", "-", "sh", "1", "123", "c", "123", "d", "-", "-"]
    able = MANIFEST.replace('"sh"', '"C++ and JavaScript, driven by sh"', 1).replace(
        "[client]", '[client]\nttfb = true\nkinds = ["requests", "mix"]\nheaders = true'
    )
    able += 'clocks = ["wall", "virtual"]\nresumption = ["h1"]\nzero_rtt = ["h3"]\nqlog = ["h3"]\n'
    write_small(tmp_path / "subjects", able)
    header, row, *_, last = _listed().splitlines()
    assert _listed(80).splitlines()[1].split() == ["small", "-", "123", "0qc", "123", "tdkh", "v", "-", "-"]
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
    console = Console(width=100, file=io.StringIO())
    print_subject(read_subject(tmp_path / "subjects/small"), console)
    facts = [line.split() for line in _shown(console).splitlines()]
    assert ["workloads", "requests", "mix"] in facts
    assert ["request", "headers", "yes"] in facts
    assert all(f"{mark} " in _listed() for mark in "r0qctodkhv")


def test_a_subject_is_verified_until_its_files_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path / "subjects"))
    subject = small(tmp_path / "subjects")
    assert _listed().splitlines()[1].split()[-2:] == ["-", "-"]
    record = keep_results(subject, "server", [WELL])
    assert _listed().splitlines()[1].split()[-2:] == ["server", "only"]
    keep_results(subject, "client", [WELL.model_copy(update={"role": "client"})])
    assert _listed().splitlines()[1].split()[-1] == record.time[:10]
    keep_results(subject, "client", [ILL.model_copy(update={"verdict": "unsupported"})])
    assert _listed().splitlines()[1].split()[-1] == f"{record.time[:10]}*"
    keep_results(subject, "client", [ILL])
    assert _listed().splitlines()[1].split()[-2:] == ["1", "failed"]
    console = Console(width=100, file=io.StringIO())
    print_subject(subject, console)
    words = " ".join(_shown(console).split())
    assert "verified" in words
    assert "1 passed, 1 failed client h1 404: failed: status 200" in words
    write_small(tmp_path / "subjects", MANIFEST.replace("A shell", "Another shell"))
    assert _listed().splitlines()[1].split()[-1] == "changed"
    console = Console(width=100, file=io.StringIO())
    print_subject(read_subject(tmp_path / "subjects/small"), console)
    assert "its files have changed since" in " ".join(_shown(console).split())


def test_what_limits_a_server_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    limits = 'limits = {streams = {h2 = 8}, idle = {h3 = "30s"}}'
    subject = small(tmp_path / "subjects", MANIFEST.replace('methods = ["GET"]\n', f'methods = ["GET"]\n{limits}\n', 1))
    windows = (
        "receive windows of 6291456 bytes a stream and 15728640 a connection, 100 requests at a time, idle for 30s"
    )
    keep_results(subject, "server", [WELL.model_copy(update={"check": "limits", "detail": windows})])
    console = Console(width=200, file=io.StringIO())
    print_subject(subject, console)
    words = " ".join(_shown(console).split())
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
    assert _listed().splitlines()[1].split()[-1] == "upstream"
    console = Console(width=200, file=io.StringIO())
    print_subject(subject, console)
    assert "upstream, " in _shown(console)
    assert "not yet on this machine: h123 verify small" in _shown(console)
    record = [keep_results(subject, role, [WELL.model_copy(update={"role": role})]) for role in roles_of(subject)][-1]
    assert _listed().splitlines()[1].split()[-1] == record.time[:10]
    write_small(root / "subjects", MANIFEST.replace("A shell", "Another shell"))
    assert _listed().splitlines()[1].split()[-1] == "changed"


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


def test_installed_and_removed(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(h123.folder / "cache"))
    monkeypatch.setenv("H123_SUBJECTS", str(h123.folder / "subjects"))
    write_small(h123.folder / "subjects")
    write_small(
        h123.folder / "subjects", MANIFEST.replace('"small"', '"poor"').replace('["sh"]', '["gone"]'), name="poor"
    )
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
    done = h123(*MATRIX)
    assert done.returncode == 0, done.stderr
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
