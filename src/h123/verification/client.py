"""Verification of a client: it carries out assignments against the embedded server, each in a lab of its own."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from h123.campaign.certificate import Certificate
from h123.campaign.engine import Engine
from h123.campaign.trialfile import write_trial_files
from h123.catalogue import Subject
from h123.results import ingest
from h123.study import PlannedTrial
from h123.verification.assignment import Assignment, assignments
from h123.verification.conduct import Row, Window, faults_of

_LOG_LINES = 5
_MOST_FAULTS = 3
_SEED = 1


@dataclass(frozen=True)
class Carried:
    """What came of an assignment."""

    reasons: list[dict[str, str]]
    """Why the trial is not valid; none: it is."""
    rows: list[Row]
    facts: Any
    window: Window
    log: str
    """The end of what the client printed."""


@dataclass(frozen=True)
class Judgement:
    """An assignment with what was wrong with it."""

    assignment: Assignment
    faults: list[str]
    facts: Any


def verify_client(
    subject: Subject, server: Subject, certificate: Certificate, engine: Engine, scratch: Path
) -> Iterator[Judgement]:
    """Carries out one assignment after another; both subjects are installed."""
    subjects = {subject.name: subject, server.name: server}
    for number, asked in enumerate(assignments(subject), 1):
        carried = carry_out(asked, subjects, certificate, engine, scratch / f"{number:02}")
        yield Judgement(asked, judge(asked, subject, carried), carried.facts)


def carry_out(
    asked: Assignment, subjects: Mapping[str, Subject], certificate: Certificate, engine: Engine, folder: Path
) -> Carried:
    """One trial in a new folder."""
    folder.mkdir(parents=True)
    trial = PlannedTrial(folder.name, 1, 1, {}, False, asked.parameters, _SEED)
    networks = {asked.parameters.network: asked.network}
    write_trial_files(folder, trial, networks, subjects, certificate, check=False)
    workload = folder / "workload.json"
    workload.write_text(json.dumps(asked.workload(json.loads(workload.read_text("utf-8"))), indent=1) + "\n", "utf-8")
    before = time.monotonic_ns()
    engine.start(folder)
    engine.wait()
    window = (before, time.monotonic_ns())
    report = json.loads((folder / "report.json").read_text("utf-8"))
    reasons = report["reasons"] or ingest(folder, asked.parameters.model_dump(mode="json"))
    return Carried(reasons, _rows(folder), _facts(folder / "client.json"), window, _end_of(folder / "logs/client.log"))


def judge(asked: Assignment, subject: Subject, carried: Carried) -> list[str]:
    """The faults, in words; none: as it should be."""
    assert subject.client is not None
    codes = [reason["code"] for reason in carried.reasons]
    if asked.expected == "unsupported":
        return [] if codes == ["unsupported"] else [f"it did not exit 127: {_told(carried)}"]
    if codes:
        return [_told(carried)]
    return faults_of(asked, subject.client, carried.rows, carried.facts, carried.window)[:_MOST_FAULTS]


def _told(carried: Carried) -> str:
    said = "; ".join(f"{reason['code']}: {reason['detail']}" for reason in carried.reasons) or "the trial is valid"
    return f"{said}; it printed: {carried.log}" if carried.log else said


def _rows(folder: Path) -> list[Row]:
    path = folder / "samples.parquet"
    return list(pq.read_table(path).to_pylist()) if path.is_file() else []


def _facts(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _end_of(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.is_file() else []
    return " / ".join(line.strip() for line in lines[-_LOG_LINES:])
