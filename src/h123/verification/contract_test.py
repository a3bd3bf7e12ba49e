"""Runs the contract test of several subjects one after another, and shows the progress."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from h123.base.errors import UserError
from h123.base.files.installation import alone
from h123.base.terminal.steps import Steps
from h123.catalogue import QUIC, Subject, fingerprint
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool
from h123.verification.clients.client import verify_client
from h123.verification.constants.measure import measurable, measure
from h123.verification.migration import moved_words, moves
from h123.verification.paths import checks, follows_paths, measure_paths, path_words
from h123.verification.profile import SituationResult, profile
from h123.verification.public_record import begin_record
from h123.verification.record import (
    keep_measured,
    keep_moves,
    keep_results,
    read_record,
    trials_folder,
)
from h123.verification.result import Result, Verdict
from h123.verification.server import verify_server

Task = tuple[Subject, VerifiedRole]
"""A subject to verify, and the role to verify it in."""
Part = Literal["checks", "constants", "moves", "paths"]
"""A part of a verification."""
_NOT_KEPT = "  not stored: there is no current record; `h123 verify {}` makes one"
_VERIFY: dict[VerifiedRole, Callable[[Subject, Pool], Iterator[Result]]] = {
    "server": verify_server,
    "client": verify_client,
}


def roles_of(subject: Subject, asked: VerifiedRole | None = None) -> list[VerifiedRole]:
    """Return the roles in which a subject can be verified. If `asked` names a role, leave out the other one."""
    has: dict[VerifiedRole, bool] = {"server": subject.server is not None, "client": subject.client is not None}
    return [role for role, there in has.items() if there and asked in (None, role)]


def lacking(task: Task) -> set[Part]:
    """Return the parts of a verification that still have to run for a subject's present files in a role: checks that
    have not run, that failed, or that the machine prevented, and measurements that this machine can make but has not
    made."""
    subject, role = task
    record = read_record(subject)
    if record is None:
        return set(get_args(Part))
    parts = set[Part]()
    results = record.of_role(role)
    if not results or any(result.verdict == "failed" or result.open for result in results):
        parts.add("checks")
    if not measurable(subject) and not any(measure_one.role == role for measure_one in record.constants or []):
        parts.add("constants")
    if _meets_moves(task) and record.moves is None:
        parts.add("moves")
    if follows_paths(*task) and not any(behaviour.role == role for behaviour in record.paths or []):
        parts.add("paths")
    return parts


def _meets_moves(task: Task) -> bool:
    """Return whether the subject is tested with clients that move. Only servers that support HTTP/3 are."""
    subject, role = task
    return role == "server" and subject.server is not None and QUIC in subject.server.protocols


def verify_each(
    tasks: Sequence[Task], fingerprints: Mapping[str, str], pool: Pool, steps: Steps
) -> dict[str, list[Result]]:
    """Verify the tasks, store the results in the cache, and return them by subject. All subjects must be installed,
    including the built-in ones.

    `fingerprints` contains the fingerprints of the files from which the subjects were installed.

    Anything that goes wrong with a subject is reported as the subject's failure; other subjects are still verified.
    Raises UserError if this machine cannot execute trials.
    """
    results_of: dict[str, list[Result]] = defaultdict(list)
    for number, (subject, role) in enumerate(tasks, 1):
        steps.begin(f"[{number}/{len(tasks)}] {subject.name} as a {role}: {subject.title} {subject.version}")
        with alone(trials_folder(subject), steps.begin, "verifying"):
            results = list(_followed(_run_checks(subject, role, pool), steps))
            if fingerprint(subject) == fingerprints[subject.name]:
                keep_results(subject, role, results)
            else:
                results += _followed(
                    iter([_broken(role, "its files changed meanwhile, so these results are not kept")]),
                    steps,
                )
        results_of[subject.name] += results
        steps.begin(f"  {tally(results)}")
    return results_of


def measure_each(tasks: Sequence[Task], pool: Pool, steps: Steps) -> None:
    """Measure the constants of each subject and store them in its record. Report subjects that have no record, or whose
    constants cannot be measured.

    Raises UserError if this machine cannot execute trials.
    """

    def measure_one(subject: Subject, role: VerifiedRole) -> bool:
        return keep_measured(subject, role, "constants", measure(subject, role, pool, steps.move))

    _each("constants", _measurable(tasks, "constants", steps), measure_one, steps)


def profile_each(tasks: Sequence[Task], pool: Pool, steps: Steps) -> dict[str, list[SituationResult]]:
    """Profile each subject in the standard situations, store the profiles in the subjects' records, and return them by
    subject."""
    results_of = dict[str, list[SituationResult]]()

    def profile_one(subject: Subject, role: VerifiedRole) -> bool:
        results = profile(subject, role, pool, steps.move)
        results_of.setdefault(subject.name, []).extend(results)
        return keep_measured(subject, role, "profile", results)

    _each("profile", _measurable(tasks, "profile", steps), profile_one, steps)
    return results_of


def path_each(tasks: Sequence[Task], pool: Pool, steps: Steps) -> None:
    """Measure how stacks use ECN and how they adapt to the MTU of a path. Report the results and store them in the
    subjects' records."""

    def measure_one(subject: Subject, role: VerifiedRole) -> bool:
        behaviours = measure_paths(subject, role, pool, steps.move)
        for behaviour in behaviours:
            for name, words in path_words(behaviour):
                steps.begin(f"  {behaviour.protocol} {name}: {words}")
            for _, result in checks(behaviour):
                steps.begin(f"  {describe(result)}")
        return keep_measured(subject, role, "paths", behaviours)

    _each("paths", [task for task in tasks if follows_paths(*task)], measure_one, steps)


