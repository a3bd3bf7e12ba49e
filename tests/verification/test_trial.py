"""A trial that the machine disturbed says nothing about a subject; on an engine without namespaces or time."""

from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import ScriptedEngine
from catalogue.small import small
from h123.catalogue import Subject
from h123.execution import LocalPool
from h123.execution.certificate import campaign_certificate
from h123.study import Parameters
from h123.verification.client_cases import assignments
from h123.verification.client_networks import PLAIN
from h123.verification.clients import client
from h123.verification.server import verify_server
from h123.verification.trial import Trial, Trials

LATE = {"code": "client-timeout", "detail": "after 2.1 s"}
STALLED = {"stalls": [[[0, 10**12]], []]}
LATE_LINK = [{"name": "access", "directions": {"up": {"lateness_ns": {"p99": 2_100_000}}, "down": None}}]
EXITED = {"code": "server-exited", "detail": "status 1"}
TWICE, ALWAYS, BOTH = [[LATE], [LATE], []], [[LATE]] * 3, [[LATE, EXITED]]


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return small(tmp_path / "subjects")


def _carried(
    subject: Subject, folder: Path, reasons: list[list[dict[str, str]]], links: Any = None
) -> tuple[Trial, int]:
    """The trial, and how many attempts it took; the machine stalls meanwhile."""
    engine = ScriptedEngine(lambda _, attempt: reasons[attempt - 1], machine=STALLED, links=links)
    trials = Trials({"small": subject}, campaign_certificate(folder / "tls", ["10.1.0.2"]), LocalPool(engine=engine))
    basis: dict[str, Any] = {"server": "small", "client": "small", "network": "plain", "protocol": "h3"}
    trial = trials.carry_out(folder / "trial", Parameters.model_validate(basis), PLAIN)
    return trial, len(engine.ran)


def test_done_again_until_the_machine_let_it(tmp_path: Path, subject: Subject) -> None:
    trial, attempts = _carried(subject, tmp_path, TWICE)
    assert (trial.reasons, trial.disturbed, attempts) == ([], "", 3)


def test_not_for_ever(tmp_path: Path, subject: Subject) -> None:
    trial, attempts = _carried(subject, tmp_path, ALWAYS)
    assert (trial.disturbed, attempts) == ("the machine stalled: after 2.1 s", 3)


def test_a_late_link_says_nothing_about_a_subject(tmp_path: Path, subject: Subject) -> None:
    trial, attempts = _carried(subject, tmp_path, [[]] * 3, links=LATE_LINK)
    assert attempts == 3
    assert trial.disturbed == "the machine was too busy: one packet in a hundred left the link 2.1 ms late or more"


def test_what_else_is_wrong_is_no_disturbance(tmp_path: Path, subject: Subject) -> None:
    trial, attempts = _carried(subject, tmp_path, BOTH)
    assert (trial.disturbed, attempts) == ("", 1)


def test_the_logs_end(tmp_path: Path, subject: Subject) -> None:
    trial, _ = _carried(subject, tmp_path, [[]])
    (trial.folder / "logs").mkdir()
    (trial.folder / "logs/server.log").write_text("one\ntwo\nthree\n")
    (trial.folder / "logs/client.log").touch()
    assert trial.logs(2) == {"server": ["two", "three"]}


@pytest.mark.parametrize("verify", [verify_server, client.verify_client])
def test_a_subject_is_not_at_fault(
    tmp_path: Path, subject: Subject, monkeypatch: pytest.MonkeyPatch, verify: Any
) -> None:
    monkeypatch.setattr("h123.verification.record._folder", lambda: tmp_path / "verified")
    monkeypatch.setattr(client, "assignments", lambda asked: assignments(asked)[:2])
    results = list(verify(subject, LocalPool(engine=ScriptedEngine(lambda *_: [LATE], machine=STALLED))))
    assert {result.verdict for result in results} == {"unsupported"}
    assert {result.detail for result in results} == {"the machine stalled: after 2.1 s"}
    assert not list((tmp_path / "verified").rglob("trial.json"))
