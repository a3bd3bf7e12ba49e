"""The command line: one short function a command.

What measures, reads results, analyses and reports is imported by the commands that need it: the libraries take long to
load, and a mistyped name should be answered at once.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from h123 import __version__, completion, listing, subject_commands
from h123.catalogue import subject_names
from h123.console import err_console, out_console, say, write
from h123.doctor import diagnose
from h123.errors import Interrupted, UserError
from h123.interruption import interruptible
from h123.limits import FULL, exhausted
from h123.paths import lab_binary, typed
from h123.strict import choose
from h123.study import (
    Ledger,
    find_ledgers,
    find_study,
    ledgers_of,
    list_networks,
    load_network,
    load_schema,
    load_study,
    make_plan,
    parse_only,
)
from h123.subject_commands import Role, verify_subjects
from h123.units import parse_share

if TYPE_CHECKING:
    from h123.results import CampaignFolder

app = typer.Typer(
    name="h123",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Measure HTTP/1.1, HTTP/2 and HTTP/3 side by side over emulated networks, and report with sound statistics
which one serves a workload better, by how much, and why.

Start with `h123 run quick`: it measures, analyses and writes a report. `h123 doctor` checks this machine.""",
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


class Transport(StrEnum):
    """How alike the stacks send."""

    DEPLOYED = "deployed"
    MATCHED = "matched"


def _share(text: str) -> float:
    """A share above 0, for an option."""
    try:
        share = parse_share(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if share == 0:
        raise typer.BadParameter("must be above 0")
    return share


StudyArgument = Annotated[
    str,
    typer.Argument(
        help="Study name (`h123 list studies`) or path of its YAML file.", autocompletion=completion.studies
    ),
]
FolderArgument = Annotated[Path, typer.Argument(help="Campaign folder.", show_default=False)]
BlocksOption = Annotated[
    int | None, typer.Option(min=1, help="Number of blocks to run. [default: the study's]", show_default=False)
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0, help="Seed for the order of trials and for the links. [default: the study's]", show_default=False
    ),
]
ScaleOption = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Multiply the number of requests by S (0 < S <= 1), down to one per user. Nothing else changes.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FACTOR=LEVEL[,LEVEL]", help="Run only these levels of a factor. Can be repeated.", show_default=False
    ),
]

ClockOption = Annotated[
    Clock | None,
    typer.Option(
        help="Clock for all trials. virtual: time passes only while everything waits, so processing takes no time "
        "(docs/virtual-clock.md). [default: the study's, otherwise wall]",
        show_default=False,
    ),
]
TransportOption = Annotated[
    Transport | None,
    typer.Option(
        help="deployed: each stack as it comes. matched: what can be made equal is (initial window, pacing, packet "
        "size, window after idle), and what cannot is named (docs/fairness.md). [default: the study's, otherwise "
        "deployed]",
        show_default=False,
    ),
]
LanesOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=200,
        metavar="N",
        help="Run up to N trials over emulated links at the same time; 1 runs them strictly one by one. By default "
        "h123 chooses from the link rates and the processor time that trials take. Under the virtual clock the default "
        "is one per processor.",
        show_default=False,
    ),
]


