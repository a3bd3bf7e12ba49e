"""`h123 verify`, `profile` and `matrix`: subjects are installed where they are not, tried, and the outcome is shown."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from h123 import virtual
from h123.base.complaints import choose
from h123.base.errors import Interrupted, UserError
from h123.base.terminal.console import err_console, out_console, say, write
from h123.base.terminal.steps import Steps
from h123.catalogue import (
    PROTOCOLS,
    Subject,
    catalogue,
    check_failures,
    fingerprint,
    install_each,
    installed,
    installed_once,
    subjects_folder,
    unknown_subject,
)
from h123.cli.profile_listing import print_profiles
from h123.cli.subject_listing import print_verification
from h123.execution import ORIGIN, LocalPool
from h123.progress import display_for
from h123.report.catalogue import print_matrix, write_matrix
from h123.verification import (
    PROBE,
    Part,
    Task,
    VerifiedRole,
    counterpart,
    lacking,
    measurable,
    measure_each,
    move_each,
    profile_each,
    public_record,
    roles_of,
    verify_each,
)
from h123.verification.matrix import MatrixFolder, failures, known_cells, pairings, run_matrix

_HELPERS = dict.fromkeys([PROBE, ORIGIN])


def try_pairs(servers: str | None, clients: str | None, protocols: str, out: Path) -> None:
    """What `h123 matrix` does. Raises UserError if a pair fails."""
    known, spoken = catalogue(), [_one_of(PROTOCOLS, name, "protocol") for name in protocols.split(",")]
    asked = pairings(
        _side(known, "server", servers, lambda subject: subject.server is not None),
        _side(known, "client", clients, lambda subject: subject.client is not None),
        spoken,
    )
    sides = [name for pairing in asked for name in (pairing.server, pairing.client)]
    folder = MatrixFolder(out, known)  # before the builds: of these files they are made
    with Steps(err_console) as steps:
        check_failures(_install([*_helpers(known), *(known[name] for name in sides)], steps))
    try:
        run_matrix(asked, known, folder, LocalPool().engine, display_for(err_console))
    except KeyboardInterrupt:
        say("\nInterrupted. Finished pairs are kept; run the same command to resume.")
        raise Interrupted from None
    finally:
        page = out / "matrix.html"
        cells = known_cells(asked, known, folder)
        write_matrix(cells, known, folder.events(), page)
    print_matrix(cells, out_console)
    out_console.print(f"Page: {page}", soft_wrap=True)
    if failed := list(failures(cells)):
        count = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
        raise UserError(f"{count} failed", remedy="the page says why and shows the logs", status=1)


def verify_subjects(
    subjects: Sequence[Subject],
    everything: bool,
    role: VerifiedRole | None,
    *,
    missing: bool = False,
    only: Part | None = None,
) -> None:
    """What `h123 verify` does about subjects; `everything`: those are all, and of them those count that are installed,
    anew where their sources have changed; `missing`: nothing that is known; `only`: the rest of it is known. Raises
    UserError if one does not do what it declares."""
    known, asked = catalogue(), _tasks(subjects, everything, role)
    absent = list(dict.fromkeys(subject.name for subject, _ in asked if everything and not installed_once(subject)))
    if everything and len(absent) == len({subject.name for subject, _ in asked}):
        raise UserError("no subject is installed", remedy="`h123 install NAME`, or `h123 install --all`", status=1)
    wanted = {(s.name, r): _wanted((s, r), missing, only) for s, r in asked if s.name not in absent}
    casts = {(s.name, r): _cast(s, r, known) for s, r in asked if wanted.get((s.name, r))}
    if not casts:
        say("Nothing is missing: all that is installed has been verified as it is now.")
    asked_as = {subject.name: fingerprint(subject) for subject, _ in asked}
    engine = LocalPool().engine
    with Steps(err_console) as steps:
        failed = _install([subject for cast in casts.values() for subject in cast], steps)
        complete = {task for task, cast in casts.items() if not any(subject.name in failed for subject in cast)}

        def tasks(part: Part) -> list[Task]:
            return [(s, r) for s, r in asked if (s.name, r) in complete and part in wanted[s.name, r]]

        try:
            found = verify_each(tasks("checks"), asked_as, engine, steps)
            measure_each(tasks("constants"), engine, steps)
            move_each(tasks("moves"), engine, steps)
        finally:
            engine.stop()
    if found:
        print_verification(found, out_console)
    stranded = [name for name, r in casts.keys() - complete if name not in failed]
    for names, why in ((absent, "not installed"), (stranded, "the server for these clients could not be installed")):
        if names:
            write(out_console, f"Not verified, because {why}: {', '.join(names)}")
    check_failures(failed)
    broken = [name for name, results in found.items() if any(r.verdict == "failed" for r in results)]
    if own := [name for name in found if name not in broken and public_record(known[name]) is None]:
        write(out_console, f"Verified for measuring, not for the catalogue (`h123 publish`): {', '.join(own)}")
    if broken:
        raise UserError(
            f"failed verification: {', '.join(broken)}",
            remedy="the lines above say what failed and where its logs are; mend the subject, or declare less in its "
            "subject.toml",
            status=1,
        )


def _wanted(task: Task, missing: bool, only: Part | None) -> set[Part]:
    every: set[Part] = {only} if only else set(get_args(Part))
    return every & lacking(task) if missing else every


def profile_subjects(subjects: Sequence[Subject], everything: bool, role: VerifiedRole | None) -> None:
    """What `h123 profile` does. Raises UserError where nothing can be measured."""
    known = catalogue()
    asked = [(s, r) for s, r in _tasks(subjects, everything, role) if not everything or installed_once(s)]
    if not asked:
        raise UserError("no subject is installed", remedy="`h123 install NAME`, or `h123 install --all`", status=1)
    for subject in [] if everything else subjects:
        if why := measurable(subject):
            raise UserError(f"{subject.name} has no profile: {why}", status=1)
    engine = LocalPool().engine
    with Steps(err_console) as steps:
        check_failures(_install([subject for task in asked for subject in _cast(*task, known)], steps))
        try:
            found = profile_each(asked, engine, steps)
        finally:
            engine.stop()
    print_profiles(found, out_console)


def _tasks(
    subjects: Sequence[Subject], everything: bool, role: VerifiedRole | None
) -> list[tuple[Subject, VerifiedRole]]:
    """What is to be verified as what. Raises UserError where one that was named has not the role."""
    roles = {subject.name: (subject, roles_of(subject, role)) for subject in subjects}
    idle = [name for name, (_, able) in roles.items() if not able]
    if not everything and (idle or not roles):
        what = f"not a {role}" if role else "neither a server nor a client"
        raise UserError(f"nothing to verify: {', '.join(idle or [virtual.NAME])} is {what}")
    return [(subject, r) for subject, able in roles.values() for r in able]


def _cast(subject: Subject, role: VerifiedRole, known: Mapping[str, Subject]) -> list[Subject]:
    """Those who take part in its verification."""
    return [*_helpers(known), subject, *([counterpart(subject, known)] if role == "client" else [])]


def _install(subjects: Sequence[Subject], steps: Steps) -> dict[str, UserError]:
    """Installs each that is not; what failed, by name. Raises UserError about a helper: without it nothing is asked."""
    missing = {subject.name: subject for subject in subjects if not installed(subject)}
    failed = install_each(list(missing.values()), steps)
    check_failures({name: error for name, error in failed.items() if name in _HELPERS})
    return failed


def _helpers(known: Mapping[str, Subject]) -> list[Subject]:
    """The subjects without which no server can be asked, or answer as a proxy."""
    if lacking := [name for name in _HELPERS if name not in known]:
        raise UserError(
            f"subject {lacking[0]} is missing from {subjects_folder()}; verification needs it as the other end",
            remedy="link it into that folder (docs/contracts/subject.md)",
        )
    return [known[name] for name in _HELPERS]


def _side(known: Mapping[str, Subject], what: str, names: str | None, fits: Callable[[Subject], bool]) -> list[str]:
    """The subjects on one side of the matrix: those named, or all that are installed and fit."""
    able = [name for name, subject in known.items() if fits(subject)]
    if names is not None:
        for name in names.split(","):
            if name not in known:
                raise unknown_subject(name)
        return list(dict.fromkeys(_one_of(able, name, what) for name in names.split(",")))
    if found := [name for name in able if installed(known[name])]:
        return found
    raise UserError(
        f"no {what} is installed",
        remedy=f"run `h123 install NAME`, or name some with --{what}s: those are installed first",
    )


def _one_of(allowed: Sequence[str], name: str, what: str) -> str:
    if name not in allowed:
        remedy = choose(name, allowed) if allowed else f"no subject in {subjects_folder()} is a {what}"
        raise UserError(f"there is no {what} {name!r}", remedy=remedy)
    return name
