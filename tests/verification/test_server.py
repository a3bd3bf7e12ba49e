"""The contract test on real servers: the embedded one keeps the contract; those that break it are found out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from catalogue.small import built_already
from h123.base.transport import SETTINGS
from h123.catalogue import Subject, catalogue, install, prefix, read_subject
from h123.catalogue.manifest import Limits
from h123.execution import AttemptDone, Pool, PoolEvent
from h123.verification.result import Result
from h123.verification.server import verify_server
from h123.verification.server_cases import questions

MANIFEST = (
    built_already("other", "The embedded server, started in another way")
    + """\
[server]
command = [{before}"{go}/h123-go", "serve", "--address", "{{address}}", "--port", "{{port}}", "--protocol", "{spoken}",
           "--tls", "1.3", "--cert", "{{cert}}", "--key", "{{key}}", "--qlog", "", "--alt-svc", "", "--documents", "",
           "--initial-window", "", "--pacing", "", "--max-datagram", ""]
protocols = ["{protocol}"]
methods = ["GET", "POST"]
listens = {{{protocol} = ["{listens}"]}}

[features]
{features}
"""
)


@pytest.fixture
def go() -> Subject:
    """The embedded subject as it is, but not under the virtual clock, whose kernel may be there or not."""
    subject = catalogue()["go"]
    install(subject, lambda _: None)
    return subject.model_copy(update={"features": subject.features.model_copy(update={"clocks": ["wall"]})})


@pytest.fixture(autouse=True)
def no_huge_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a gigabyte of the disk, and more of the processor than all else; tests of the command ask for it."""
    monkeypatch.setattr("h123.verification.server.QUICK_S", 0.0)


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of failures of the test's own."""
    monkeypatch.setattr("h123.verification.record._folder", lambda: tmp_path / "verified")
    return tmp_path / "verified"


def other(
    tmp_path: Path, protocol: str = "h1", spoken: str = "{protocol}", before: str = "", features: str = ""
) -> Subject:
    """A subject whose server is the embedded one's program."""
    folder = tmp_path / "other"
    folder.mkdir()
    go = prefix(catalogue()["go"])
    listens = "udp" if protocol == "h3" else "tcp"
    values = {"protocol": protocol, "spoken": spoken, "before": before, "features": features}
    (folder / "subject.toml").write_text(MANIFEST.format(go=go, listens=listens, **values))
    return read_subject(folder)


def up_to(check: str, results: Iterator[Result]) -> Iterator[Result]:
    """Asks nothing more once this was answered: a controller takes seconds."""
    for result in results:
        yield result
        if result.check == check:
            return


def failures(results: list[Result]) -> dict[str, str]:
    return {result.check: result.detail for result in results if result.verdict == "failed"}


def test_the_embedded_server_keeps_the_contract(go: Subject, pool: Pool, records: Path) -> None:
    results = list(verify_server(go, pool))
    assert failures(results) == {}
    for protocol in ("h1", "h2", "h3"):
        asked = {result.check: result for result in results if result.protocol == protocol}
        for check in ("GET 10000000", "POST 0", "HEAD", "404", "100 uploads at once", "resumption", "clean stop"):
            assert asked[check].verdict == "passed"
        assert asked["TLS"].detail.startswith("TLS 1.3, TLS_")
    assert asked["0-RTT"].verdict == "passed"
    assert asked["GET 1100000000"].detail.endswith("only servers that need less than 0 s are asked")
    assert "events about packets" in asked["qlog"].detail
    for check, seen in (
        ("congestion cubic", "of the window"),
        ("initial window 32", "full packets in the first flight"),
        ("pacing off", ""),
        ("packet size 1252", ""),
        ("packet size 1448", ""),
    ):
        # A machine that was too busy for the link says so in place of what shows over it.
        assert check in asked or asked["h3-cubic"].verdict == "unsupported"
        assert check not in asked or asked[check].verdict == "unsupported" or seen in asked[check].detail
    assert not list(records.rglob("trial.json"))


