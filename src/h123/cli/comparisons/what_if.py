"""`h123 what-if`: reruns a campaign's trials with one change at a time, and shows what each change does."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.base.terminal.console import out_console, say
from h123.base.units import counted, format_span
from h123.cli.answer_form import DetailsOption, JsonOption, QuietOption, answer_form
from h123.cli.options import (
    AddressOption,
    EngineOption,
    FilterOption,
    JobsOption,
    ShardOption,
    TrustOption,
    read_shard,
)

if TYPE_CHECKING:
    from h123.campaign import DraftedStudy
    from h123.store import CampaignFolder

BLOCKS = 6
"""The default number of blocks, the fewest for which intervals have 95 % confidence."""
LINES = 15
"""The maximum number of lines of the answer."""
EVERY = "all"
"""The value of --change that makes every change that can make a difference."""
COMBINED = 2
"""The largest number of changes to make in all combinations, if the user names no change."""


def command(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Folder of a finished campaign.", show_default=False)
    ] = None,
    levels: FilterOption = None,
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="A/B",
            help="Explain the difference between these two levels, such as h3/h2. [default: the campaign's first pair]",
            show_default=False,
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Change to make; 'all' stands for every change that can matter. Can be repeated. [default: the "
            "changes that act on the causes that `h123 why` finds]",
            show_default=False,
        ),
    ] = None,
    losses_of: Annotated[
        str | None,
        typer.Option(
            metavar="TRIAL",
            help="Instead, rerun this trial once for each lost packet, without that one loss, and show which losses "
            "cost most.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List all changes that h123 can make, and exit.")] = False,
    blocks: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Repeat the campaign's first N blocks, and add blocks if it has fewer."),
    ] = BLOCKS,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the new campaign. [default: DIR-what-if]", show_default=False),
    ] = None,
    jobs: JobsOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    shard: ShardOption = None,
    trust: TrustOption = False,
    details: DetailsOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Rerun a campaign's trials with one change at a time, and show what share of a difference each change removes.

    Under the virtual clock, a trial repeats exactly, so the change is the only difference. h123 changes the link (no
    losses, half the delay), the sender (initial window, pacing) or the client (connections, sessions). It tries each
    change alone, the two most important ones together, and all together (docs/what-if.md).

    The new campaign gets a folder of its own. After Ctrl-C or a crash, the same command resumes it.

    Examples:

    `h123 what-if campaigns/quick --filter network=poor`

    `h123 what-if campaigns/quick --change no-loss --change window-32`
    """
    form = answer_form(details=details, quiet=quiet, as_json=as_json)
    if show:
        _list()
        return
    if folder is None:
        raise UserError("no campaign given", remedy="name its folder: h123 what-if campaigns/NAME")
    if losses_of is not None:
        from h123.cli.comparisons.loss_costs import show_losses

        show_losses(folder, losses_of, jobs)
        return
    from h123.campaign import check_wanted
    from h123.cli.campaigns.run import run
    from h123.cli.campaigns.run_arguments import RunArguments, campaign_in
    from h123.cli.campaigns.trust import require_trust
    from h123.store import CampaignFolder
    from h123.study import Study

    campaign = CampaignFolder.open(folder)
    require_trust(campaign.study.get("servers", {}), folder, own=False, trusted=trust)
    new = out or folder.with_name(f"{folder.resolve().name}-what-if")
    choice = Choice(levels or [], pair or campaign.study["compare"]["pairs"][0], change or [])
    wanted = [] if choice.every else choice.changes
    check_wanted(Study.from_resolved(campaign.study, campaign.networks), choice.pair, wanted)
    if new.resolve() == folder.resolve():
        raise UserError(f"--out {new}: that is the campaign itself", remedy="choose another folder")
    there = campaign_in(new)
    if there and not there.study.get("made_by", "").startswith(choice.command(folder)):
        raise UserError(
            f"{new} holds a campaign that was begun with other options",
            remedy=f"resume it with `h123 run --out {typed(new)}`, or choose another folder with --out",
        )
    if there:
        done = {event["trial"] for event in there.events() if event["event"] == "trial" and event["valid"]}
        say(f"Resuming {typed(new)}, which has {counted(len(done), 'valid trial')}")
    arguments = RunArguments(
        draft=None if there else choice.draft(campaign, blocks, jobs),
        out=new,
        blocks=blocks,
        jobs=jobs,
        trust=True,
        engine=engine,
        address=address,
        shard=read_shard(shard),
        form=form,
        most_lines=LINES,
    )
    raise typer.Exit(run(arguments))


@dataclass(frozen=True)
class Choice:
    """What the user asked for: the levels to run, the pair to explain, and the changes to make."""

    levels: list[str]
    pair: str
    changes: list[str]

    def command(self, folder: Path) -> str:
        """Return the start of the command that makes this choice, which lacks only the number of blocks."""
        options = [f"--pair {self.pair}", *(f"--filter {level}" for level in self.levels)]
        options += [f"--change {name}" for name in self.changes]
        return f"h123 what-if {typed(folder)} {' '.join(options)} --blocks "

    @property
    def every(self) -> bool:
        return EVERY in self.changes

    def draft(self, folder: "CampaignFolder", blocks: int, jobs: int | None) -> "DraftedStudy":
        """Return the draft of the new campaign, and say what it will run. Raises UserError."""
        from h123.analysis import analyse, leading_changes
        from h123.campaign import what_if
        from h123.execution import Jobs, this_machine
        from h123.study import make_plan, parse_filter
        from h123.study.interventions import BY_NAME, FACTOR, MOST_COMBINED

        selection = parse_filter(self.levels)
        leading = leading_changes(analyse(folder), self.pair, selection)
        likely = [] if self.changes else leading
        draft, asked = what_if(
            folder,
            selection,
            self.pair,
            wanted=[] if self.every else self.changes or likely,
            combined=leading,
            most_combined=COMBINED if likely else MOST_COMBINED,
            made_by=f"{self.command(folder.path)}{blocks}",
        )
        plan = make_plan(asked.study, blocks=blocks, seed=draft.seed, level_filter=asked.level_filter)
        changes = len([name for name in asked.study.factors[FACTOR] if name in BY_NAME])
        rule = Jobs.at(plan, jobs, this_machine())
        span = rule.span(rule.order(plan.blocks), lambda trial: rule.estimates[trial.id])
        trials = f"{counted(len(plan.trials()), 'trial')} in {counted(blocks, 'block')}"
        say(
            f"Making {counted(changes, 'change')} and combinations: {trials}, about {format_span(span)} on this machine"
        )
        if blocks > folder.blocks:
            why = f"; fewer than {BLOCKS} give no intervals with 95 % confidence" if blocks == BLOCKS else ""
            had = f"The campaign has only {counted(folder.blocks, 'block')}, so h123 adds {blocks - folder.blocks}"
            say(f"{had}{why}. --blocks {folder.blocks} repeats only the campaign's own")
        for name, reason in asked.refused.items():
            say(f"Left out: {name}, because {reason}")
        if likely and asked.others:
            say(f"Not made, because they act on none of the causes here (--change all): {', '.join(asked.others)}")
        return draft


def _list() -> None:
    from h123.study.interventions import CANNOT, INTERVENTIONS

    for each in INTERVENTIONS:
        out_console.print(f"  {each.name:<18} What if {each.words}?", soft_wrap=True)
    out_console.print("h123 cannot change:")
    for what, why in CANNOT.items():
        out_console.print(f"  {what}: {why}", soft_wrap=True)
