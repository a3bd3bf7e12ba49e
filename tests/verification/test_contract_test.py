"""Several verifications one after another: what goes wrong with one subject keeps nothing from the others."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from campaign.scripted import ScriptedEngine
from catalogue.small import MANIFEST, write_small
from h123.base.errors import UserError
from h123.base.terminal.steps import Steps
from h123.catalogue import Subject, fingerprint, read_subject
from h123.execution import LocalPool, Pool
from h123.verification import contract_test
from h123.verification.constants.findings import Constants
from h123.verification.contract_test import Part, lacking, measure_each, verify_each
from h123.verification.paths import PathBehaviour
from h123.verification.record import keep_measured, keep_moves, keep_results, read_record, trials_folder
from h123.verification.result import DISTURBED, Result, VerifiedRole

WELL = Result(role="server", protocol="h3", check="GET 1", verdict="passed")
Asking = Callable[[Subject, Pool], Iterator[Result]]


pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def subjects(tmp_path: Path) -> list[Subject]:
    names = ("small", "tiny")
    return [read_subject(write_small(tmp_path, MANIFEST.replace('"small"', f'"{n}"'), name=n)) for n in names]


def _verify(monkeypatch: pytest.MonkeyPatch, subjects: list[Subject], asking: Asking) -> tuple[dict[str, str], str]:
    """What came of the last check of each, and what was said."""
    monkeypatch.setitem(contract_test._VERIFY, "server", asking)
    said = io.StringIO()
    with Steps(Console(file=said, width=200)) as steps:
        asked_as = {subject.name: fingerprint(subject) for subject in subjects}
        found = verify_each(
            [(subject, "server") for subject in subjects], asked_as, LocalPool(engine=ScriptedEngine()), steps
        )
    return {name: f"{results[-1].verdict} {results[-1].detail}" for name, results in found.items()}, said.getvalue()


@pytest.mark.parametrize("error", [KeyError("h3"), ZeroDivisionError("no window"), UserError("checks.json is cut off")])
def test_an_error_is_that_subjects_failure(
    subjects: list[Subject], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def asking(subject: Subject, _: Pool) -> Iterator[Result]:
        yield WELL
        if subject.name == "small":
            raise error

    found, said = _verify(monkeypatch, subjects, asking)
    assert found["small"].startswith("failed ")
    assert str(error) in found["small"]
    assert found["tiny"] == "passed "
    assert "verification failed" in said
    kept = [read_record(subject) for subject in subjects]
    assert [record.passed for record in kept if record] == [False, True]


def test_a_machine_that_cannot_is_no_subjects_failure(subjects: list[Subject], monkeypatch: pytest.MonkeyPatch) -> None:
    def asking(*_: object) -> Iterator[Result]:
        yield WELL
        raise UserError("no namespaces here", status=3)

    with pytest.raises(UserError, match="no namespaces here"):
        _verify(monkeypatch, subjects, asking)
    assert read_record(subjects[0]) is None


def test_results_of_files_that_changed_are_not_kept(subjects: list[Subject], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while they were asked, nor while another one was."""

    def asking(*_: object) -> Iterator[Result]:
        for subject in subjects:
            (subject.folder / "serve").write_text("something else")
        yield WELL

    found, _ = _verify(monkeypatch, subjects, asking)
    assert set(found.values()) == {"failed its files changed meanwhile, so these results are not kept"}
    assert [read_record(subject) for subject in subjects] == [None, None]


def test_two_at_a_time_do_not_verify_the_same_subject(subjects: list[Subject], monkeypatch: pytest.MonkeyPatch) -> None:
    held = []

    def asking(subject: Subject, _: Pool) -> Iterator[Result]:
        lock = trials_folder(subject).with_name(f"{subject.name}.lock")
        held.append(f":{lock.stat().st_ino} " in Path("/proc/locks").read_text())
        yield WELL

    _verify(monkeypatch, subjects, asking)
    assert held == [True, True]


def test_constants_of_one_do_not_keep_back_the_others(
    subjects: list[Subject], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ("small", "tiny", "huge")
    manifest = MANIFEST.replace("[features]", '[features]\nclocks = ["wall", "virtual"]')
    subjects = [read_subject(write_small(tmp_path, manifest.replace('"small"', f'"{n}"'), name=n)) for n in names]
    monkeypatch.setattr("h123.verification.constants.measure.installed_kernel", lambda: "there")

    def measuring(subject: Subject, role: VerifiedRole, *_: object) -> list[Constants]:
        if subject.name == "small":
            raise UserError("no certificate")
        return [Constants(role=role, protocol="h3", congestion="cubic")]

    monkeypatch.setattr(contract_test, "measure", measuring)
    keep_results(subjects[1], "server", [WELL])
    said = io.StringIO()
    with Steps(Console(file=said, width=200)) as steps:
        measure_each([(subject, "server") for subject in subjects], LocalPool(engine=ScriptedEngine()), steps)
    assert "not measured: no certificate" in said.getvalue()
    assert "not stored: there is no current record; h123 verify huge makes one" in said.getvalue()
    record = read_record(subjects[1])
    assert record is not None
    assert record.constants == [Constants(role="server", protocol="h3", congestion="cubic")]


def test_why_constants_cannot_be_measured_is_said(subjects: list[Subject]) -> None:
    said = io.StringIO()
    with Steps(Console(file=said, width=200)) as steps:
        measure_each([(subjects[0], "server")], LocalPool(engine=ScriptedEngine()), steps)
    assert "constants of small as a server: not measured, the subject does not run under the virtual" in said.getvalue()


FAILED = WELL.model_copy(update={"verdict": "failed"})
LATE = WELL.model_copy(update={"verdict": "unsupported", "detail": f"{DISTURBED}was too busy: 3 ms late"})
NEVER = WELL.model_copy(update={"verdict": "unsupported", "detail": "the client does not know"})


@pytest.mark.parametrize(
    ("results", "parts"),
    [
        ([], {"checks", "constants", "moves", "paths"}),
        ([WELL], {"constants", "moves", "paths"}),
        ([WELL, FAILED], {"checks", "constants", "moves", "paths"}),
        ([WELL, LATE], {"checks", "constants", "moves", "paths"}),
        ([WELL, NEVER], {"constants", "moves", "paths"}),
    ],
)
def test_what_is_missing_is_what_is_not_known_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: list[Result], parts: set[Part]
) -> None:
    monkeypatch.setattr("h123.verification.constants.measure.installed_kernel", lambda: "there")
    manifest = MANIFEST.replace("[features]", '[features]\nclocks = ["wall", "virtual"]')
    subject = read_subject(write_small(tmp_path, manifest))
    assert lacking((subject, "server")) == {"checks", "constants", "moves", "paths"}
    keep_results(subject, "server", results)
    assert lacking((subject, "server")) == parts
    assert lacking((subject, "client")) == {"checks", "constants", "paths"}  # no server, so no client moves
    keep_measured(subject, "server", "constants", [Constants(role="server", protocol="h3", congestion="cubic")])
    keep_moves(subject, [])
    keep_measured(subject, "server", "paths", [PathBehaviour(role="server", clock="wall")])
    assert lacking((subject, "server")) == parts & {"checks"}
    (subject.folder / "serve").write_text("something else")
    assert lacking((subject, "server")) == {"checks", "constants", "moves", "paths"}
