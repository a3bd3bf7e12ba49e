"""The command line: one short function a command.

Analysis and report are imported by the commands that need them: their libraries take longer to load than all else a
command does, and a mistyped name is to be answered at once.
"""

import datetime as dt
import errno
import json
import os
import shlex
import signal
import sys
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from h123 import __version__, listing, subject_commands
from h123.campaign import (
    Campaign,
    Lanes,
    LocalEngine,
    Outcome,
    display_for,
    extend_campaign,
    find_trial,
    run_campaign,
    start_campaign,
    verify_trial,
)
from h123.catalogue import subject_names
from h123.console import err_console, out_console, say
from h123.doctor import diagnose
from h123.errors import UserError
from h123.paths import lab_binary
from h123.results import CampaignFolder, export, import_samples
from h123.strict import choose
from h123.study import (
    Ledger,
    find_ledgers,
    find_study,
    ledgers_of,
    load_network,
    load_schema,
    load_study,
    make_plan,
    parse_only,
)
from h123.subject_commands import Role, verify_subjects

app = typer.Typer(
    name="h123",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Measure HTTP/1.1, HTTP/2 and HTTP/3 side by side over emulated networks, and say with statistics that stand
up which one serves a workload better, by how much, and why.

Start with `h123 run quick`: it measures, analyses and writes a report. `h123 doctor` says what this machine can do.""",
)
app.add_typer(subject_commands.app)


class Format(StrEnum):
    """What `h123 export` can write."""

    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


class Clock(StrEnum):
    """Whose time a trial is measured in."""

    WALL = "wall"
    VIRTUAL = "virtual"


StudyArgument = Annotated[str, typer.Argument(help="A study's name (`h123 list studies`) or its YAML file.")]
FolderArgument = Annotated[Path, typer.Argument(help="A campaign's folder.", show_default=False)]
BlocksOption = Annotated[int | None, typer.Option(min=1, help="Blocks to run instead of the study's number.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Seed of order and links instead of the study's.")]
ScaleOption = Annotated[
    float | None,
    typer.Option(
        metavar="S", help="Make S times as many requests (0 < S <= 1), at least one a user; nothing else changes."
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="FACTOR=LEVEL[,LEVEL]", help="Keep only these levels of a factor. May be given again."),
]

ClockOption = Annotated[
    Clock | None,
    typer.Option(
        help="For all trials. virtual: time passes only while everything waits, so that processing takes none "
        "(docs/virtual-clock.md). By default as the study says, else wall.",
        show_default=False,
    ),
]
LanesOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Run up to N trials over emulated links at once; 1: strictly one after the other. By default chosen from "
        "the links' rates and the machine's measured headroom; 1 where the study takes less than half an hour. Under "
        "the virtual clock: as many as there are processors.",
        show_default=False,
    ),
]


@app.command()
def run(
    study: Annotated[
        str | None, typer.Argument(help="A study's name or YAML file. Not needed to resume with --out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The campaign's folder. One that exists already is gone on with.")
    ] = None,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    only: OnlyOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    lanes: LanesOption = None,
) -> None:
    """Run a study; then analyse it and write its report.

    Ctrl-C (or a crash) loses at most the running trials: `h123 run --out DIR` goes on where it stopped. A finished
    campaign is extended with `h123 run --out DIR --blocks N`.
    """
    campaign = _campaign(study, out, blocks, seed, parse_only(only or []), scale, clock)
    folder = campaign.folder
    try:
        outcome = run_campaign(campaign, LocalEngine(), display_for(err_console), lanes)
    except KeyboardInterrupt:
        say(f"\nInterrupted. Finished trials are kept. Go on with:\n  h123 run --out {shlex.quote(str(folder.path))}")
        raise typer.Exit(130) from None
    _conclude(folder)
    _complain(outcome, folder)


@app.command()
def plan(
    study: StudyArgument,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    only: OnlyOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    lanes: LanesOption = None,
) -> None:
    """Show what `run` would do: treatments, trials, order, estimated time and bytes. Runs nothing."""
    asked = load_study(find_study(study)).scaled(1.0 if scale is None else scale).clocked(clock)
    planned = make_plan(asked, blocks=blocks, seed=seed, only=parse_only(only or []))
    listing.print_plan(planned, Lanes.here(planned, lanes), out_console)


@app.command(name="analyse")
def analyse_command(folder: FolderArgument) -> None:
    """Analyse a campaign again from its raw samples; write verdicts.json and print the answer."""
    from h123.analysis import analyse
    from h123.report import print_summary

    print_summary(analyse(CampaignFolder.open(folder)), out_console, folder)


@app.command()
def report(
    folder: FolderArgument,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_DIR",
            help="Another campaign's folder: its values stand beside a paper's printed ones and this campaign's "
            "(studies that a file in published/ names: rest-api, misplaced-tc).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write report.html and its figures again."""
    from h123.analysis import analyse
    from h123.report import write_report

    campaign = CampaignFolder.open(folder)
    analyse(campaign)
    out_console.print(str(write_report(campaign, beside)), soft_wrap=True)


@app.command(name="export")
def export_command(
    folder: FolderArgument,
    format: Annotated[Format, typer.Option(help="File format.")] = Format.CSV,
    out: Annotated[Path | None, typer.Option(help="Where to; by default DIR/export.")] = None,
) -> None:
    """Write all samples, and the metrics of each trial, for other tools."""
    campaign = CampaignFolder.open(folder)
    for path in export(campaign, format.value, out or campaign.path / "export"):
        out_console.print(str(path), soft_wrap=True)


@app.command(name="import")
def import_command(
    files: Annotated[list[Path], typer.Argument(help="Files of samples.", show_default=False)],
    schema: Annotated[str, typer.Option(help="What the columns mean: oha, h2load, k6, k6-csv, or a YAML file.")],
    out: Annotated[Path, typer.Option(help="The new campaign's folder.")],
) -> None:
    """Bring in samples that another tool measured, then analyse them and write a report.

    What the files do not tell (link, CPU, order...) is not invented: audits that need it have nothing to check, and the
    summary says what it costs. docs/import.md has an example.
    """
    _conclude(import_samples(files, load_schema(schema), out))


@app.command()
def verify(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|TRIAL",
            help="Subjects; or the folder of a campaign's trial; or a campaign's folder, then names of its trials.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All subjects that are installed.")] = False,
    role: Annotated[Role | None, typer.Option(help="Of subjects that are both, only this one.")] = None,
) -> None:
    """Ask subjects for all that they promise; or see whether trials of the virtual clock repeat.

    Subjects (docs/contracts.md, section 4): over each protocol bodies of all sizes, held against what they must be,
    many requests at once and one after another, errors, a clean stop, and every feature that the manifest declares.
    What is declared and not kept is a failure. A subject that is named is installed first.

    Trials are executed twice each: what the link did (packets, bytes, the set of dropped packets) and every sample's
    times are held against each other. Whatever fails or does not repeat ends this with status 1.
    """
    if everything or not what or what[0] in subject_names():
        verify_subjects(what, everything, role)
    elif Path(what[0]).exists():
        if role:
            raise UserError("--role is for subjects; a campaign's trial is verified whole")
        _verify_trials(Path(what[0]), what[1:])
    else:
        message = f"{what[0]} is neither a subject nor a folder"
        raise UserError(message, remedy=f"a campaign's trial, or a subject: {choose(what[0], subject_names())}")


