"""The commands `verify` (subjects by their contract, or a campaign's trials by executing them again) and `profile`.

What measures, reads results, analyses and reports is imported by the commands that need it (see h123.cli).
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.terminal.console import out_console, say
from h123.cli import completion
from h123.cli.subjects import Role, profile_subjects, verify_subjects

app = typer.Typer()


@app.command()
def verify(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|TRIAL",
            help="Subjects to verify; or a trial's folder; or a campaign folder followed by trial names.",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Verify all installed subjects.")] = False,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing",
            help="What --all would, where it is not known yet: go on after Ctrl-C, a failure, a busy hour or a change "
            "of subjects.",
        ),
    ] = False,
    role: Annotated[
        Role | None,
        typer.Option(help="Verify only this role of subjects that are both server and client.", show_default=False),
    ] = None,
    constants: Annotated[
        bool, typer.Option("--constants", help="Only measure the constants of subjects that were verified here.")
    ] = False,
    moves: Annotated[
        bool,
        typer.Option("--moves", help="Only see what servers that were verified here make of clients that move."),
    ] = False,
) -> None:
    """Check that subjects do what their manifests declare, or that trials under the virtual clock repeat exactly.

    Subjects (docs/contracts/verifications.md) are checked over each protocol: bodies of all sizes, many requests at
    once and one after another, errors, a clean stop, and every declared feature. Anything declared but not delivered is
    a failure. Subjects named here are installed first if necessary. Then the constants of their stacks are measured
    from packets, such as first flight, growth and times of retransmission, where the virtual kernel is installed, and
    it is seen what becomes of downloads over HTTP/3 whose client moves to another port or address; `h123 list subjects
    NAME` shows all this.

    Trials run twice, and the two runs are compared with each other and with the campaign's own: what the link did
    (packets, bytes, which packets were dropped) and the times of every sample.

    The exit status is 1 if anything fails or does not repeat.
    """
    from h123.catalogue import subject_names

    if everything or missing or not what or what[0] in subject_names():
        if constants and moves:
            raise UserError("give either --constants or --moves; without them everything is verified")
        if everything and missing:
            raise UserError("give either --all or --missing, which is the part of --all that is not known yet")
        only: Literal["constants", "moves"] | None = "constants" if constants else "moves" if moves else None
        verify_subjects(what, everything, role, missing=missing, only=only)
    elif Path(what[0]).exists():
        if role or constants or moves:
            option = "--role" if role else "--constants" if constants else "--moves"
            raise UserError(f"{option} applies to subjects only: a campaign's trial is always verified whole")
        _verify_trials(Path(what[0]), what[1:])
    else:
        message = f"{what[0]} is neither a subject nor the folder of a campaign or trial"
        raise UserError(message, remedy=f"among subjects, {choose(what[0], subject_names())}")


@app.command()
def profile(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Subjects.", show_default=False, autocompletion=completion.subjects),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Profile all installed subjects.")] = False,
    role: Annotated[
        Role | None,
        typer.Option(help="Profile only this role of subjects that are both server and client.", show_default=False),
    ] = None,
) -> None:
    """Say what holds a server or client back in a few standard situations, and how much.

    Each is a trial under the virtual clock over each protocol, with the embedded go as the other end: large bodies each
    way over a far and fast link, losses, a short queue, first requests on a new connection. What its requests spent
    their time on is told from the packets of the link (docs/why.md): slow start, a window, a limit such as flow
    control, losses, round trips to connect. Processing has no part in it.

    Subjects named here are installed first if necessary. `h123 list subjects NAME` shows the last profile of a subject
    that was verified here.
    """
    profile_subjects(names, everything, role)


def _verify_trials(folder: Path, names: list[str]) -> None:
    from h123.campaign import find_trial, verify_trial
    from h123.cli import listing
    from h123.execution import LocalPool

    failed = []
    # All are found before the first is executed: a mistyped name is to be said at once.
    for found in [find_trial(folder, name) for name in names] or [find_trial(folder)]:
        verification = verify_trial(found, LocalPool().engine, say)
        listing.print_repetition(f"{found.trial.id}, two runs now", verification.again, out_console)
        if verification.stored:
            listing.print_repetition(f"{found.trial.id}, stored and now", verification.stored, out_console)
        failed += [] if verification.repeated else [found.trial.id]
    if failed:
        raise UserError(f"did not repeat exactly: {', '.join(failed)}", status=1)
