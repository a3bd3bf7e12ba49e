"""`h123 run`: starts or resumes a campaign, runs it until it is complete, and analyses it.

A campaign is complete when all planned blocks have run, when a look at the results decides the question
(`--until-decided`), or when the intervals are narrow enough (`--precision`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import Interrupted, UserError, interruptible
from h123.base.limits import FULL
from h123.base.paths import typed
from h123.base.terminal.console import err_console, quietly, say, write
from h123.base.units import format_share
from h123.cli import completion
from h123.cli.answer_form import AnswerForm, DetailsOption, JsonOption, QuietOption, answer_form
from h123.cli.campaigns.run_arguments import RunArguments, check
from h123.cli.campaigns.start import begin_campaign, resume_campaign
from h123.cli.options import (
    ADVANCED,
    AddressOption,
    BlocksOption,
    ClockOption,
    EngineOption,
    FilterOption,
    JobsOption,
    ScaleOption,
    SeedOption,
    ShardOption,
    TransportOption,
    TrustOption,
    read_shard,
    share,
)
from h123.cli.watching import exposition_at, watched

if TYPE_CHECKING:
    from h123.campaign import Campaign, Outcome
    from h123.documents.campaign_file import Precision
    from h123.execution import Pool
    from h123.progress import Display
    from h123.store import CampaignFolder

_NAMED = 3
"""The largest number of undecided comparisons to name."""


def command(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Name of a study, or path of its YAML file. Omit it to resume a campaign with --out.",
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
    levels: FilterOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    jobs: JobsOption = None,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry",
            help="With --out: run failed and disturbed trials again. Their earlier attempts no longer count towards "
            "the limit on attempts.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Look at the results after 8, 12, 16, 20 and 30 blocks, and stop when they decide the question (or "
            "whether the study's requirements hold).",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Run until no interval in the study's first family of comparisons is wider than ±W. ±5% is the range "
            "from middle / 1.05 to middle x 1.05. After 10 blocks, h123 estimates how many blocks are needed, and "
            "stops if the number is above 200 (or --max-blocks).",
            show_default=False,
        ),
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option(
            "--max-blocks",
            metavar="N",
            min=8,
            help="With --until-decided or --precision: run at most N blocks.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    allow_unverified: Annotated[
        bool,
        typer.Option(
            "--allow-unverified",
            help="Measure subjects even if they failed `h123 verify`. The top of the report says so.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    trust: TrustOption = False,
    engine: EngineOption = "local",
    address: AddressOption = None,
    shard: ShardOption = None,
    metrics_listen: Annotated[
        str | None,
        typer.Option(
            "--metrics-listen",
            metavar="[HOST]:PORT",
            help="Serve the campaign's progress to Prometheus at this address, under /metrics, while it runs "
            "(docs/watching.md).",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    details: DetailsOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a study, analyse it and write its report.

    Ctrl-C, a crash or a full disk loses at most the trials in progress: `h123 run --out DIR` resumes the campaign.
    `h123 run --out DIR --blocks N` adds blocks to a finished campaign. Each further look at the data requires stronger
    evidence, so if you do not know how many blocks you need, start with `--until-decided`, or with `--precision 5%` to
    learn how large a difference is.

    If the study has requirements (`require: ["latency new/base <= 1.05"]`), the exit status is 0 if all hold, 99 if one
    does not, and 98 if one is undecided (docs/ci.md).

    Examples:

    `h123 run quick`

    `h123 run my-study.yaml --until-decided --out campaigns/mine`
    """
    from h123.study import parse_filter

    arguments = RunArguments(
        study=study,
        out=out,
        blocks=blocks,
        seed=seed,
        level_filter=parse_filter(levels or []),
        scale=scale,
        clock=clock,
        transport=transport,
        jobs=jobs,
        retry=retry,
        until_decided=until_decided,
        precision=precision,
        max_blocks=max_blocks,
        allow_unverified=allow_unverified,
        metrics_listen=metrics_listen,
        trust=trust,
        engine=engine,
        address=address,
        shard=read_shard(shard),
        form=answer_form(details=details, quiet=quiet, as_json=as_json),
    )
    raise typer.Exit(run(arguments))


def run(arguments: RunArguments) -> int:
    """Run the whole command and return the exit status, which is not 0 if the study's requirements do not hold or are
    undecided. Keeps measured results, whatever happens. Raises Interrupted, UserError."""
    with quietly(is_quiet=arguments.form is AnswerForm.TABLE):
        from h123.cli.campaigns.report import conclude
        from h123.cli.shards.conclusion import conclude_shard

        def finish(finished: "CampaignFolder") -> int:
            if finished.shard:
                return conclude_shard(finished)
            return conclude(finished, arguments.form, most=arguments.most_lines)

        return run_and(arguments, finish)