def test_answers_that_are_declared_as_sent_in_turn_are_not_held_open(go: Subject) -> None:
    assert go.server
    server = go.server.model_copy(update={"in_turn": ["h3"]})
    asked = questions(go.model_copy(update={"server": server}))
    in_turn = {each.parameters.protocol: each.plan["in_turn"] for each in asked if each.purpose == "contract"}
    assert in_turn == {"h1": False, "h2": False, "h3": True}


def test_a_limit_that_is_declared_is_asked_for_and_exceeded(go: Subject) -> None:
    assert go.server
    server = go.server.model_copy(update={"limits": Limits(streams={"h2": 8})})
    asked = questions(go.model_copy(update={"server": server}))
    at_once = {f"{each.parameters.protocol} {each.purpose}": each.plan["at_once"] for each in asked}
    assert {name: count for name, count in at_once.items() if count} == {
        "h1 contract": 100,
        "h2 contract": 8,
        "h2 limit": 9,
        "h3 contract": 100,
    }


def test_idleness_that_is_declared_is_asked_for_and_exceeded(go: Subject) -> None:
    assert go.server
    server = go.server.model_copy(update={"limits": Limits.model_validate({"idle": {"h2": "20s", "h3": "30s"}})})
    features = go.features.model_copy(update={"clocks": ["wall", "virtual"]})
    asked = questions(go.model_copy(update={"server": server, "features": features}))
    silent = {f"{each.parameters.protocol} {each.purpose}": each.plan["idle_ns"] / 1e9 for each in asked}
    assert {name: seconds for name, seconds in silent.items() if seconds} == {
        "h1 contract": 58,
        "h2 contract": 18,
        "h2 idleness": 40,
        "h3 contract": 58,  # kept open by PINGs
    }


@pytest.mark.usefixtures("go")
def test_another_protocol_than_the_one_asked_for(tmp_path: Path, pool: Pool) -> None:
    results = list(verify_server(other(tmp_path, "h2", spoken="h1"), pool))
    assert list(failures(results)) == ["connection"]
    assert "ALPN" in failures(results)["connection"] or "protocol" in failures(results)["connection"]


@pytest.mark.heavy  # half a minute is what a server has to become ready
@pytest.mark.usefixtures("go")
def test_a_server_for_its_own_host_alone(tmp_path: Path, pool: Pool) -> None:
    subject = other(tmp_path)
    assert subject.server
    command = [word.replace("{address}", "127.0.0.1") for word in subject.server.command]
    at_home = subject.model_copy(update={"server": subject.server.model_copy(update={"command": command})})
    failed = failures(list(verify_server(at_home, pool)))
    assert list(failed) == ["trial"]
    assert failed["trial"].startswith("server-not-ready")
    assert "waiting for TCP port 4443 of 10.1.0.2; it listens on TCP 127.0.0.1:4443" in failed["trial"]


@pytest.mark.usefixtures("go")
def test_qlog_that_is_declared_and_not_written(tmp_path: Path, pool: Pool, records: Path) -> None:
    declared = other(tmp_path, "h3", features='qlog = ["h3"]\ncongestion = {h3 = ["cubic"]}')
    failed = failures(list(up_to("qlog", verify_server(declared, pool))))
    [kept] = (records / "other").glob("server-*/h3-qlog")
    assert failed == {"qlog": f"0 events about packets ({kept})"}
    assert (kept / "logs/server.log").is_file()