@app.command()
def run(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Study name or path of its YAML file. Omit it to resume a campaign with --out.",
            show_default=False,
            autocompletion=completion.studies,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Campaign folder. If it already holds a campaign, that campaign is resumed. "
            "[default: campaigns/STUDY-TIME]",
            show_default=False,
        ),
    ] = None,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    only: OnlyOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    lanes: LanesOption = None,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry", help="With --out: try failed and disturbed trials again, as if they had not been tried yet."
        ),
    ] = False,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Look after 8, 12, 16, 20 and 30 blocks, and stop as soon as the question is decided.",
        ),
    ] = False,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=_share,
            help="Run until every interval that answers the question (of the study's first family) is as narrow as ±W. "
            "5% means: from its middle / 1.05 to its middle x 1.05. Begins with 10 blocks and says how many seem "
            "needed; where these are more than 200 it ends, unless --at-most allows more.",
            show_default=False,
        ),
    ] = None,
    at_most: Annotated[
        int | None,
        typer.Option(
            "--at-most",
            metavar="N",
            min=8,
            help="With --until-decided or --width: no more than N blocks.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a study, analyse it and write its report.

    Ctrl-C, a crash or a full disk loses at most the trials in progress: `h123 run --out DIR` resumes where it stopped.
    To add blocks to a finished campaign, use `h123 run --out DIR --blocks N`; each such look at the data makes the next
    one stricter, so if you do not know how many blocks it takes, start with `--until-decided` instead, or with
    `--width 5%` if you want to know how large a difference is.
    """
    with _held_back():
        from h123 import running

    asked = running.Asked(
        study=study,
        out=out,
        blocks=blocks,
        seed=seed,
        only=parse_only(only or []),
        scale=scale,
        clock=clock,
        transport=transport,
        lanes=lanes,
        retry=retry,
        until_decided=until_decided,
        width=width,
        at_most=at_most,
    )
    running.run(asked)


@app.command()
def plan(
    study: StudyArgument,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    only: OnlyOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    lanes: LanesOption = None,
    spread: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            parser=_share,
            help="Standard deviation of a ratio from block to block, such as 10%. [default: published campaigns']",
            show_default=False,
        ),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            parser=_share,
            help="The difference to be found, such as 10%. [default: the study's margin]",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=_share,
            help="Also say how many blocks `run --width W` would take.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show what `run` would do, without running it: treatments, trials, order, estimated time and bytes.

    And what the blocks buy: how narrow the intervals will be, and how likely each family of comparisons is to find a
    difference of a given size, by the spread that published campaigns had between blocks (docs/statistics.md).
    """
    from h123.campaign import Lanes, check_campaign, lacking, likeness
    from h123.foresight import print_foresight

    asked = load_study(find_study(study)).scaled(1.0 if scale is None else scale)
    asked = asked.settled(clock=clock, transport=transport)
    planned = make_plan(asked, blocks=blocks, seed=seed, only=parse_only(only or []))
    check_campaign(planned)  # what `run` would refuse
    listing.print_plan(planned, Lanes.here(planned, lanes), out_console)
    for found in likeness(planned):
        write(out_console, f"Transport {found.said}")
    print_foresight(planned, out_console, effect=effect, spread=spread, width=width)
    if first := lacking(planned):
        out_console.print(f"Note: {first.message}; {first.remedy}", soft_wrap=True)


@app.command(name="analyse")
def analyse_command(folder: FolderArgument) -> None:
    """Reanalyse a campaign from its raw samples, write verdicts.json and print the answer."""
    from h123.analysis import analyse
    from h123.report import print_summary
    from h123.results import CampaignFolder

    campaign = CampaignFolder.open(folder)
    print_summary(analyse(campaign), out_console, folder)
    _complain_of_damage(campaign)


@app.command()
def report(
    folder: FolderArgument,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_DIR",
            help="Another campaign folder to show beside this campaign and a paper's printed values. Only for studies "
            "named in a file in published/: rest-api, misplaced-tc.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Rewrite report.html and its figures."""
    from h123.analysis import analyse
    from h123.report import write_report
    from h123.results import CampaignFolder

    campaign = CampaignFolder.open(folder)
    analyse(campaign)
    out_console.print(str(write_report(campaign, beside)), soft_wrap=True)
    _complain_of_damage(campaign)


@app.command(name="export")
def export_command(
    folder: FolderArgument,
    format: Annotated[Format, typer.Option(help="File format.")] = Format.CSV,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: FOLDER/export]", show_default=False),
    ] = None,
) -> None:
    """Export all samples and the metrics of each trial for use in other tools."""
    from h123.results import CampaignFolder, export

    campaign = CampaignFolder.open(folder)
    for path in export(campaign, format.value, out or campaign.path / "export"):
        out_console.print(str(path), soft_wrap=True)
    _complain_of_damage(campaign)


@app.command(name="import")
def import_command(
    files: Annotated[list[Path], typer.Argument(help="Files with samples.", show_default=False)],
    schema: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="What the columns mean: oha, h2load, k6, k6-csv, or the path of a YAML file.",
            autocompletion=completion.schemas,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the new campaign.")],
) -> None:
    """Import samples measured with another tool, analyse them and write a report.

    Nothing is made up: audits that need something the files do not record (link, CPU, order...) are skipped, and the
    summary says what is missing as a result. See docs/import.md for an example.
    """
    from h123.results import import_samples
    from h123.running import conclude

    conclude(import_samples(files, load_schema(schema), out))


@app.command()
def verify(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|TRIAL",
            help="Subjects to verify; or a trial's folder; or a campaign folder followed by trial names.",
            show_default=False,
            autocompletion=subject_names,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Verify all installed subjects.")] = False,
    role: Annotated[
        Role | None,
        typer.Option(help="Verify only this role of subjects that are both server and client.", show_default=False),
    ] = None,
    constants: Annotated[
        bool, typer.Option("--constants", help="Only measure the constants of subjects that were verified here.")
    ] = False,
) -> None:
    """Check that subjects do what their manifests declare, or that trials under the virtual clock repeat exactly.

    Subjects (docs/contracts.md, section 4) are checked over each protocol: bodies of all sizes, many requests at once
    and one after another, errors, a clean stop, and every declared feature. Anything declared but not delivered is a
    failure. Subjects named here are installed first if necessary. Then the constants of their stacks are measured from
    packets, such as first flight, growth and times of retransmission, where the virtual kernel is installed; `h123 list
    subjects NAME` shows them.

    Trials run twice, and the two runs are compared: what the link did (packets, bytes, which packets were dropped) and
    the times of every sample. The exit status is 1 if anything fails or does not repeat.
    """
    if everything or not what or what[0] in subject_names():
        verify_subjects(what, everything, role, only_constants=constants)
    elif Path(what[0]).exists():
        if role or constants:
            option = "--role" if role else "--constants"
            raise UserError(f"{option} applies to subjects only: a campaign's trial is always verified whole")
        _verify_trials(Path(what[0]), what[1:])
    else:
        message = f"{what[0]} is neither a subject nor the folder of a campaign or trial"
        raise UserError(message, remedy=f"among subjects, {choose(what[0], subject_names())}")


@app.command()
def claims(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claims files or studies, by name or path. [default: all claims; with --campaign, those that its "
            "study can decide]",
            show_default=False,
            autocompletion=completion.claims_and_studies,
        ),
    ] = None,
    campaign: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Campaign to decide the claims with.", show_default=False)
    ] = None,
) -> None:
    """List published claims with their verdicts.

    A claim is impossible if a printed figure contradicts arithmetic or physics; the calculation is shown. Any other
    claim is open until a campaign of its study decides it: confirmed, direction only (right direction, different size),
    refuted or undecided. The rule is in docs/contracts.md, section 9.
    """
    from h123.analysis import decide, decide_claims
    from h123.report import print_claims
    from h123.results import CampaignFolder

    folder = CampaignFolder.open(campaign) if campaign else None
    ledgers = _ledgers(what or [], folder)
    print_claims(decide_claims(folder, ledgers) if folder else [decide(one) for one in ledgers], out_console)
    if folder:
        _complain_of_damage(folder)


