"""The commands about campaigns: run, plan, analyse, report, why, show, export and import.

What measures, reads results, analyses and reports is imported by the commands that need it (see h123.cli).
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.base.terminal.console import out_console, write
from h123.cli import completion
from h123.cli.damage import complain_of_damage
from h123.cli.options import (
    BlocksOption,
    ClockOption,
    FilterOption,
    FolderArgument,
    ForceOption,
    JobsOption,
    ScaleOption,
    SeedOption,
    StudyArgument,
    TransportOption,
    share,
)
from h123.cli.signals import held_back

app = typer.Typer()


class Format(StrEnum):
    """What `h123 export` can write."""

    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"
    SCORECARD = "scorecard"


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
    levels: FilterOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    jobs: JobsOption = None,
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
            help="Look after 8, 12, 16, 20 and 30 blocks, and stop as soon as the question is decided, or what the "
            "study requires.",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Run until every interval that answers the question (of the study's first family) is as narrow as ±W. "
            "5% means: from its middle / 1.05 to its middle x 1.05. Begins with 10 blocks and says how many seem "
            "needed; where these are more than 200 it ends, unless --max-blocks allows more.",
            show_default=False,
        ),
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option(
            "--max-blocks",
            metavar="N",
            min=8,
            help="With --until-decided or --precision: no more than N blocks.",
            show_default=False,
        ),
    ] = None,
    allow_unverified: Annotated[
        bool,
        typer.Option(
            "--allow-unverified", help="Measure subjects that failed `h123 verify` too; the report says so at its top."
        ),
    ] = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Start the programs of a campaign or study that somebody else made. Without it h123 shows them and "
            "asks.",
        ),
    ] = False,
    metrics_listen: Annotated[
        str | None,
        typer.Option(
            "--metrics-listen",
            metavar="[HOST]:PORT",
            help="Tell Prometheus how far the campaign is, at http://127.0.0.1:PORT/metrics while it runs "
            "(docs/watching.md).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a study, analyse it and write its report.

    Ctrl-C, a crash or a full disk loses at most the trials in progress: `h123 run --out DIR` resumes where it stopped.
    To add blocks to a finished campaign, use `h123 run --out DIR --blocks N`; each such look at the data makes the next
    one stricter, so if you do not know how many blocks it takes, start with `--until-decided` instead, or with
    `--precision 5%` if you want to know how large a difference is.

    Where the study requires something (`require: ["latency new/base <= 1.05"]`), the exit status says what became of
    it: 0 it holds, 99 it does not, 98 undecided (docs/compare.md).
    """
    with held_back():
        from h123.cli import running
        from h123.study import parse_only

    asked = running.Asked(
        study=study,
        out=out,
        blocks=blocks,
        seed=seed,
        only=parse_only(levels or []),
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
    )
    raise typer.Exit(running.run(asked))


