"""`h123 profile`: measures what slows subjects down in a few standard situations."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import err_console, out_console, write
from h123.base.units import format_seconds
from h123.cli import completion
from h123.cli.subjects.selection import RoleOption, named_subjects

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from h123.catalogue import Subject
    from h123.verification import VerifiedRole
    from h123.verification.profile import SituationResult


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Subjects to profile.", show_default=False, autocompletion=completion.subjects
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Profile all installed subjects.")] = False,
    role: Annotated[
        RoleOption | None,
        typer.Option(help="Profile only this role of subjects that are both server and client.", show_default=False),
    ] = None,
) -> None:
    """Measure what slows a server or client down, and by how much, in a few standard situations.

    Each situation is run as a trial under the virtual clock, once over each protocol, with the built-in subject `go` at
    the other end. The situations are large bodies in both directions over a long, fast link; losses; a short queue; and
    first requests on a new connection. The packets on the link show what requests spent their time on (docs/why.md),
    such as slow start, flow control, losses or connection setup. Processing takes no time.

    Subjects that you name are installed first if necessary. `h123 list subjects NAME` shows the last profile of a
    subject that was verified on this machine.

    Examples:

    `h123 profile go`

    `h123 profile nginx curl-quiche`
    """
    _profile_subjects(named_subjects(names, everything)[1], everything, role.value if role else None)


def _profile_subjects(subjects: "Sequence[Subject]", everything: bool, role: "VerifiedRole | None") -> None:
    """Profile the subjects. Raises UserError if nothing can be measured."""
    from h123.base.terminal.steps import Steps
    from h123.catalogue import catalogue, check_failures, installed_once
    from h123.cli.subjects.cast import cast_of, install_missing, tasks_of
    from h123.execution import LocalPool
    from h123.verification import measurable, profile_each

    known_subjects = catalogue()
    tasks = [(s, r) for s, r in tasks_of(subjects, everything, role) if not everything or installed_once(s)]
    if not tasks:
        raise UserError("no subject is installed", remedy="`h123 install NAME`, or `h123 install --all`", status=1)
    for subject in [] if everything else subjects:
        if why := measurable(subject):
            raise UserError(f"{subject.name} has no profile: {why}", status=1)
    with LocalPool() as pool, Steps(err_console) as steps:
        check_failures(
            install_missing([subject for task in tasks for subject in cast_of(*task, known_subjects)], steps)
        )
        profiles = profile_each(tasks, pool, steps)
    _print_profiles(profiles, out_console)


def _print_profiles(profiles: "Mapping[str, Sequence[SituationResult]]", console: "Console") -> None:
    """Print a table for each subject and role, with a row for each situation and a column for each protocol."""
    from h123.verification.profile import SITUATIONS

    for name, profile in profiles.items():
        for role in dict.fromkeys(holding.role for holding in profile):
            write(console, f"{name} as a {role}")
            console.print(_table([holding for holding in profile if holding.role == role]))
            console.print()
    lines = [f"  {situation.title}: {situation.description}" for situation in SITUATIONS]
    write(console, "\n".join(["Under the virtual clock, so without processing:", *lines]), style="dim")
    write(
        console,
        "times the minimum: compared with one round trip plus the body at the link's rate. Held back by: what took a "
        "tenth of the time or more.",
        style="dim",
    )


def _table(profile: "Sequence[SituationResult]") -> "Table":
    from rich.table import Table

    from h123.verification.profile import SITUATIONS, holding_words, slowness

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("situation", "protocol"):
        table.add_column(column, no_wrap=True)
    for column in ("time", "times the minimum"):
        table.add_column(column, justify="right", no_wrap=column == "time")
    table.add_column("held back by", overflow="fold")
    for situation in SITUATIONS:
        for number, holding in enumerate(holding for holding in profile if holding.situation == situation.name):
            took = format_seconds(holding.seconds) if holding.seconds is not None else "-"
            table.add_row(
                "" if number else situation.title, holding.protocol, took, slowness(holding), holding_words(holding)
            )
    return table