def run_and(arguments: RunArguments, finish: "Callable[[CampaignFolder], int]") -> int:
    """Start or resume a campaign and run it to its end. Then call `finish`, which returns the exit status. The folder
    stays locked until `finish` returns."""
    from h123.store import CampaignFolder

    there = check(arguments)
    exposition = exposition_at(arguments.metrics_listen)
    campaign = resume_campaign(arguments, there) if there else begin_campaign(arguments)
    folder = campaign.folder
    resume = arguments.resume or f"h123 run --out {typed(folder.path)}"
    is_quiet = arguments.form is AnswerForm.TABLE
    try:
        watch = watched(campaign, exposition, is_quiet=is_quiet, interim=arguments.interim)
        with folder.alone(), interruptible(), watch as display:
            complaint = _run_to_its_end(campaign, arguments, display)
            status = finish(CampaignFolder.open(folder.path))
    except KeyboardInterrupt:
        say(f"\nInterrupted. Finished trials are kept. Resume with:\n  {resume}")
        raise Interrupted from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        message = f"{error.filename or folder.path}: {FULL[error.errno]}. The campaign pauses; finished trials are kept"
        raise UserError(message, remedy=f"free some space, then resume with:\n  {resume}", status=1) from None
    return _exit_status(folder, status, complaint)


def _exit_status(folder: "CampaignFolder", status: int, complaint: UserError | None) -> int:
    """Return the exit status. If the study has requirements, it is the status of `h123 gate`, even if trials are
    missing, because the gate reports missing trials. Otherwise, an incomplete campaign ends with an error."""
    from h123.cli.campaigns import requirements

    if complaint is None:
        return status
    if not requirements.required(folder):
        raise complaint
    write(err_console, complaint.message, lead="Note: ")
    write(err_console, complaint.remedy or "", lead="  -> ")
    return status


def _run_to_its_end(
    campaign: "Campaign", arguments: RunArguments, display: "Callable[[], Display]"
) -> UserError | None:
    """Run the plan, and continue as long as the campaign's stopping rule requires. Return an error if trials have no
    valid result."""
    from h123.campaign import Hopeless, extend_campaign, run_campaign

    while True:
        pool = _pool(campaign, arguments)
        try:
            outcome = run_campaign(campaign, pool, display(), arguments.jobs, retry=arguments.retry)
        except Hopeless as stopped:
            return stopped
        # With --blocks, the campaign ends after that number of blocks.
        if outcome.failed or arguments.blocks is not None or (blocks := _more(campaign.folder)) is None:
            return _holes(outcome, campaign.folder)
        campaign = extend_campaign(campaign.folder.path, blocks=blocks, report=say)


def _pool(campaign: "Campaign", arguments: RunArguments) -> "Pool":
    folder = campaign.folder
    if arguments.engine == "ray":
        from h123.execution import RayPool

        wall = any(trial.parameters.clock == "wall" for trial in campaign.plan.blocks[0])
        return RayPool(folder.arrivals, arguments.address, blocks=len(campaign.plan.blocks), wall=wall)
    from h123.execution import LocalPool

    return LocalPool(folder.arrivals, folder.tls)


def _more(folder: "CampaignFolder") -> int | None:
    """Return the next number of blocks according to the campaign's stopping rule, or None to stop."""
    if folder.looks:
        from h123.cli.campaigns import requirements

        look = requirements.later_look(folder)
        if look:
            more = f", and {len(look.undecided) - _NAMED} more" if len(look.undecided) > _NAMED else ""
            open_ones = f"{', '.join(look.undecided[:_NAMED])}{more}"
            say(f"Not decided with {folder.blocks} blocks: {open_ones}; continuing to {look.blocks}")
        return look.blocks if look else None
    return _more_for_width(folder, folder.precision) if folder.precision else None


def _more_for_width(folder: "CampaignFolder", width: "Precision") -> int | None:
    from h123.analysis import measure_width
    from h123.analysis.verdicts.width import next_blocks

    progress = measure_width(folder)
    blocks = next_blocks(progress, folder.blocks, width["at_most"])
    if blocks:
        widest = f"up to ±{format_share(progress.widest)}" if progress.widest is not None else "not bounded yet"
        more = f" of probably {progress.blocks}" if progress.blocks and progress.blocks > blocks else ""
        say(f"Intervals are {widest} with {folder.blocks} blocks: continuing to {blocks}{more}")
    return blocks


def _holes(outcome: "Outcome", folder: "CampaignFolder") -> UserError | None:
    """Return an error if trials of the campaign have no valid result."""
    if not outcome.failed:
        return None
    some = ", ".join(outcome.failed[:3]) + (", ..." if len(outcome.failed) > 3 else "")
    return UserError(
        f"{len(outcome.failed)} of {outcome.planned} trials have no valid result: {some}",
        remedy=f"the report says why; the logs are in {folder.path / 'trials'}. Fix the cause, then try again: "
        f"h123 run --out {typed(folder.path)} --retry",
        status=1,
    )