@app.command()
def doctor() -> None:
    """Check what this machine can do, and say how to fix what it cannot."""
    checks = diagnose()
    listing.print_checks(checks, out_console)
    if not all(check.ok or not check.needed for check in checks):
        raise typer.Exit(3)


lab_app = typer.Typer(
    no_args_is_help=True, help="Use the emulated links and network namespaces directly, without a study."
)
app.add_typer(lab_app, name="lab")


@lab_app.command(name="exec")
def lab_exec(
    network: Annotated[
        str,
        typer.Option(
            help="Network name (`h123 list networks`) or path of its YAML file.", autocompletion=list_networks
        ),
    ],
    server: Annotated[str, typer.Option(metavar="CMD", help="Shell command to run on the server host.")],
    client: Annotated[str, typer.Option(metavar="CMD", help="Shell command to run on the client host.")],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the link's report to this file.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the link.")] = 1,
    congestion: Annotated[str, typer.Option(help="TCP congestion control on both hosts.")] = "cubic",
) -> None:
    """Run any two commands across an emulated link.

    `H123_SERVER` holds the server's address on both hosts. You get the client's output and exit status.

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
    """Measure how accurately the link does what is configured, with this machine idle and busy."""
    _become_lab(["bench"])


def _print_version(asked: bool) -> None:
    if asked:
        out_console.print(f"h123 {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Shared by all commands."""


