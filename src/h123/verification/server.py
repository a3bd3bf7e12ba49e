"""Verifies a server: the built-in probe requests everything that the contract promises and the manifest declares."""

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from h123.base.files.scratch import scratch
from h123.base.roots import mounted
from h123.catalogue import Server, Subject, catalogue, command_line, make_bodies
from h123.documents import Document, Shape, read_document, trial_files, write_document
from h123.documents.lab_report import Exit, Report
from h123.execution import ORIGIN, SERVER_ADDRESS, Pool, campaign_certificate
from h123.packets.qlog import QLOG_FOLDER, ill_formed, packet_events
from h123.verification.controller import BODY_BYTES, behaviour, read_arrivals
from h123.verification.record import failures_folder
from h123.verification.result import Result, Verdict
from h123.verification.server_cases import (
    HUGE,
    LARGE,
    LOGGED_BYTES,
    OTHER_SIZES,
    PASSED_BYTES,
    PROBE,
    QUICK_S,
    SIZES,
    Purpose,
    ServerCase,
    questions,
)
from h123.verification.server_checks import crowd, idleness, versions
from h123.verification.server_checks.complaint import explained
from h123.verification.settings import verify_settings
from h123.verification.trial import Trial, Trials, calm_clock
from h123.virtual import NAME, installed_kernel

STOP_NS = 2_000_000_000
"""The time in ns within which a server must stop after SIGTERM."""
MOST_LINES = 1000
"""The number of lines that a server's log must not reach. The requests of a trial are at least twice as many."""
REPEATED: frozenset[Purpose] = frozenset(["versions", "large", "huge", "limit", "idleness", "controller"])
"""The purposes of timing-dependent cases. Such a case runs twice before it is reported as failed, because a busy
machine can distort a server's behaviour, but rarely twice in the same way."""
MOST_ILL_FORMED = 0.01
"""The largest allowed number of malformed records in qlog files, as a share of their events about packets. Readers must
skip such records."""
STOPPED = "clean stop"


def verify_server(subject: Subject, pool: Pool) -> Iterator[Result]:
    """Yield the results of one case after another. The subject and the built-in ones must be installed.

    Failed trials remain, with their logs, in the subject's folder of failures.
    """
    failures = failures_folder(subject, "server")
    subjects = {**{name: catalogue()[name] for name in (PROBE, ORIGIN)}, subject.name: subject}
    make_bodies([*SIZES, *OTHER_SIZES, LARGE, LOGGED_BYTES, BODY_BYTES])
    with scratch() as place:
        certificate = campaign_certificate(place, [SERVER_ADDRESS])
        trials = Trials(subjects, certificate, pool)
        unfit: str | None = None
        for case in questions(subject):
            if unable := _unable(case, unfit):
                yield unable
                continue
            began = time.monotonic()
            results = _ask(case, trials, failures / case.name)
            if case.purpose == "large":
                unfit = _unfit(results, time.monotonic() - began)
            yield from results
        yield from verify_settings(subject, "server", trials, failures)


def _unfit(results: Sequence[Result], took: float) -> str | None:
    """Return why a server is not asked for bodies over 100 MB, or None. `results` and `took`, in seconds, are those of
    the case with a body of 100 MB."""
    if any(result.verdict == "failed" for result in results):
        return f"{LARGE / 1e6:g} MB failed"
    if took > QUICK_S:
        return f"{LARGE / 1e6:g} MB took {took:.0f} s; only servers that need less than {QUICK_S:g} s are asked"
    return None


def _unable(case: ServerCase, unfit: str | None) -> Result | None:
    """Return a result if this case cannot run here, otherwise None. `unfit` is the reason why the largest bodies are
    not requested, if any."""
    if case.parameters.clock == "virtual" and installed_kernel() is None:
        return case.result("everything", "unsupported", f"{NAME} is not installed")
    if case.purpose == "huge":
        if unfit:
            return case.result(f"GET {HUGE}", "unsupported", unfit)
        make_bodies([HUGE])  # only now, because it takes a lot of disk space
    return None