@app.command()
def plan(
    study: StudyArgument,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    levels: FilterOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    jobs: JobsOption = None,
    spread: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            parser=share,
            help="Standard deviation of a ratio from block to block, such as 10%. [default: published campaigns']",
            show_default=False,
        ),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            parser=share,
            help="The difference to be found, such as 10%. [default: the study's margin]",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Also say how many blocks `run --precision W` would take.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show what `run` would do, without running it: treatments, trials, order, estimated time and bytes.

    And what the blocks buy: how narrow the intervals will be, and how likely each family of comparisons is to find a
    difference of a given size, by the spread that published campaigns had between blocks (docs/statistics.md).
    """
    from h123.campaign import cast_of, lacking, likeness
    from h123.cli import listing
    from h123.cli.foresight import print_foresight
    from h123.cli.vouching import proof_lines, proofs_of
    from h123.execution import Jobs, this_machine
    from h123.study import find_study, load_study, make_plan, parse_only

    asked = load_study(find_study(study)).scaled(1.0 if scale is None else scale)
    asked = asked.settled(clock=clock, transport=transport)
    planned = make_plan(asked, blocks=blocks, seed=seed, only=parse_only(levels or []))
    cast = cast_of(planned)  # refuses what `run` would refuse
    listing.print_plan(planned, Jobs.at(planned, jobs, this_machine()), out_console)
    for line in proof_lines(proofs_of(cast)):
        write(out_console, line)
    for found in likeness(planned):
        write(out_console, f"Transport {found.said}")
    for condition in planned.study.require:
        write(out_console, f"Required: {condition}")
    print_foresight(planned, out_console, effect=effect, spread=spread, width=precision)
    if first := lacking(planned):
        out_console.print(f"Note: {first.message}; {first.remedy}", soft_wrap=True)


@app.command(name="analyse")
def analyse_command(folder: FolderArgument) -> None:
    """Reanalyse a campaign from its raw samples, write verdicts.json and print the answer."""
    from h123.cli import gating
    from h123.report import print_summary
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    print_summary(gating.Held(campaign, gating.standing(campaign)).verdicts, out_console, folder)
    complain_of_damage(campaign)


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
    from h123.cli import gating
    from h123.report import write_report
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    gating.Held(campaign, gating.standing(campaign))
    out_console.print(str(write_report(campaign, beside)), soft_wrap=True)
    complain_of_damage(campaign)


@app.command()
def why(
    folder: FolderArgument,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="FACTOR=LEVEL[,LEVEL]",
            help="Show only these levels of a factor. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    limits: Annotated[
        bool,
        typer.Option(
            "--limits",
            help="Instead: a table in Markdown of what limited each treatment: a processor, a window or the link.",
        ),
    ] = False,
) -> None:
    """Say what the time of the requests, or of the pages, was spent on, and which parts make the difference.

    Told from the packets that each trial recorded at its link (docs/why.md). Over a plain veth, which records none,
    --limits tells which processor was the limit.
    """
    from h123.analysis import analyse, bottlenecks, gather
    from h123.report import limits_lines, print_causes
    from h123.store import CampaignFolder
    from h123.study import Study, make_plan, parse_only

    campaign, chosen = CampaignFolder.open(folder), parse_only(levels or [])
    study = Study.from_resolved(campaign.study)
    make_plan(study, blocks=1, only=chosen)  # refuses what the study does not have
    if limits:
        for line in limits_lines(bottlenecks(gather(campaign)), study, chosen):
            out_console.print(line, soft_wrap=True)
    else:
        print_causes(analyse(campaign), out_console, chosen)
    complain_of_damage(campaign)


@app.command()
def show(
    folder: FolderArgument,
    trials: Annotated[
        list[str],
        typer.Argument(
            metavar="TRIAL",
            help="Trial, such as b01-t01-medium-h2; with ~1 its first attempt, otherwise the one that counts. A second "
            "trial is shown on the same axes.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Page to write. [default: FOLDER/show/TRIAL.html]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Show what happened in one trial, or two side by side, over time: one page, which opens offline.

    Requests, throughput, bytes in flight, windows, round trips, queue, losses and sequence numbers (docs/show.md).
    """
    from h123.base.files.output import check_output
    from h123.report.trial_view import choose, write_closeup
    from h123.store import CampaignFolder

    if out:
        check_output(out, force=force)
    campaign = CampaignFolder.open(folder)
    chosen = choose(campaign, trials)
    page = out or campaign.path / "show" / f"{'+'.join(each.name for each in chosen)}.html"
    write_closeup(campaign, chosen, page, force=force or out is None)
    out_console.print(str(page), soft_wrap=True)


@app.command(name="export")
def export_command(
    folder: FolderArgument,
    format: Annotated[Format, typer.Option(help="File format.")] = Format.CSV,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: FOLDER/export]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Export all samples and all attempts, with the metrics of those that count, for use in other tools.

    As scorecard: what curl's scorecard.py writes with --json, a file for each client, server and network.
    """
    from h123.measures import export
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    for path in export(campaign, format.value, out or campaign.path / "export", force=force or out is None):
        out_console.print(str(path), soft_wrap=True)
    complain_of_damage(campaign)


@app.command(name="import")
def import_command(
    files: Annotated[list[Path], typer.Argument(help="Files with samples.", show_default=False)],
    schema: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="What the columns mean: a tool (autocannon, fortio, h2load, jmeter, k6, k6-csv, locust, nighthawk, "
            "oha, scorecard), or the path of a YAML file.",
            autocompletion=completion.schemas,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the new campaign.")],
    redirects: Annotated[
        Literal["failed", "left-out"] | None,
        typer.Option(
            help="What becomes of answers that send the client elsewhere (301, 302, ...). Default: what the schema "
            "says.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Import samples measured with another tool, analyse them and write a report.

    Nothing is made up: audits that need something the files do not record (link, CPU, order...) are skipped, and the
    summary says what is missing as a result. See docs/import.md for an example.
    """
    from h123.cli.running import conclude
    from h123.store import import_samples
    from h123.study import load_schema

    conclude(import_samples(files, load_schema(schema, redirects), out))
