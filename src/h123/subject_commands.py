"""The commands about subjects: list, install, remove, verify, publish, and the matrix of servers and clients.

What draws pages is imported by the commands that need it (see h123.cli).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from h123 import completion, listing, virtual
from h123.campaign import LocalEngine, display_for
from h123.campaign.trialfile import ORIGIN
from h123.catalogue import (
    PROTOCOLS,
    Subject,
    catalogue,
    check_failures,
    fingerprint,
    install_each,
    installed,
    remove,
    subject_names,
    subjects_folder,
)
from h123.console import err_console, out_console, say, write
from h123.errors import UserError
from h123.steps import Steps
from h123.strict import choose
from h123.subject_listing import print_subject, print_subjects, print_verification
from h123.verification import measure_each, roles_of, verify_each
from h123.verification.client import counterpart
from h123.verification.matrix import MatrixFolder, failures, known_cells, pairings, run_matrix
from h123.verification.published import publish
from h123.verification.question import PROBE
from h123.verification.record import VerifiedRole

app = typer.Typer()
_HELPERS = dict.fromkeys([PROBE, ORIGIN])


class Role(StrEnum):
    """What a subject can be verified as."""

    SERVER = "server"
    CLIENT = "client"


class Shelf(StrEnum):
    """What `h123 list` can list."""

    SUBJECTS = "subjects"
    NETWORKS = "networks"
    STUDIES = "studies"


def _subjects_unless_others_are_listed(context: typer.Context) -> list[str]:
    return subject_names() if context.params.get("what") in (None, Shelf.SUBJECTS) else []


@app.command(name="list")
def list_command(
    what: Annotated[Shelf, typer.Argument(help="What to list.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects to show in detail.", show_default=False, autocompletion=_subjects_unless_others_are_listed
        ),
    ] = None,
) -> None:
    """List subjects (servers and clients), networks or studies, or show some subjects in detail."""
    if names:
        if what is not Shelf.SUBJECTS:
            raise UserError(f"only subjects can be named; `h123 list {what}` lists all {what}")
        for subject in _known(names):
            print_subject(subject, out_console)
        return
    shelves: dict[Shelf, Callable[[Console], None]] = {
        Shelf.SUBJECTS: print_subjects,
        Shelf.NETWORKS: listing.print_networks,
        Shelf.STUDIES: listing.print_studies,
    }
    shelves[what](out_console)


@app.command(name="install")
def install_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Subjects to install, or {virtual.NAME}.",
            show_default=False,
            autocompletion=completion.installable,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Install all subjects; this takes hours and gigabytes.")
    ] = False,
) -> None:
    """Install subjects or the virtual kernel into the project's cache.

    Subjects that are already installed are left alone, and if one fails to install the others still are.

    `h123 install virtual-kernel` builds a user-mode Linux kernel from Debian's source package, for `--clock virtual`.
    """
    kernel, subjects = _named(names, everything)
    with Steps(err_console) as steps:
        failures = install_each(subjects, steps)
        if kernel:
            virtual.install_kernel(steps)
    for name in [s.name for s in subjects if s.name not in failures] + ([virtual.NAME] if kernel else []):
        out_console.print(f"{name}: installed")
    check_failures(failures)


@app.command(name="remove")
def remove_command(
    names: Annotated[
        list[str],
        typer.Argument(
            help=f"Subjects to remove, or {virtual.NAME}.", show_default=False, autocompletion=completion.installable
        ),
    ],
) -> None:
    """Remove installed subjects or the virtual kernel from the project's cache."""
    kernel, subjects = _named(names, everything=False)
    there = {subject.name: remove(subject, say) for subject in subjects}
    if kernel:
        there[virtual.NAME] = virtual.remove_kernel(say)
    for name, was_there in there.items():
        out_console.print(f"{name}: {'removed' if was_there else 'was not installed'}")


@app.command()
def matrix(
    servers: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Servers. [default: all installed]",
            show_default=False,
            autocompletion=completion.comma_separated(subject_names),
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Clients. [default: all installed]",
            show_default=False,
            autocompletion=completion.comma_separated(subject_names),
        ),
    ] = None,
    protocols: Annotated[str, typer.Option(metavar="P,...", help="Protocols.")] = ",".join(PROTOCOLS),
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results and the page.")] = Path(
        "campaigns/matrix"
    ),
) -> None:
    """Try every client with every server over each protocol, and show which pairs work: pass, fail or unsupported.

    Each pair runs real trials: GET and POST of 100 kB by three users, over a plain veth pair. Subjects named here are
    installed first if necessary. Ctrl-C loses at most the trial in progress; the same command resumes. It retries pairs
    that failed, and pairs that passed only if one of the subjects has changed since. For a fresh start, use another
    --out.
    """
    from h123.report import print_matrix, write_matrix

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
        run_matrix(asked, known, folder, LocalEngine(), display_for(err_console))
    except KeyboardInterrupt:
        say("\nInterrupted. Finished pairs are kept; run the same command to resume.")
        raise typer.Exit(130) from None
    finally:
        page = out / "matrix.html"
        cells = known_cells(asked, known, folder)
        write_matrix(cells, known, folder.events(), page)
    print_matrix(cells, out_console)
    out_console.print(f"Page: {page}", soft_wrap=True)
    if failed := list(failures(cells)):
        count = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
        raise UserError(f"{count} failed", remedy="the page says why and shows the logs", status=1)


