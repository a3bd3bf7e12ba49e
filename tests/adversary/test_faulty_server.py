"""The zoo: `h123 verify` finds what servers do wrong, and a trial tells of it, or it is said why not."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from adversary.told import TALES, told
from adversary.zoo import Fault, Program, faults, findings, write_faulty, write_made
from h123.catalogue import Subject, catalogue, install, read_subject
from h123.execution import LocalPool, Pool
from h123.execution.certificate import Certificate
from h123.verification.server import verify_server
from h123.verification.server_cases import LARGE, questions
from h123.virtual import installed_kernel

SAMPLE = {"zeros-h1", "errors-h2", "other-alpn-h2", "sorry-h3"}
"""What `make test` asks for: bodies, many requests, negotiation and the end, over each protocol."""
TOLD = {"none-h1", "zeros-h3", "child-h2", "deaf-h1"}
"""And of campaigns' trials: bodies, left-over children, and a server that had to be killed."""


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of failures of the test's own."""
    monkeypatch.setattr("h123.verification.record._folder", lambda: tmp_path / "verified")


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = LocalPool()
    yield pool
    pool.close()


def _judge(fault: Fault, folder: Path, pool: Pool) -> None:
    """What the contract test finds is what it is to find."""
    failed = {result.check: result.detail for result in findings(fault, folder, pool)}
    if fault.found:
        assert fault.found in failed, f"{fault.does}: failed {failed}"
    else:
        assert fault.unasked, "neither found nor said why not"
        assert failed == {}, f"{fault.does}: found, so the zoo's row can say so"


def test_every_fault_is_found_or_said_to_be_not_asked_for() -> None:
    rows = faults()
    assert len({fault.name for fault in rows}) >= 40
    assert [str(fault) for fault in rows if bool(fault.found) == bool(fault.unasked)] == []


@pytest.mark.parametrize("fault", [fault for fault in faults() if str(fault) in SAMPLE], ids=str)
def test_some_of_the_zoo(fault: Fault, tmp_path: Path, pool: Pool) -> None:
    _judge(fault, tmp_path, pool)


@pytest.mark.heavy
@pytest.mark.parametrize("fault", faults(), ids=str)
def test_all_of_the_zoo(fault: Fault, tmp_path: Path, pool: Pool) -> None:
    if fault.virtual and installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed")
    _judge(fault, tmp_path, pool)


def test_of_every_fault_is_known_what_a_trial_tells() -> None:
    assert set(TALES) == {fault.name for fault in faults()}
    assert [name for name, tale in TALES.items() if bool(tale.words) == bool(tale.why)] == []


def _follow(fault: Fault, folder: Path, certificate: Certificate, pool: Pool) -> None:
    """A trial of a campaign tells what it is to tell, and cries wolf over nothing else."""
    words, tale = told(fault, folder, certificate, pool), TALES[fault.name]
    assert words & tale.words if tale.words else not words, f"{fault.does}: {words}"


@pytest.mark.parametrize("fault", [fault for fault in faults() if str(fault) in TOLD], ids=str)
def test_a_trial_tells_of_some(fault: Fault, tmp_path: Path, certificate: Certificate, pool: Pool) -> None:
    _follow(fault, tmp_path, certificate, pool)


@pytest.mark.heavy
@pytest.mark.parametrize("fault", faults(), ids=str)
def test_a_trial_tells_of_all_that_would_change_it(
    fault: Fault, tmp_path: Path, certificate: Certificate, pool: Pool
) -> None:
    _follow(fault, tmp_path, certificate, pool)


def _declaring(folder: Path, name: str, line: str) -> Subject:
    """A server with a fault that its manifest tells of, in a line of [server]."""
    install(catalogue()["go"], print)
    write_faulty(folder, next(one for one in faults() if str(one) == name))
    manifest = (folder / "subject.toml").read_text()
    (folder / "subject.toml").write_text(manifest.replace("[features]", f"{line}\n[features]"))
    return read_subject(folder)


@pytest.mark.parametrize(("declared", "fault"), [(50, ""), (49, "50 were in flight at once, so 49 is not a limit")])
def test_a_declared_limit_is_what_is_found(
    declared: int, fault: str, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = _declaring(tmp_path / "faulty", "streams-h2", f"limits = {{streams = {{h2 = {declared}}}}}")
    asked = [question for question in questions(narrow) if question.purpose == "limit"]
    monkeypatch.setattr("h123.verification.server.questions", lambda _: asked)
    (result,) = verify_server(narrow, pool)
    assert (result.check, result.verdict) == (f"limit of {declared} at once", "failed" if fault else "passed")
    assert result.detail.startswith(fault)


@pytest.mark.skipif(installed_kernel() is None, reason="the virtual kernel is not installed")
@pytest.mark.parametrize(("declared", "fault"), [(20, ""), (5, "the connection was still open after 10 s")])
def test_a_declared_idleness_is_what_is_found(
    declared: int, fault: str, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = _declaring(tmp_path / "faulty", "idle-20s-h2", f'limits = {{idle = {{h2 = "{declared}s"}}}}')
    asked = [question for question in questions(impatient) if question.purpose == "idleness"]
    monkeypatch.setattr("h123.verification.server.questions", lambda _: asked)
    (result,) = verify_server(impatient, pool)
    assert (result.check, result.clock) == ("limit of idleness", "virtual")
    assert result.verdict == ("failed" if fault else "passed")
    assert result.detail.startswith(fault)


@pytest.mark.parametrize(("declared", "fault"), [(20, ""), (30, "a connection may be idle for 20 s, not for 30 s")])
def test_an_announced_idleness_is_the_declared_one(declared: int, fault: str, tmp_path: Path, pool: Pool) -> None:
    impatient = _declaring(tmp_path / "faulty", "announced-idle-h3", f'limits = {{idle = {{h3 = "{declared}s"}}}}')
    result = next(one for one in verify_server(impatient, pool) if one.check == "limits")
    assert result.verdict == ("failed" if fault else "passed")
    assert result.detail.startswith(fault)


@pytest.mark.heavy
@pytest.mark.parametrize("program", ["go", "node"])
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_a_made_server_without_a_reason_keeps_the_contract(
    protocol: str, program: Program, tmp_path: Path, pool: Pool
) -> None:
    if program == "node" and (protocol == "h3" or which("node") is None):
        pytest.skip("the made server on Node.js speaks h1 and h2, where Node.js is installed")
    install(catalogue()["go"], print)
    for result in verify_server(write_made(tmp_path / "made", protocol, [], program), pool):
        assert result.verdict != "failed", result
        if result.check == f"GET {LARGE}":
            return
