"""The commands about subjects: what there is, how it gets here, what it can do, and who gets on with whom.

What draws pages is imported by the commands that need it (see h123.cli).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from h123 import listing, virtual
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
    subjects_folder,
)
from h123.console import err_console, out_console, say
from h123.errors import UserError
from h123.steps import Steps
from h123.strict import choose
from h123.subject_listing import print_subject, print_subjects, print_verification
from h123.verification import roles_of, verify_each
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


@app.command(name="list")
def list_command(
    what: Annotated[Shelf, typer.Argument(help="What to list.")],
    names: Annotated[list[str] | None, typer.Argument(help="Subjects to tell all about.", show_default=False)] = None,
) -> None:
    """List subjects (servers and clients), networks or studies; or tell all about some subjects."""
    if names:
        if what is not Shelf.SUBJECTS:
            raise UserError(f"names are for subjects; `h123 list {what}` lists all {what}")
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
        typer.Argument(help=f"Subjects to install, or {virtual.NAME}.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All subjects; that takes hours and gigabytes.")] = False,
) -> None:
    """Install subjects, or the kernel of the virtual clock, into the project's cache. What is there already is left
    alone; what fails does not keep the others from it.

    `h123 install virtual-kernel` builds a user-mode Linux kernel from Debian's source package, for `--clock virtual`.
    """
    kernel, subjects = _named(names, everything)
    with Steps(err_console) as steps:
        failures = install_each(subjects, steps)
        if kernel:
            virtual.install_kernel(steps)
    for name in [s.name for s in subjects if s.name not in failures] + ([virtual.NAME] if kernel else []):
        out_console.print(f"{name}: installed", highlight=False)
    check_failures(failures)


@app.command(name="remove")
def remove_command(
    names: Annotated[list[str], typer.Argument(help=f"Subjects to remove, or {virtual.NAME}.", show_default=False)],
) -> None:
    """Remove installed subjects, or the kernel of the virtual clock, from the project's cache."""
    kernel, subjects = _named(names, everything=False)
    there = {subject.name: remove(subject, say) for subject in subjects}
    if kernel:
        there[virtual.NAME] = virtual.remove_kernel(say)
    for name, was_there in there.items():
        out_console.print(f"{name}: {'removed' if was_there else 'was not installed'}", highlight=False)


@app.command()
def matrix(
    servers: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Servers; by default all installed.", show_default=False)
    ] = None,
    clients: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Clients; by default all installed.", show_default=False)
    ] = None,
    protocols: Annotated[str, typer.Option(metavar="P,...", help="Protocols.")] = ",".join(PROTOCOLS),
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept and the page is written.")] = Path(
        "campaigns/matrix"
    ),
) -> None:
    """Try every client with every server over each protocol: pass, fail or unsupported, in the terminal and as a page.

    Each is a real trial: GET and POST of 100 kB by three users, over a plain link. What is named and not installed is
    installed first. Ctrl-C loses at most the running trial, and the same command goes on. It tries again what failed;
    what passed only if one of its subjects has changed (all: with another --out).
    """
    from h123.report import print_matrix, write_matrix

    known = catalogue()
    asked = pairings(
        _side(known, "server", servers, lambda subject: subject.server is not None),
        _side(known, "client", clients, lambda subject: subject.client is not None),
        [_one_of(PROTOCOLS, name, "protocol") for name in protocols.split(",")],
    )
    sides = [name for pairing in asked for name in (pairing.server, pairing.client)]
    folder = MatrixFolder(out, known)  # before the builds: of these files they are made
    with Steps(err_console) as steps:
        check_failures(_install([*_helpers(known), *(known[name] for name in sides)], steps))
    try:
        run_matrix(asked, known, folder, LocalEngine(), display_for(err_console))
    except KeyboardInterrupt:
        say("\nInterrupted. Finished pairings are kept; the same command goes on.")
        raise typer.Exit(130) from None
    finally:
        page = out / "matrix.html"
        cells = known_cells(asked, known, folder)
        write_matrix(cells, known, folder.events(), page)
    print_matrix(cells, out_console)
    out_console.print(f"Page: {page}", soft_wrap=True, highlight=False)
    if failed := list(failures(cells)):
        count = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
        raise UserError(f"{count} failed", remedy="the page says why and shows their logs", status=1)


@app.command(name="publish")
def publish_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Subjects; by default all that are verified here as they are now.", show_default=False),
    ] = None,
) -> None:
    """Publish what `h123 verify` found here: docs/verified/NAME.json, and docs/catalogue.md written again.

    For those who maintain this project; without new verifications it brings the page up to date with the manifests.
    """
    from h123.report import write_catalogue

    unknown = []
    for subject in _known(names or list(catalogue())):
        if publish(subject):
            out_console.print(f"{subject.name}: published", highlight=False)
        elif names:
            unknown.append(subject.name)
    write_catalogue()
    if unknown:
        raise UserError(
            f"not verified here as they are now: {', '.join(unknown)}",
            remedy=f"`h123 verify {' '.join(unknown)}` first",
            status=1,
        )


def verify_subjects(names: list[str] | None, everything: bool, role: Role | None) -> None:
    """What `h123 verify` does about subjects. Raises UserError where something is not as declared."""
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
            found = verify_each([(s, r) for s, r in asked if (s.name, r) in complete], asked_as, engine, steps)
        finally:
            engine.stop()
    print_verification(found, out_console)
    stranded = [name for name, r in casts.keys() - complete if name not in failed]
    for subjects, why in ((absent, "Not installed"), (stranded, "The server for these clients could not be installed")):
        if subjects:
            out_console.print(f"{why}, so not verified: {', '.join(subjects)}", highlight=False, soft_wrap=True)
    check_failures(failed)
    if broken := [name for name, results in found.items() if any(r.verdict == "failed" for r in results)]:
        raise UserError(f"not as declared: {', '.join(broken)}", status=1)


def _tasks(names: list[str] | None, everything: bool, role: Role | None) -> list[tuple[Subject, VerifiedRole]]:
    """What is to be verified as what. Raises UserError where one that was named has not the role."""
    roles = {s.name: (s, roles_of(s, role.value if role else None)) for s in _named(names, everything)[1]}
    idle = [name for name, (_, able) in roles.items() if not able]
    if not everything and (idle or not roles):
        what = f"no {role}" if role else "neither a server nor a client"
        raise UserError(f"{', '.join(idle or [virtual.NAME])}: {what}, so there is nothing to verify")
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
            f"the subject {lacking[0]}, which asks and answers in verifications, is missing in {subjects_folder()}",
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
    raise UserError(f"no {what} is installed", remedy="`h123 install NAME`, or name some")


def _one_of(allowed: Sequence[str], name: str, what: str) -> str:
    if name not in allowed:
        raise UserError(f"there is no {what} {name!r}", remedy=choose(name, allowed))
    return name


def _named(names: list[str] | None, everything: bool) -> tuple[bool, list[Subject]]:
    """Whether the virtual kernel was named, and the subjects that were; each once, in the order given."""
    if everything == bool(names):
        raise UserError("name subjects, or say --all", remedy="`h123 list subjects` lists them")
    wanted = names or list(catalogue())
    return virtual.NAME in wanted, _known([name for name in wanted if name != virtual.NAME], [virtual.NAME])


def _known(names: Sequence[str], others: Sequence[str] = ()) -> list[Subject]:
    """The subjects of these names, each once; `others` may stand beside them."""
    known = catalogue()
    for name in names:
        if name not in known:
            raise UserError(f"there is no subject {name!r}", remedy=choose(name, [*known, *others]))
    return [known[name] for name in dict.fromkeys(names)]