@app.command(name="publish")
def publish_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects. [default: all with a current verification on this machine]",
            show_default=False,
            autocompletion=subject_names,
        ),
    ] = None,
) -> None:
    """For maintainers: publish what `h123 verify` found on this machine.

    Writes docs/verified/NAME.json for each subject, then docs/catalogue.md. If there are no new verifications, it just
    brings docs/catalogue.md up to date with the manifests.
    """
    from h123.report import write_catalogue

    unknown = []
    for subject in _known(names or list(catalogue())):
        if publish(subject):
            out_console.print(f"{subject.name}: published")
        elif names:
            unknown.append(subject.name)
    write_catalogue()
    if unknown:
        raise UserError(
            f"no current verification on this machine: {', '.join(unknown)}",
            remedy=f"run `h123 verify {' '.join(unknown)}` first",
            status=1,
        )


def verify_subjects(names: list[str] | None, everything: bool, role: Role | None, *, only_constants: bool) -> None:
    """What `h123 verify` does about subjects. Raises UserError if one does not do what it declares."""
    known, asked = catalogue(), _tasks(names, everything, role)
    absent = list(dict.fromkeys(subject.name for subject, _ in asked if everything and not installed(subject)))
    casts = {(s.name, r): _cast(s, r, known) for s, r in asked if s.name not in absent}
    if everything and not casts:
        raise UserError("no subject is installed", remedy="`h123 install NAME`, or `h123 install --all`", status=1)
    asked_as = {subject.name: fingerprint(subject) for subject, _ in asked}
    engine = LocalEngine()
    with Steps(err_console) as steps:
        failed = _install([subject for cast in casts.values() for subject in cast], steps)
        complete = {task for task, cast in casts.items() if not any(subject.name in failed for subject in cast)}
        try:
            tasks = [(s, r) for s, r in asked if (s.name, r) in complete]
            found = {} if only_constants else verify_each(tasks, asked_as, engine, steps)
            measure_each(tasks, engine, steps)
        finally:
            engine.stop()
    if found:
        print_verification(found, out_console)
    stranded = [name for name, r in casts.keys() - complete if name not in failed]
    for subjects, why in ((absent, "not installed"), (stranded, "the server for these clients could not be installed")):
        if subjects:
            write(out_console, f"Not verified, because {why}: {', '.join(subjects)}")
    check_failures(failed)
    if broken := [name for name, results in found.items() if any(r.verdict == "failed" for r in results)]:
        raise UserError(
            f"failed verification: {', '.join(broken)}",
            remedy="the lines above say what failed and where its logs are; mend the subject, or declare less in its "
            "subject.toml",
            status=1,
        )


def _tasks(names: list[str] | None, everything: bool, role: Role | None) -> list[tuple[Subject, VerifiedRole]]:
    """What is to be verified as what. Raises UserError where one that was named has not the role."""
    roles = {s.name: (s, roles_of(s, role.value if role else None)) for s in _named(names, everything)[1]}
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
            remedy="link it into that folder (docs/contracts.md, section 4)",
        )
    return [known[name] for name in _HELPERS]


def _side(known: Mapping[str, Subject], what: str, names: str | None, fits: Callable[[Subject], bool]) -> list[str]:
    """The subjects on one side of the matrix: those named, or all that are installed and fit."""
    able = [name for name, subject in known.items() if fits(subject)]
    if names is not None:
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


def _named(names: list[str] | None, everything: bool) -> tuple[bool, list[Subject]]:
    """Whether the virtual kernel was named, and the subjects that were; each once, in the order given."""
    if everything == bool(names):
        raise UserError("give either subject names or --all", remedy="`h123 list subjects` lists the subjects")
    wanted = names or list(catalogue())
    return virtual.NAME in wanted, _known([name for name in wanted if name != virtual.NAME], [virtual.NAME])


def _known(names: Sequence[str], others: Sequence[str] = ()) -> list[Subject]:
    """The subjects of these names, each once; `others` may stand beside them."""
    known = catalogue()
    for name in names:
        if name not in known:
            raise UserError(f"there is no subject {name!r}", remedy=choose(name, [*known, *others]))
    return [known[name] for name in dict.fromkeys(names)]