def main() -> None:
    """Entry point: every expected failure ends as one message and an exit status."""
    _heed_signals()
    try:
        with interruptible():
            app(prog_name="h123")
    except UserError as error:
        _fail(error.message, error.remedy, error.status)
    except Interrupted:
        sys.exit(130)
    except KeyboardInterrupt:
        _fail("interrupted", None, 130)
    except OSError as error:
        full = FULL.get(error.errno or 0)
        if error.filename is None and not full:
            _give_up(error)
        message = ": ".join(str(part) for part in (error.filename, full or error.strerror) if part)
        _fail(message, "free some space, then run the same command again" if full else None, 1)
    except Exception as error:
        _give_up(error)


def _ledgers(names: list[str], folder: "CampaignFolder | None") -> list[Ledger]:
    """The ledgers that `claims` is about."""
    if names or folder is None:
        return [ledger for name in names for ledger in find_ledgers(name)] if names else ledgers_of()
    study = folder.study["name"]
    if not (found := ledgers_of(study)):
        raise UserError(f"no claims file is about study {study!r}", remedy="`h123 claims` lists all claims")
    return found


def _complain_of_damage(folder: "CampaignFolder") -> None:
    """What a campaign has lost since it was measured, after everything that it still has was shown."""
    if lost := list(folder.lost().values()):
        again = f"h123 run --out {typed(folder.path)} repeats just these trials"
        raise UserError(
            f"{len(lost)} trials are left out, for their files are not those that were measured: {'; '.join(lost[:3])}"
            + (f"; and {len(lost) - 3} more" if len(lost) > 3 else ""),
            remedy=f"restore the files from a copy; or {'import the samples again' if folder.origin else again}",
            status=1,
        )


def _verify_trials(folder: Path, names: list[str]) -> None:
    from h123.campaign import LocalEngine, find_trial, verify_trial

    failed = []
    # All are found before the first is executed: a mistyped name is to be said at once.
    for found in [find_trial(folder, name) for name in names] or [find_trial(folder)]:
        repetition = verify_trial(found, LocalEngine(), say)
        listing.print_repetition(found.trial.id, repetition, out_console)
        failed += [] if repetition.repeated else [found.trial.id]
    if failed:
        raise UserError(f"did not repeat exactly: {', '.join(failed)}", status=1)


def _become_lab(arguments: list[str]) -> None:
    sys.stdout.flush()
    os.execv(lab_binary(), [str(lab_binary()), *arguments])


def _heed_signals() -> None:
    """Whoever asks us to end, or closes the terminal, interrupts as Ctrl-C does, unless `nohup` or `&` said otherwise.

    Until now Ctrl-C has ended us at once (__main__.py).
    """
    signal.signal(signal.SIGTERM, _interrupt)
    for each in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _interrupt)


@contextmanager
def _held_back() -> Iterator[None]:
    """Signals wait: the interruption of an import would be shown, or lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _give_up(error: Exception) -> NoReturn:
    if found := exhausted(error):
        _fail(found.message, found.remedy, found.status)
    raise error  # a defect: the traceback is wanted


def _fail(message: str, remedy: str | None, status: int) -> NoReturn:
    write(err_console, message, lead="h123: ", lead_style="bold red")
    if remedy:
        write(err_console, remedy, lead="  -> ")
    sys.exit(status)
