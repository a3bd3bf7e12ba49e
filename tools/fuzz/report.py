"""Fuzzes report.json, trial.json and client.json of an attempt, its metrics, and every audit of it."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

from campaign_files import campaign, sample_files
from reader import Reader

from h123.analysis.audits import audit_trials
from h123.documents.lab_report import Report
from h123.documents.reading import read_document
from h123.documents.trial_files import ClientFile, TrialFile
from h123.measures import Attempt, is_machines_fault, own_ns
from h123.measures.attempts import finished_report
from h123.measures.metrics import measure
from h123.report.page.provenance import link_rows
from h123.study import Plan, Study, make_plan


@functools.cache
def _plan() -> Plan:
    folder = campaign()[0]
    return make_plan(
        Study.from_resolved(folder.study), blocks=folder.blocks, seed=folder.seed, level_filter=folder.level_filter
    )


def _audited(**changed: Any) -> None:
    attempts: list[Attempt] = campaign()[1]
    for attempt in (attempts[0], attempts[5]):
        changed_one = replace(attempt, **changed)
        measure(changed_one.summary, changed_one.report, changed_one.facts)
        audit_trials([changed_one, *attempts[6:8]], _plan())
        link_rows([changed_one])


def _read_report(case: bytes, folder: Path) -> None:
    (folder / "report.json").write_bytes(case)
    is_machines_fault(read_document(folder / "report.json", Report))
    report = finished_report(folder / "report.json")
    own_ns(report)
    _audited(report=report)


def _read_trial(case: bytes, folder: Path) -> None:
    (folder / "trial.json").write_bytes(case)
    _audited(link=read_document(folder / "trial.json", TrialFile).links[0])


def _read_client(case: bytes, folder: Path) -> None:
    (folder / "client.json").write_bytes(case)
    _audited(facts=read_document(folder / "client.json", ClientFile))


REPORT = Reader("report", _read_report, lambda: sample_files("report.json"))
TRIAL = Reader("trial", _read_trial, lambda: sample_files("trial.json"))
CLIENT = Reader("client", _read_client, lambda: sample_files("client.json"))