@app.command()
def claims(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="YAML files of claims or of studies, or names of either; by default all claims, with --campaign those "
            "that its study can decide.",
            show_default=False,
        ),
    ] = None,
    campaign: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Decide claims by this campaign.", show_default=False)
    ] = None,
) -> None:
    """List published claims with their verdicts.

    Impossible: a printed figure breaks arithmetic or physics, which is shown. All others are open, with what would
    decide them, unless a campaign of their study does: confirmed, direction only (the size is another one), refuted, or
    undecided. docs/contracts.md, section 9, has the rule.
    """
    from h123.analysis import decide, decide_claims
    from h123.report import print_claims

    folder = CampaignFolder.open(campaign) if campaign else None
    ledgers = _ledgers(what or [], folder)
    print_claims(decide_claims(folder, ledgers) if folder else [decide(one) for one in ledgers], out_console)


@app.command()
def doctor() -> None:
    """Say what this machine can do, and what to do about what it cannot."""
    checks = diagnose()
    listing.print_checks(checks, out_console)
    if not all(check.ok or not check.needed for check in checks):
        raise typer.Exit(3)


lab_app = typer.Typer(no_args_is_help=True, help="Use the lab directly: links and namespaces, without a study.")
app.add_typer(lab_app, name="lab")


@lab_app.command(name="exec")
def lab_exec(
    network: Annotated[str, typer.Option(help="A network's name (`h123 list networks`) or its YAML file.")],
    server: Annotated[str, typer.Option(metavar="CMD", help="Shell command on the server's host.")],
    client: Annotated[str, typer.Option(metavar="CMD", help="Shell command on the client's host.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the link's own report here.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the link.")] = 1,
    congestion: Annotated[str, typer.Option(help="TCP congestion control on both hosts.")] = "cubic",
) -> None:
    """Run any two commands across an emulated link.

    `H123_SERVER` holds the server's address on both sides. The client's output and exit status pass through.

    Example: `h123 lab exec --network poor --server 'python3 -m http.server' --client 'curl -s http://$H123_SERVER:8000/'`
    """
    # A file without a name: there is nothing to tidy up, however this ends.
    link = os.memfd_create("link.json", 0)
    os.write(link, json.dumps(load_network(network).link()).encode())
    command = ["exec", "--link", f"/proc/self/fd/{link}", "--seed", str(seed), "--congestion", congestion]
    command += ["--json", str(json_file)] if json_file else []
    _become_lab([*command, "--server", server, "--client", client])