def test_handshakes_alone_prove_no_qlog(go: Subject, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h123.verification.server_cases.LOGGED_BYTES", 0)  # what the probe asks for, not what is wanted
    assert go.server
    over_h3 = go.model_copy(update={"server": go.server.model_copy(update={"protocols": ["h3"]})})
    failed = failures(list(up_to("qlog", verify_server(over_h3, pool))))
    assert list(failed) == ["qlog"]
    assert int(failed["qlog"].split()[0]) > 50  # handshakes were logged


@pytest.mark.usefixtures("go")
def test_a_server_that_does_not_stop(tmp_path: Path, pool: Pool) -> None:
    deaf = """"sh", "-c", "trap '' TERM; \\"$@\\" & while :; do wait; sleep 0.1; done", "deaf", """
    failed = failures(list(verify_server(other(tmp_path, before=deaf), pool)))
    assert list(failed) == ["clean stop"]
    assert "still ran 2 s after SIGTERM" in failed["clean stop"]


@pytest.mark.usefixtures("go")
def test_a_server_that_was_late_to_stop_once(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    late = """test -e \\"$0\\" && exec \\"$@\\"; trap '' TERM; \\"$@\\" & while :; do wait; done"""
    subject = other(tmp_path, before=f'"sh", "-c", "{late}", "{tmp_path}/late", ')
    contract = next(question for question in questions(subject) if question.purpose == "contract")
    monkeypatch.setattr("h123.verification.server.questions", lambda _: [contract])
    events = pool.events

    def once() -> Sequence[PoolEvent]:
        """What a server writes does not outlive its trial, so the file is written here."""
        happened = events()
        if any(isinstance(event, AttemptDone) for event in happened):
            (tmp_path / "late").touch()
        return happened

    monkeypatch.setattr(pool, "events", once)
    assert failures(list(verify_server(subject, pool))) == {}
    assert (tmp_path / "late").is_file()


LINGERS = """\
import signal, subprocess, sys, time

def stop(*_):
    while any(line.split()[3] == "01" for line in open("/proc/self/net/tcp").readlines()[1:]):
        time.sleep(0.05)
    server.terminate()

signal.signal(signal.SIGTERM, stop)
server = subprocess.Popen(sys.argv[1:], process_group=0)
sys.exit(max(server.wait(), 0))
"""
"""Runs a server, which it stops when no connection is open any more."""


@pytest.mark.usefixtures("go")
def test_a_server_that_stops_only_when_its_clients_have_gone(tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "lingers.py").write_text(LINGERS)
    failed = failures(list(verify_server(other(tmp_path, before=f'"python3", "{tmp_path}/lingers.py", '), pool)))
    assert list(failed) == ["nothing left behind", "clean stop"]  # killed, it cannot stop the server that it runs
    assert "still ran 2 s after SIGTERM" in failed["clean stop"]


@pytest.mark.usefixtures("go")
def test_a_server_that_does_not_start(tmp_path: Path, pool: Pool) -> None:
    failed = failures(list(verify_server(other(tmp_path, spoken="h4"), pool)))
    assert list(failed) == ["trial"]
    assert "protocol" in failed["trial"]


@pytest.mark.heavy
@pytest.mark.usefixtures("go")
def test_a_controller_that_is_declared_and_not_chosen(tmp_path: Path, pool: Pool) -> None:
    """quic-go has CUBIC, whatever the command line says."""
    declared = other(tmp_path, "h3", features='congestion = {h3 = ["cubic", "reno", "bbr"]}')
    failed = failures(list(verify_server(declared, pool)))
    assert list(failed) == ["congestion reno", "congestion bbr"]
    for detail in failed.values():
        assert detail.startswith("behaves like cubic: ")


@pytest.mark.heavy
@pytest.mark.usefixtures("go")
def test_settings_that_are_declared_and_not_taken(tmp_path: Path, pool: Pool) -> None:
    ignoring = '"env", "SETTINGS={initial_window} {pacing} {max_datagram}", '
    features = "\n".join(['congestion = {h3 = ["cubic"]}', *(f'{name} = ["h3"]' for name in SETTINGS)])
    declared = other(tmp_path, "h3", before=ignoring, features=features)
    failed = failures(list(verify_server(declared, pool)))
    assert list(failed) == ["initial window 10", "pacing off", "packet size 1252", "packet size 1448"]
    assert failed["initial window 10"].startswith("3")  # quic-go's 32


@pytest.mark.heavy
@pytest.mark.usefixtures("go")
def test_a_single_controller_is_proved_too(tmp_path: Path, pool: Pool) -> None:
    failed = failures(list(verify_server(other(tmp_path, "h3", features='congestion = {h3 = ["reno"]}'), pool)))
    assert failed["congestion reno"].startswith("behaves like cubic: ")