def _ask(case: ServerCase, trials: Trials, folder: Path) -> list[Result]:
    """Return the results of a case. If the case failed, the last attempt's folder remains."""

    def change(folder: Path) -> None:
        _change_trial(folder, _asking(case, folder, trials.subjects[PROBE]))
        address = {
            "address": SERVER_ADDRESS,
            "port": case.parameters.port,
            "ca": mounted("tls", trials.certificate.ca.name),
        }
        (folder / "plan.json").write_text(json.dumps({**case.plan, **address}, indent=1) + "\n", encoding="utf-8")

    results = list[Result]()
    server = trials.subjects[case.parameters.server].server
    assert server is not None
    for question in (case, _again(case, trials.subjects[case.parameters.server])):
        p = question.parameters
        results = list(_judge(question, server, trials.carry_out(folder, p, question.network, change)))
        failed = {result.check for result in results if result.verdict == "failed"}
        if not failed or not (case.purpose in REPEATED or failed == {STOPPED}):
            break
    if not failed:
        shutil.rmtree(folder)
    return [_with_place(result, folder) for result in results]


def _again(case: ServerCase, subject: Subject) -> ServerCase:
    """Return the case to repeat after a failure. A case about a congestion controller is repeated under the virtual
    clock if possible, so that other work on the machine cannot be the reason."""
    clock = calm_clock(subject) if case.purpose == "controller" else case.parameters.clock
    return replace(case, parameters=case.parameters.model_copy(update={"clock": clock}))


def _asking(case: ServerCase, folder: Path, probe: Subject) -> list[str]:
    """Return the command that runs the case: the script versions.py for a case about QUIC versions, otherwise the
    probe."""
    if case.purpose == "versions":
        return versions.command(folder, "plan.json", "checks.json")
    return command_line(probe, "probe", plan="plan.json", checks="checks.json")


def _change_trial(folder: Path, command: list[str]) -> None:
    """Replace the client's command with this one, and give the server the time to stop that the contract allows."""
    path = folder / "trial.json"
    trial = read_document(path, trial_files.TrialFile)
    for role in trial.roles:
        if role.name == "client":
            role.command = command
        elif role.name == "server":
            role.stop_timeout_ns = STOP_NS
    write_document(path, trial)


def _judge(case: ServerCase, server: Server, trial: Trial) -> Iterator[Result]:
    if trial.disturbed:
        yield case.result(case.name, "unsupported", trial.disturbed)
        return
    for reason in trial.reasons:
        yield case.result("trial", "failed", f"{reason['code']}: {reason['detail']}")
    raw_checks = list(_checks(case, trial.folder))
    checks = list(idleness.judge_idleness(server, list(crowd.advised(raw_checks))))
    if case.purpose in _LIMITS:
        if not trial.reasons:
            yield _LIMITS[case.purpose](case, checks)
        return
    if case.purpose in ("versions", "contract"):
        yield from checks
        if case.purpose == "contract" and not trial.reasons:
            yield _log(case, trial)
            yield _left_behind(case, trial.report)
            yield _stop(case, trial.report)
        return
    yield from (result for result in checks if result.verdict == "failed")
    if not trial.reasons and all(result.verdict == "passed" for result in checks):
        yield _SEEN[case.purpose](case, trial.folder)


class Check(Shape):
    check: str
    passed: bool
    detail: str


class Checks(Document):
    """The document that the probe writes."""

    h123: Literal["checks/1"]
    checks: list[Check]


def _checks(case: ServerCase, folder: Path) -> Iterator[Result]:
    path = folder / "checks.json"
    if not path.is_file():
        return
    for check in read_document(path, Checks).checks:
        detail = check.detail if check.passed else explained(check.check, check.detail)
        yield case.result(check.check, "passed" if check.passed else "failed", detail)


def _stop(case: ServerCase, report: Report) -> Result:
    ending = next(role.pid_exit for role in report.roles if role.name == "server") or Exit()
    if ending.code == 0 or ending.signal == signal.SIGTERM:
        return case.result(STOPPED, "passed")
    if ending.signal == signal.SIGKILL:
        return case.result(STOPPED, "failed", f"it still ran {STOP_NS / 1e9:g} s after SIGTERM")
    how = f"signal {ending.signal}" if ending.signal else f"status {ending.code}"
    usual = " (128 + 15: how Java and shells report SIGTERM)" if ending.code == 128 + signal.SIGTERM else ""
    what = f"role server ended with {how}{usual} after SIGTERM; expected status 0, or termination by the signal"
    return case.result(STOPPED, "failed", what)


