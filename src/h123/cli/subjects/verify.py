"""`h123 verify`: checks subjects against their manifests, and repeats trials under the virtual clock."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.terminal.console import err_console, out_console, say, write
from h123.base.units import format_seconds
from h123.cli import completion
from h123.cli.subjects.selection import RoleOption, named_subjects

if TYPE_CHECKING:
    from rich.console import Console

    from h123.catalogue import Subject
    from h123.measures import Repetition
    from h123.verification import Part, Task, VerifiedRole


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|TRIAL",
            help="Subjects to verify; or the folder of a trial; or the folder of a campaign, followed by names of its "
            "trials.",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Verify all installed subjects.")] = False,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing",
            help="Run only the checks that have no result yet, of the named or else of all installed subjects. Use it "
            "to continue after Ctrl-C or a failure, or when subjects have changed.",
        ),
    ] = False,
    role: Annotated[
        RoleOption | None,
        typer.Option(help="Verify only this role of subjects that are both server and client.", show_default=False),
    ] = None,
    constants: Annotated[
        bool,
        typer.Option(
            "--constants",
            help="For verified subjects, only measure constants, such as the first flight.",
        ),
    ] = False,
    moves: Annotated[
        bool,
        typer.Option(
            "--moves",
            help="For verified servers, only check what happens when clients change their port or address.",
        ),
    ] = False,
    paths: Annotated[
        bool,
        typer.Option(
            "--paths",
            help="For verified subjects, only measure how they use ECN and adapt to the path's MTU.",
        ),
    ] = False,
) -> None:
    """Check that subjects do what their manifests declare, or that trials under the virtual clock repeat exactly.

    h123 checks subjects over each protocol (docs/contracts/verifications.md): bodies of all sizes, many requests at
    once and one after another, errors, a clean stop, and every declared feature. Anything declared but not delivered is
    a failure. Subjects that you name are installed first if necessary. If the virtual kernel is installed, h123 also
    measures constants of the subjects' stacks, such as first flight, window growth and retransmission times. It also
    checks what happens to HTTP/3 downloads when the client's port or address changes, and how a stack uses ECN and
    adapts to the path's MTU. `h123 list subjects NAME` shows the results.

    h123 runs each named trial twice. Both runs must agree with each other and with the campaign in what the link did
    (packets, bytes, which packets were dropped) and in the times of every sample.

    The exit status is 1 if a check fails, or if a trial does not repeat exactly.

    Examples:

    `h123 verify go nginx`

    `h123 verify --missing`
    """
    from h123.catalogue import subject_names

    given: dict[Part, bool] = {"constants": constants, "moves": moves, "paths": paths}
    options = [f"--{part}" for part, asked in given.items() if asked]
    if everything or missing or not what or what[0] in subject_names():
        if len(options) > 1:
            raise UserError(f"give either {' or '.join(options)}; without them everything is verified")
        if everything and missing:
            raise UserError("give either --all or --missing, not both")
        everything = everything or (missing and not what)
        verify_subjects(
            named_subjects(what, everything)[1],
            everything,
            role.value if role else None,
            missing=missing,
            only=next((part for part, asked in given.items() if asked), None),
        )
    elif Path(what[0]).exists():
        if role or options:
            option = "--role" if role else options[0]
            raise UserError(f"{option} applies to subjects only: a campaign's trial is always verified completely")
        _verify_trials(Path(what[0]), what[1:])
    else:
        message = f"{what[0]} is neither a subject nor the folder of a campaign or trial"
        raise UserError(message, remedy=f"among subjects, {choose(what[0], subject_names())}")


def verify_subjects(
    subjects: "Sequence[Subject]",
    everything: bool,
    role: "VerifiedRole | None",
    *,
    missing: bool = False,
    only: "Part | None" = None,
) -> None:
    """Verify subjects as `h123 verify` does. Raises UserError if a subject does not do what it declares.

    With `everything`, `subjects` is the whole catalogue, and the installed ones are verified even if their sources have
    changed. With `missing`, checks with known results are skipped. With `only`, only the named part runs, because
    the results of the other parts are known.
    """
    from h123.base.terminal.steps import Steps
    from h123.catalogue import catalogue, check_failures, fingerprint, installed_once
    from h123.cli.subjects.cast import cast_of, install_missing, tasks_of
    from h123.cli.subjects.subject_listing import print_verification
    from h123.execution import LocalPool
    from h123.verification import Part, Task, measure_each, move_each, path_each, public_record, verify_each

    subjects_known, task_list = catalogue(), tasks_of(subjects, everything, role)
    absent = list(dict.fromkeys(subject.name for subject, _ in task_list if everything and not installed_once(subject)))
    if everything and len(absent) == len({subject.name for subject, _ in task_list}):
        raise UserError("no subject is installed", remedy="`h123 install NAME`, or `h123 install --all`", status=1)
    parts = {(s.name, r): _parts_to_verify((s, r), missing, only) for s, r in task_list if s.name not in absent}
    casts = {(s.name, r): cast_of(s, r, subjects_known) for s, r in task_list if parts.get((s.name, r))}
    if not casts:
        say("Nothing is missing: all installed subjects have been verified with their present files.")
    asked_as = {subject.name: fingerprint(subject) for subject, _ in task_list}
    with LocalPool() as pool, Steps(err_console) as steps:
        failed = install_missing([subject for cast in casts.values() for subject in cast], steps)
        complete = {task for task, cast in casts.items() if not any(subject.name in failed for subject in cast)}

        def tasks(part: Part) -> list[Task]:
            return [(s, r) for s, r in task_list if (s.name, r) in complete and part in parts[s.name, r]]

        results_by_subject = verify_each(tasks("checks"), asked_as, pool, steps)
        measure_each(tasks("constants"), pool, steps)
        move_each(tasks("moves"), pool, steps)
        path_each(tasks("paths"), pool, steps)
    if results_by_subject:
        print_verification(results_by_subject, out_console)
    stranded = [name for name, r in casts.keys() - complete if name not in failed]
    for names, why in ((absent, "not installed"), (stranded, "the server for these clients could not be installed")):
        if names:
            write(out_console, f"Not verified, because {why}: {', '.join(names)}")
    check_failures(failed)
    broken = [name for name, results in results_by_subject.items() if any(r.verdict == "failed" for r in results)]
    if own := [
        name for name in results_by_subject if name not in broken and public_record(subjects_known[name]) is None
    ]:
        write(out_console, f"Verified for measuring, not for the catalogue (`h123 publish`): {', '.join(own)}")
    if broken:
        raise UserError(
            f"failed verification: {', '.join(broken)}",
            remedy="the lines above say what failed and where its logs are; fix the subject, or declare less in its "
            "subject.toml",
            status=1,
        )


def _parts_to_verify(task: "Task", missing: bool, only: "Part | None") -> "set[Part]":
    from h123.verification import Part, lacking

    every: set[Part] = {only} if only else set(get_args(Part))
    return every & lacking(task) if missing else every


def _verify_trials(folder: Path, names: list[str]) -> None:
    from h123.campaign import find_trial, verify_trial
    from h123.execution import LocalPool

    failed = []
    # Find all trials before the first one runs, to report a mistyped name at once.
    for trial in [find_trial(folder, name) for name in names] or [find_trial(folder)]:
        with LocalPool() as pool:
            verification = verify_trial(trial, pool, say)
        print_repetition(f"{trial.trial.id}, two new runs", verification.again, out_console)
        if verification.stored:
            print_repetition(f"{trial.trial.id}, stored and new run", verification.stored, out_console)
        failed += [] if verification.repeated else [trial.trial.id]
    if failed:
        raise UserError(f"did not repeat exactly: {', '.join(failed)}", status=1)


def print_repetition(trial: str, repetition: "Repetition", console: "Console") -> None:
    verdict = "identical" if repetition.identical else "repeated" if repetition.repeated else "did NOT repeat"
    lines = [f"{trial}: {verdict}", _links_line(repetition)]
    lines += [f"    {d.name}: {d.first} and {d.second}" for d in (*repetition.packets, *repetition.bytes)]
    outcomes = f"{repetition.outcomes} outcomes differ" if repetition.outcomes else "outcomes identical"
    lines.append(f"  samples: {repetition.samples}; {outcomes}; {_times(repetition)}")
    if repetition.repeated and not repetition.identical:
        lines.append(
            f"  this can be TLS randomness: signatures of different length change up to {repetition.random_bytes} B "
            f"per direction, and times by up to {format_seconds(repetition.random_ns * 1e-9)}"
        )
    for line in lines:
        console.print(line, soft_wrap=True)


def _links_line(repetition: "Repetition") -> str:
    packets = f"{len(repetition.packets)} differ" if repetition.packets else "identical"
    sizes = f"{len(repetition.bytes)} differ" if repetition.bytes else "identical"
    return f"  links: packet counts and lost packets {packets}; byte counts {sizes}"


def _times(repetition: "Repetition") -> str:
    if not repetition.moved:
        return "times identical"
    return f"{repetition.moved} times differ, by at most {format_seconds(repetition.furthest_ns * 1e-9)}"
