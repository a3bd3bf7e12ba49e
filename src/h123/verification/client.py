"""Verification of a client: it carries out assignments against the embedded server, each in a lab of its own."""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from h123.campaign.certificate import Certificate, campaign_certificate
from h123.campaign.engine import Engine
from h123.campaign.trialfile import SERVER_ADDRESS, write_trial_files
from h123.catalogue import Subject, catalogue, make_bodies
from h123.results import ingest
from h123.study import PlannedTrial
from h123.verification.assignment import SIZES, Assignment, assignments
from h123.verification.conduct import Row, Window, faults_of
from h123.verification.record import Result, Verdict, failures_folder
from h123.virtual import installed_kernel

_LOG_LINES = 5
_MOST_FAULTS = 3
_MOST_ATTEMPTS = 3
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


def verify_client(subject: Subject, engine: Engine) -> Iterator[Result]:
    """What comes of one assignment after another. The subject, its server and the embedded ones are installed.

    Trials in which something is wrong are kept, with their logs, in the subject's folder of failures.
    """
    kept = failures_folder(subject, "client")
    subjects = {**catalogue(), subject.name: subject}
    make_bodies(SIZES)
    told = set()
    with tempfile.TemporaryDirectory(prefix="h123-verify-") as scratch:
        certificate = campaign_certificate(Path(scratch).resolve(), [SERVER_ADDRESS])
        for number, asked in enumerate(assignments(subject), 1):
            p, folder = asked.parameters, kept / f"{number:02}"
            if p.clock == "virtual" and installed_kernel() is None:
                yield _result(asked, "unsupported", "the virtual kernel is not installed")
                continue
            carried = carry_out(asked, subjects, certificate, engine, folder)
            faults = judge(asked, subject, carried)
            if faults:
                yield _result(asked, "failed", f"{'; '.join(faults)} ({folder})")
                continue
            shutil.rmtree(folder)
            yield _result(asked, "passed")
            if asked.expected == "answers" and p.protocol not in told:
                told.add(p.protocol)
                yield _tls(asked, carried.facts)


def _result(asked: Assignment, verdict: Verdict, detail: str = "") -> Result:
    p = asked.parameters
    return Result(role="client", protocol=p.protocol, clock=p.clock, check=asked.name, verdict=verdict, detail=detail)


def _tls(asked: Assignment, facts: Any) -> Result:
    """What the client says of its connections."""
    known = dict.fromkeys(_kind(told) for told in facts["tls"])
    verdict: Verdict = "passed" if known else "unsupported"
    detail = "; ".join(known) or "the client does not know"
    return Result(role="client", protocol=asked.parameters.protocol, check="TLS", verdict=verdict, detail=detail)


def _kind(told: dict[str, Any]) -> str:
    return ", ".join(str(told[key]) for key in ("version", "cipher", "key_exchange") if told.get(key))


def carry_out(
    asked: Assignment, subjects: Mapping[str, Subject], certificate: Certificate, engine: Engine, folder: Path
) -> Carried:
    """One trial in a new folder; where the machine was too busy for the link, not the client at fault, again."""
    for _ in range(_MOST_ATTEMPTS - 1):
        carried = _attempt(asked, subjects, certificate, engine, folder)
        if [reason["code"] for reason in carried.reasons] != ["link-late"]:
            return carried
        shutil.rmtree(folder)
    return _attempt(asked, subjects, certificate, engine, folder)


def _attempt(
    asked: Assignment, subjects: Mapping[str, Subject], certificate: Certificate, engine: Engine, folder: Path
) -> Carried:
    folder.mkdir(parents=True)
    trial = PlannedTrial(folder.name, 1, 1, {}, False, asked.parameters, _SEED)
    networks = {asked.parameters.network: asked.network}
    write_trial_files(folder, trial, networks, subjects, certificate, check=False)
    workload = folder / "workload.json"
    workload.write_text(json.dumps(asked.workload(json.loads(workload.read_text("utf-8"))), indent=1) + "\n", "utf-8")
    before = time.monotonic_ns()
    engine.start(folder)
    engine.wait()
    # Virtual time is of a kernel of its own, whose clocks begin at its boot.
    window = (before, time.monotonic_ns()) if asked.parameters.clock == "wall" else (0, 2**63)
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
