"""Verifies a client: runs cases with it and the server that its manifest names, each in a separate lab."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.roots import mounted
from h123.catalogue import MANIFEST, Subject, check_supported, command_line, make_bodies, make_documents
from h123.documents import Reason, read_document, trial_files, write_document
from h123.execution import SERVER_ADDRESS, Pool, trial_certificate
from h123.packets.qlog import QLOG_FOLDER, events
from h123.store import Rows, Sample
from h123.study.workload import AnyWorkloadFile
from h123.verification.client_cases import SIZES, WITNESS, ClientCase, assignments
from h123.verification.clients.client_checks import faults_of, headers_sent
from h123.verification.clients.receive_limits import Reception, reception, reception_faults, reception_words
from h123.verification.clients.witness import witness
from h123.verification.record import failures_folder
from h123.verification.result import Result, Verdict
from h123.verification.settings import verify_settings
from h123.verification.trial import Trial, Trials, calm_clock, trials_with
from h123.virtual import installed_kernel

_LOG_LINES = 5
_MOST_FAULTS = 3


@dataclass(frozen=True)
class ClientTrial:
    """The trial of a case."""

    trial: Trial
    reasons: list[Reason]
    """The reasons why the trial is not valid, including faults in its samples. Empty if it is valid."""
    rows: list[Sample]
    facts: Any
    certificate_bytes: int


def verify_client(subject: Subject, pool: Pool) -> Iterator[Result]:
    """Yield the results of one case after another. The subject, the server that its manifest names and the built-in
    subjects must be installed.

    Failed trials remain, with their logs, in the subject's folder of failures.
    """
    failures = failures_folder(subject, "client")
    make_bodies(SIZES)
    for case in assignments(subject):
        if documents := case.parameters.workload.documents():
            make_documents(documents.folder, documents.contents)
    answered_protocols = set()
    with trials_with(subject, pool) as (trials, _):
        for number, case in enumerate(assignments(subject), 1):
            p = case.parameters
            if p.clock == "virtual" and installed_kernel() is None:
                yield _result(case, "unsupported", "the virtual kernel is not installed")
                continue
            if case.logged and not p.qlog:
                yield _result(case, "unsupported", f"only qlog files of the server {WITNESS} show it")
                continue
            if case.body and p.server != WITNESS:
                yield _result(case, "unsupported", f"only the server {WITNESS} can send wrong bodies")
                continue
            result, facts = _ask(case, subject, trials, failures / f"{number:02}")
            yield result
            if result.verdict == "passed" and case.expected == "answers" and p.protocol not in answered_protocols:
                answered_protocols.add(p.protocol)
                yield _tls(case, facts)
        yield from verify_settings(subject, "client", trials, failures)


def _ask(case: ClientCase, subject: Subject, trials: Trials, folder: Path) -> tuple[Result, Any]:
    """Return the result of a case, and the client's facts. If the case failed, the last attempt's folder remains."""
    for attempt in range(case.attempts):
        if attempt and case.controller:  # repeat the case where other work cannot be the reason
            calm = case.parameters.model_copy(update={"clock": calm_clock(subject)})
            case = replace(case, parameters=calm)
        client_trial = carry_out(case, trials, folder)
        result = _judge_trial(case, subject, client_trial)
        if result.verdict != "failed":
            break
    return result, client_trial.facts


def counterpart(subject: Subject, subjects: Mapping[str, Subject]) -> Subject:
    """Return the server that a client is verified against.

    Raises UserError naming the manifest if the server does not support every case, including those that the client must
    refuse.
    """
    assert subject.client is not None
    name, place = subject.client.verified_with, f"{subject.folder / MANIFEST}: verified_with"
    if name not in subjects:
        raise UserError(f"{place}: there is no subject {name!r}", remedy=choose(name, subjects))
    for case in assignments(subject):
        try:
            check_supported(subjects[name], "server", case.of_server)
        except UserError as error:
            remedy = f"choose a server that supports what the check {case.name!r} needs"
            raise UserError(f"{place}: {error.message}", remedy=remedy) from None
    return subjects[name]


def _judge_trial(case: ClientCase, subject: Subject, client_trial: ClientTrial) -> Result:
    folder = client_trial.trial.folder
    if not client_trial.trial.disturbed and (faults := judge(case, subject, client_trial)):
        return _result(case, "failed", f"{'; '.join(faults)} ({folder})")
    received = None if client_trial.trial.disturbed else _received(case, client_trial.trial)
    shutil.rmtree(folder)
    if client_trial.trial.disturbed:
        return _result(case, "unsupported", client_trial.trial.disturbed)
    return _result(case, "passed", reception_words(case, received) if received else "")


def _result(case: ClientCase, verdict: Verdict, detail: str = "") -> Result:
    p = case.parameters
    return Result(role="client", protocol=p.protocol, clock=p.clock, check=case.name, verdict=verdict, detail=detail)


def _tls(case: ClientCase, facts: Any) -> Result:
    parts = ("version", "cipher", "key_exchange")
    tls_names = dict.fromkeys(", ".join(str(tls[part]) for part in parts if tls.get(part)) for tls in facts["tls"])
    verdict: Verdict = "passed" if tls_names else "unsupported"
    detail = "; ".join(tls_names) or "the client does not know"
    return Result(role="client", protocol=case.parameters.protocol, check="TLS", verdict=verdict, detail=detail)


def carry_out(case: ClientCase, trials: Trials, folder: Path) -> ClientTrial:
    def change(folder: Path) -> None:
        path = folder / "workload.json"
        file = AnyWorkloadFile.model_validate_json(path.read_bytes())
        write_document(path, case.workload(file))
        if case.body:
            _spoil(case, trials, folder / "trial.json")

    trial = trials.carry_out(folder, case.parameters, case.network, change)
    certificate = trial_certificate(trials.certificate.folder, case.parameters)
    return ClientTrial(trial, trial.faults, _rows(folder), _facts(folder / "client.json"), certificate.bytes())


def _spoil(case: ClientCase, trials: Trials, path: Path) -> None:
    """Replace the server with one that sends the case's wrong body."""
    trial, tls = read_document(path, trial_files.TrialFile), trials.certificate
    [server] = [role for role in trial.roles if role.name == "server"]
    server.command = command_line(
        trials.subjects[WITNESS],
        "spoiler",
        body=case.body,
        address=SERVER_ADDRESS,
        port=case.parameters.port,
        protocol=case.parameters.protocol,
        cert=mounted("tls", tls.cert.name),
        key=mounted("tls", tls.key.name),
    )
    write_document(path, trial)