@lab_app.command(name="bench")
def lab_bench() -> None:
    """Measure the link's accuracy on this machine, idle and busy, beside what is configured."""
    _become_lab(["bench"])


def _print_version(asked: bool) -> None:
    if asked:
        out_console.print(f"h123 {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Shared by all commands."""


def main() -> None:
    """Entry point: every expected failure ends as one message and an exit status."""
    _heed_signals()
    try:
        app(prog_name="h123")
    except UserError as error:
        _fail(error.message, error.remedy, error.status)
    except KeyboardInterrupt:
        _fail("interrupted", None, 130)
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise  # not about a file that the person named, so a defect: the traceback is wanted
        remedy = "free some space, then go on with `h123 run --out DIR`" if error.errno == errno.ENOSPC else None
        _fail(f"{error.filename or 'a file'}: {error.strerror}", remedy, 1)


def _ledgers(names: list[str], folder: CampaignFolder | None) -> list[Ledger]:
    """The ledgers that `claims` is about."""
    if names or folder is None:
        return [ledger for name in names for ledger in find_ledgers(name)] if names else ledgers_of()
    study = folder.study["name"]
    if not (found := ledgers_of(study)):
        raise UserError(f"no file of claims is about study {study!r}", remedy="`h123 claims` lists all claims")
    return found


def _campaign(
    study: str | None,
    out: Path | None,
    blocks: int | None,
    seed: int | None,
    only: dict[str, list[str]],
    scale: float | None,
    clock: Clock | None,
) -> Campaign:
    """The campaign that `run`'s arguments ask for: one to be gone on with, or a new one."""
    if out is not None and (out / "campaign.json").exists():
        folder = CampaignFolder.open(out)
        begun, timed = folder.study.get("scale", 1.0), folder.study["settings"].get("clock")
        if study is not None and load_study(find_study(study)).scaled(begun).clocked(timed).resolved() != folder.study:
            raise UserError(
                f"{out} holds a campaign of another study, or of an earlier version of this one",
                remedy=f"resume it with `h123 run --out {out}`, or name another folder",
            )
        asked = (
            ("--seed", seed, folder.seed),
            ("--only", only or None, folder.only),
            ("--scale", scale, begun),
            ("--clock", clock, timed or "wall"),
        )
        for option, given, kept in asked:
            if given is not None and given != kept:
                raise UserError(f"{option} differs from the one that the campaign in {out} was started with")
        return extend_campaign(out, blocks=blocks, report=say)
    if study is None:
        raise UserError(
            "no study was named" if out is None else f"{out} is no campaign to be gone on with",
            remedy="`h123 run quick` runs the study named quick; `h123 list studies` lists them",
        )
    path = find_study(study)
    out = out or Path("campaigns") / f"{path.stem}-{dt.datetime.now():%Y%m%d-%H%M%S}"
    scale = 1.0 if scale is None else scale
    return start_campaign(path, out, blocks=blocks, seed=seed, only=only, scale=scale, clock=clock, report=say)


def _conclude(folder: CampaignFolder) -> None:
    from h123.analysis import analyse
    from h123.report import print_summary, write_report

    verdicts = analyse(folder)
    path = write_report(folder)
    print_summary(verdicts, out_console, folder.path)
    out_console.print(f"Report: {path}", soft_wrap=True, highlight=False)


def _complain(outcome: Outcome, folder: CampaignFolder) -> None:
    """A campaign with holes ends with a non-zero status, after everything it has was shown."""
    if outcome.failed:
        some = ", ".join(outcome.failed[:3]) + (", ..." if len(outcome.failed) > 3 else "")
        raise UserError(
            f"{len(outcome.failed)} of {outcome.planned} trials have no valid attempt: {some}",
            remedy=f"the report says why; their logs are in {folder.path / 'trials'}",
            status=1,
        )


def _verify_trials(folder: Path, names: list[str]) -> None:
    failed = []
    # All are found before the first is executed: a mistyped name is to be said at once.
    for found in [find_trial(folder, name) for name in names] or [find_trial(folder)]:
        repetition = verify_trial(found, LocalEngine(), say)
        listing.print_repetition(found.trial.id, repetition, out_console)
        failed += [] if repetition.repeated else [found.trial.id]
    if failed:
        raise UserError(f"did not repeat: {', '.join(failed)}", status=1)


def _become_lab(arguments: list[str]) -> None:
    sys.stdout.flush()
    os.execv(lab_binary(), [str(lab_binary()), *arguments])


def _heed_signals() -> None:
    """Whoever asks us to end, or closes the terminal, interrupts as Ctrl-C does; unless `nohup` said otherwise."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _fail(message: str, remedy: str | None, status: int) -> None:
    err_console.print("h123: ", end="", style="bold red")
    err_console.print(message, markup=False, highlight=False, soft_wrap=True)
    if remedy:
        err_console.print(f"  -> {remedy}", markup=False, highlight=False, soft_wrap=True)
    sys.exit(status)