def _log(case: ServerCase, trial: Trial) -> Result:
    """Return the result about the log of a server that has answered thousands of requests without a problem."""
    cut = [warning["detail"] for warning in trial.report.warnings if warning["code"] == "log-cut"]
    if words := [detail for detail in cut if detail.startswith("role server ")]:
        return case.result("log", "failed", f"{words[0]}: log only errors")
    path = trial.folder / "logs" / "server.log"
    lines = path.read_bytes().count(b"\n") if path.is_file() else 0
    if lines >= MOST_LINES:
        what = f"{lines} lines: log only errors, because a line for each request would be measured too"
        return case.result("log", "failed", what)
    return case.result("log", "passed", f"{lines} lines")


def _left_behind(case: ServerCase, report: Report) -> Result:
    """Return the result about processes that the server left behind. The probe leaves one behind too, on purpose."""
    commands = [warning["detail"].partition(": ")[2] for warning in report.warnings if warning["code"] == "left-behind"]
    survivors = [command for command in "; ".join(commands).split("; ") if command and not _is_probe(command)]
    if not survivors:
        return case.result("nothing left behind", "passed")
    what = f"still ran when the server had ended, and was killed: {'; '.join(survivors)}"
    return case.result("nothing left behind", "failed", what)


def _is_probe(command: str) -> bool:
    """Return whether the command is the probe's. A long path may leave no room for the rest of the command."""
    return "h123-go probe --plan" in command


def _large(case: ServerCase, _: Path) -> Result:
    return case.result(f"GET {case.plan['sizes'][0]}", "passed")


def _older_tls(case: ServerCase, folder: Path) -> Result:
    """Return the result for an older version of TLS: the server negotiated it although the client also offered a newer
    one, and responded over it."""
    words = next(check.detail for check in read_document(folder / "checks.json", Checks).checks if check.check == "TLS")
    return case.result(f"TLS {case.parameters.tls}", "passed", words)


def _edge(case: ServerCase, folder: Path) -> Result:
    """Return the result for an edge: the responses must come from the host behind the edge, whose kernel counts the
    bytes that it sends."""
    report = read_document(folder / "report.json", Report)
    sent_bytes = next(host.counters.grown("IpExt.OutOctets") for host in report.hosts if host.name == "backend")
    verdict: Verdict = "passed" if sent_bytes >= PASSED_BYTES else "failed"
    return case.result("edge", verdict, f"{sent_bytes} bytes came from the host behind it")


def _qlog(case: ServerCase, folder: Path) -> Result:
    try:
        count, ill = packet_events(folder / QLOG_FOLDER), ill_formed(folder / QLOG_FOLDER)
    except ValueError as error:
        return case.result("qlog", "failed", str(error))
    # This many bytes need more packets than this, either sent or acknowledged.
    enough = LOGGED_BYTES // 1500
    verdict: Verdict = "passed" if count >= enough and ill <= MOST_ILL_FORMED * count else "failed"
    besides = f"; {ill} records are not JSON" if ill else ""
    return case.result("qlog", verdict, f"{count} events about packets{besides}")


def _controller(case: ServerCase, folder: Path) -> Result:
    observed = behaviour(read_arrivals(folder / "arrivals.csv"))
    verdict: Verdict = "passed" if observed.controller == case.controller else "failed"
    like = "" if verdict == "passed" else f"behaves like {observed.controller or 'none that is known'}: "
    return case.result(f"congestion {case.controller}", verdict, f"{like}{observed}")


def _limit(case: ServerCase, checks: Sequence[Result]) -> Result:
    """Return the result about a declared limit: if the probe sends one request more than the limit, at least one must
    not begin."""
    declared = case.plan["at_once"] - 1
    fault = crowd.limit_fault(checks, declared)
    return case.result(f"limit of {declared} at once", "failed" if fault else "passed", fault)


def _idleness(case: ServerCase, checks: Sequence[Result]) -> Result:
    """Return the result about a declared idle time: a connection that is idle for longer must be closed."""
    fault = idleness.limit_fault(checks, case.plan["idle_ns"])
    return case.result("limit of idleness", "failed" if fault else "passed", fault)


_LIMITS: dict[Purpose, Callable[[ServerCase, Sequence[Result]], Result]] = {
    "limit": _limit,
    "idleness": _idleness,
}
_SEEN: dict[Purpose, Callable[[ServerCase, Path], Result]] = {
    "large": _large,
    "huge": _large,
    "tls": _older_tls,
    "edge": _edge,
    "qlog": _qlog,
    "controller": _controller,
}


def _with_place(result: Result, folder: Path) -> Result:
    """Return the result. If it is a failure, add the path of the trial's folder."""
    if result.verdict != "failed":
        return result
    return result.model_copy(update={"detail": f"{result.detail} ({folder})"})