def move_each(tasks: Sequence[Task], pool: Pool, steps: Steps) -> None:
    """Measure how HTTP/3 servers react to clients that move, and store the results in the servers' records."""
    for subject, _ in filter(_meets_moves, tasks):
        steps.begin(f"clients of {subject.name} that move")
        with alone(trials_folder(subject), steps.begin, "verifying"):
            begin_record(subject)
            try:
                results = moves(subject, pool, steps.move)
            except UserError as error:
                if error.status == 3:
                    raise
                steps.begin(f"  not seen: {error.message}")
                continue
            for result in results:
                steps.begin(f"  {moved_words(result)}")
            recorded = keep_moves(subject, results)
        if not recorded:
            steps.begin(_NOT_KEPT.format(subject.name))


def _measurable(tasks: Sequence[Task], what: str, steps: Steps) -> list[Task]:
    """Return the tasks whose subjects can be measured under the virtual clock, and report the others."""
    reasons = [(task, measurable(task[0])) for task in tasks]
    for (subject, role), why in reasons:
        if why:
            steps.begin(f"{what} of {subject.name} as a {role}: not measured, {why}")
    return [task for task, why in reasons if not why]


def _each(what: str, tasks: Sequence[Task], measure_one: Callable[[Subject, VerifiedRole], bool], steps: Steps) -> None:
    """Call `measure_one` for each task and report failures. `measure_one` makes the measurement, and returns whether
    there was a record to store it in."""
    for number, (subject, role) in enumerate(tasks, 1):
        steps.begin(f"[{number}/{len(tasks)}] {what} of {subject.name} as a {role}")
        with alone(trials_folder(subject), steps.begin, "verifying"):
            begin_record(subject)
            try:
                recorded = measure_one(subject, role)
            except UserError as error:
                if error.status == 3:
                    raise
                steps.begin(f"  not measured: {error.message}")
                continue
        if not recorded:
            steps.begin(_NOT_KEPT.format(subject.name))


def _run_checks(subject: Subject, role: VerifiedRole, pool: Pool) -> Iterator[Result]:
    """Yield the results, and at the end a failed result if something broke the verification."""
    try:
        yield from _VERIFY[role](subject, pool)
    except UserError as error:
        if error.status == 3:  # the machine's fault, not the subject's
            raise
        yield _broken(role, error.message)
    except Exception as error:
        yield _broken(role, f"{type(error).__name__}: {error}")


def _broken(role: VerifiedRole, why: str) -> Result:
    return Result(role=role, protocol="-", check="verification", verdict="failed", detail=why)


def _followed(results: Iterator[Result], steps: Steps) -> Iterator[Result]:
    """Yield the results as they come, and report each failure at once."""
    for result in results:
        steps.move(f"{result.protocol} {result.check}")
        if result.verdict == "failed":
            steps.begin(f"  {describe(result)}")
        yield result


def describe(result: Result) -> str:
    """Return one result as a line of text."""
    clock = ", virtual clock" if result.clock == "virtual" else ""
    detail = f": {result.detail}" if result.detail else ""
    return f"{result.protocol} {result.check}{clock} {result.verdict}{detail}"


def tally(results: Sequence[Result]) -> str:
    """Return a count such as `44 passed, 2 failed`."""
    counts = Counter(result.verdict for result in results)
    verdicts: tuple[Verdict, ...] = get_args(Verdict)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts if counts[verdict]) or "nothing to verify"
