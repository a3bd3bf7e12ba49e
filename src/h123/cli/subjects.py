"""The commands about subjects: list, install, remove, verify, publish, and the matrix of servers and clients.

What verifies, measures and draws is imported by the commands that need it (see h123.cli).
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import err_console, out_console, say
from h123.cli import completion

if TYPE_CHECKING:
    from h123.catalogue import Subject

KERNEL = "virtual-kernel"
"""What stands for the kernel of the virtual clock among the names of subjects."""
app = typer.Typer()


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
    return completion.subjects() if context.params.get("what") in (None, Shelf.SUBJECTS) else []


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
    if what is Shelf.SUBJECTS:
        from h123.cli.subject_listing import print_subject, print_subjects

        if not names:
            print_subjects(out_console)
            return
        for subject in _known(names):
            print_subject(subject, out_console)
        return
    if names:
        raise UserError(f"only subjects can be named; `h123 list {what}` lists all {what}")
    from h123.cli import listing

    shelves = {Shelf.NETWORKS: listing.print_networks, Shelf.STUDIES: listing.print_studies}
    shelves[what](out_console)


@app.command(name="install")
def install_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Subjects to install, or {KERNEL}.",
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
    from h123 import virtual
    from h123.base.terminal.steps import Steps
    from h123.catalogue import check_failures, install_each

    kernel, subjects = _named(names, everything)
    with Steps(err_console) as steps:
        failures = install_each(subjects, steps)
        if kernel:
            virtual.install_kernel(steps)
    for name in [s.name for s in subjects if s.name not in failures] + ([KERNEL] if kernel else []):
        out_console.print(f"{name}: installed")
    check_failures(failures)


@app.command(name="remove")
def remove_command(
    names: Annotated[
        list[str],
        typer.Argument(
            help=f"Subjects to remove, or {KERNEL}.", show_default=False, autocompletion=completion.installable
        ),
    ],
) -> None:
    """Remove installed subjects or the virtual kernel from the project's cache."""
    from h123 import virtual
    from h123.catalogue import remove

    kernel, subjects = _named(names, everything=False)
    there = {subject.name: remove(subject, say) for subject in subjects}
    if kernel:
        there[KERNEL] = virtual.remove_kernel(say)
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
            autocompletion=completion.comma_separated(completion.subjects),
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Clients. [default: all installed]",
            show_default=False,
            autocompletion=completion.comma_separated(completion.subjects),
        ),
    ] = None,
    protocols: Annotated[str, typer.Option(metavar="P,...", help="Protocols.")] = "h1,h2,h3",
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
    from h123.cli.verifying import try_pairs

    try_pairs(servers, clients, protocols, out)


@app.command(name="publish")
def publish_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects. [default: all of which this machine knows something new]",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
) -> None:
    """For maintainers: publish what `h123 verify` and `h123 profile` found on this machine.

    Writes docs/verified/NAME.json for each subject, then docs/catalogue.md, docs/profiles.md and docs/constants.md.
    Without names, those are left as they are that no newer or other verification of the same files would replace; if
    that is all of them, the pages are just brought up to date with the manifests.
    """
    from h123.catalogue import catalogue
    from h123.report.catalogue import write_catalogue, write_constants, write_profiles
    from h123.verification import has_news, publish

    unknown = []
    asked = _known(names) if names else [subject for subject in catalogue().values() if has_news(subject)]
    for subject in asked:
        if publish(subject):
            out_console.print(f"{subject.name}: published")
        elif names:
            unknown.append(subject.name)
    if not asked:
        out_console.print("nothing new to publish")
    write_catalogue()
    write_profiles()
    write_constants()
    if unknown:
        raise UserError(
            f"no current verification on this machine: {', '.join(unknown)}",
            remedy=f"run `h123 verify {' '.join(unknown)}` first",
            status=1,
        )


def verify_subjects(
    names: list[str] | None,
    everything: bool,
    role: Role | None,
    *,
    missing: bool,
    only: Literal["constants", "moves"] | None,
) -> None:
    """What `h123 verify` does about subjects. Raises UserError if one does not do what it declares."""
    from h123.cli import verifying

    asked = _named(names, everything or missing)[1]
    verifying.verify_subjects(asked, everything or missing, role.value if role else None, missing=missing, only=only)


def profile_subjects(names: list[str] | None, everything: bool, role: Role | None) -> None:
    """What `h123 profile` does."""
    from h123.cli import verifying

    verifying.profile_subjects(_named(names, everything)[1], everything, role.value if role else None)


def _named(names: list[str] | None, everything: bool) -> "tuple[bool, list[Subject]]":
    """Whether the virtual kernel was named, and the subjects that were; each once, in the order given."""
    from h123.catalogue import catalogue

    if everything == bool(names):
        raise UserError("give either subject names or --all", remedy="`h123 list subjects` lists the subjects")
    wanted = names or list(catalogue())
    return KERNEL in wanted, _known([name for name in wanted if name != KERNEL], [KERNEL])


def _known(names: Sequence[str], others: Sequence[str] = ()) -> "list[Subject]":
    """The subjects of these names, each once; `others` may stand beside them."""
    from h123.catalogue import catalogue, unknown_subject

    known = catalogue()
    for name in names:
        if name not in known:
            raise unknown_subject(name, others)
    return [known[name] for name in dict.fromkeys(names)]