def judge(case: ClientCase, subject: Subject, client_trial: ClientTrial) -> list[str]:
    assert subject.client is not None
    codes = [reason["code"] for reason in client_trial.reasons]
    if case.expected == "unsupported":
        return [] if codes == ["unsupported"] else [f"it did not exit 127: {_trial_words(client_trial)}"]
    if codes:
        return [_trial_words(client_trial)]
    witnessed = witness(client_trial.trial, case.parameters, client_trial.certificate_bytes)
    faults = faults_of(case, subject.client, client_trial.rows, client_trial.facts, witnessed)
    faults += headers_sent(case, client_trial.rows, _bytes_up(client_trial.trial))
    if case.receives and not faults:
        faults += reception_faults(case, subject.client.limits, _received(case, client_trial.trial))
    return faults[:_MOST_FAULTS]


def _received(case: ClientCase, trial: Trial) -> Reception | None:
    """Return the client's receive limits on the connection with the most requests, or None if the case does not need
    them or no log shows them."""
    logs = (trial.folder / QLOG_FOLDER).iterdir() if case.receives else ()
    return max(
        filter(None, (reception(list(events(log))) for log in logs)), key=lambda limits: limits.streams, default=None
    )


def _bytes_up(trial: Trial) -> int | None:
    """Return the number of bytes that the client sent over the link, or None if the link does not count them."""
    way = (trial.report.links[0].directions or {}).get("up") if trial.report.links else None
    return way.bytes_in if way else None


def _trial_words(client_trial: ClientTrial) -> str:
    sentence = (
        "; ".join(f"{reason['code']}: {reason['detail']}" for reason in client_trial.reasons) or "the trial is valid"
    )
    printed = client_trial.trial.logs(_LOG_LINES).get("client", [])
    return f"{sentence}; it printed: {' / '.join(line.strip() for line in printed)}" if printed else sentence


def _rows(folder: Path) -> list[Sample]:
    path = folder / "samples.parquet"
    return Rows.read(path).samples() if path.is_file() else []


def _facts(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
