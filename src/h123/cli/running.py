"""`h123 run`: a campaign is begun or gone on with, runs until what ends it, and is analysed.

What ends it: the blocks that are planned; or the look that decides what is asked (`--until-decided`); or intervals that
are narrow enough (`--precision`). Analysis and report are imported late: their libraries take long to load.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from h123.base.errors import Interrupted, UserError
from h123.base.interruption import interruptible
from h123.base.limits import FULL
from h123.base.paths import typed
from h123.base.terminal.console import err_console, out_console, say
from h123.base.units import format_share
from h123.campaign import Campaign, Outcome, extend_campaign, run_campaign, start_campaign
from h123.cli.trust import is_own, require_trust
from h123.cli.vouching import vouching
from h123.documents.campaign_file import Width
from h123.execution import LocalPool
from h123.progress import Display, display_for
from h123.store import CampaignFolder, check_new
from h123.study import find_study, load_study

if TYPE_CHECKING:
    from h123.progress.exposition import Exposition


@dataclass(frozen=True)
class Asked:
    """The arguments of `h123 run`."""

    study: str | None = None
    out: Path | None = None
    blocks: int | None = None
    seed: int | None = None
    only: dict[str, list[str]] = field(default_factory=dict)
    scale: float | None = None
    clock: str | None = None
    transport: str | None = None
    jobs: int | None = None
    retry: bool = False
    until_decided: bool = False
    precision: float | None = None
    max_blocks: int | None = None
    allow_unverified: bool = False
    metrics_listen: str | None = None
    trust: bool = False


def run(asked: Asked) -> int:
    """All of it; the exit status, which is another than 0 where what the study requires does not hold, or is not known.
    What has been measured is kept, whatever happens. Raises Interrupted, UserError."""
    there = check(asked)
    exposition = _exposition(asked.metrics_listen)
    campaign = _resume(asked, there) if there else _begin(asked)
    folder, resume = campaign.folder, f"h123 run --out {typed(campaign.folder.path)}"
    try:
        with folder.alone(), interruptible(), _watched(campaign, exposition) as display:
            outcome = _run_to_its_end(campaign, asked, display)
            status = conclude(CampaignFolder.open(folder.path))
    except KeyboardInterrupt:
        say(f"\nInterrupted. Finished trials are kept. Resume with:\n  {resume}")
        raise Interrupted from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        message = f"{error.filename or folder.path}: {FULL[error.errno]}. The campaign pauses; finished trials are kept"
        raise UserError(message, remedy=f"free some space, then resume with:\n  {resume}", status=1) from None
    _complain(outcome, folder)
    return status


def check(asked: Asked) -> CampaignFolder | None:
    """The campaign that is in its folder, if any. Raises UserError where it cannot go on, or none can begin there."""
    there = begun_in(asked.out)
    _check(asked, there)
    if asked.out and there is None:
        check_new(asked.out)
    return there


def conclude(folder: CampaignFolder) -> int:
    """Analyse a campaign, write its report and print the answer, first of all what became of what its study requires;
    the exit status of that."""
    from h123.cli import gating
    from h123.report import print_summary, write_report

    say("Analysing ...")
    found = gating.Held(folder, gating.required(folder))
    say("Writing the report ...")
    path = write_report(folder)
    print_summary(found.verdicts, out_console, folder.path)
    out_console.print(f"Report: {path}", soft_wrap=True)
    gating.written(found.files)
    return found.status


def _check(asked: Asked, there: CampaignFolder | None) -> None:
    """Refuse what contradicts itself, or the campaign that is there."""
    if asked.retry and there is None:
        raise UserError("--retry tries trials of a campaign again", remedy="name the campaign's folder with --out")
    rules = ["--until-decided"] * asked.until_decided + ["--precision"] * (asked.precision is not None)
    if len(rules) > 1:
        raise UserError("--until-decided and --precision exclude each other: each says when the campaign ends")
    if not rules:
        if asked.max_blocks is not None:
            raise UserError(
                "--max-blocks goes with --until-decided or --precision",
                remedy="use --blocks to run a fixed number of blocks",
            )
        return
    (rule,) = rules
    if asked.blocks is not None:
        raise UserError(f"--blocks and {rule} exclude each other", remedy="--max-blocks N limits the blocks")
    if there and not _began_so(asked, there):
        raise UserError(
            f"{rule} must be there from the start: {asked.out} was begun without it, or with another value",
            remedy="choose another folder with --out; or add blocks with --blocks, for which a stricter rule holds",
        )


def _began_so(asked: Asked, folder: CampaignFolder) -> bool:
    if asked.until_decided:
        return bool(folder.looks)
    limits = (None, folder.width["at_most"]) if folder.width else ()
    return folder.width is not None and folder.width["wanted"] == asked.precision and asked.max_blocks in limits


def begun_in(out: Path | None) -> CampaignFolder | None:
    """The campaign that is there, if any."""
    return CampaignFolder.open(out) if out and (out / "campaign.json").exists() else None


def of_another_study(out: Path) -> UserError:
    """What is in the folder."""
    return UserError(
        f"{out} holds a campaign of another study, or of an earlier version of this study",
        remedy=f"resume that campaign with `h123 run --out {typed(out)}`, or choose another folder",
    )


def _resume(asked: Asked, folder: CampaignFolder) -> Campaign:
    out, begun = folder.path, folder.study.get("scale", 1.0)
    require_trust(folder.study.get("servers", {}), out, own=False, given=asked.trust)
    settled = {name: folder.study["settings"].get(name) for name in ("clock", "transport")}
    written = None if asked.study is None else load_study(find_study(asked.study)).scaled(begun).settled(**settled)
    if written and written.resolved() != folder.study:
        raise of_another_study(out)
    kept = (
        ("--seed", asked.seed, folder.seed),
        ("--filter", asked.only or None, folder.only),
        ("--scale", asked.scale, begun),
        ("--clock", asked.clock, settled["clock"] or "wall"),
        ("--transport", asked.transport, settled["transport"] or "deployed"),
    )
    for option, given, had in kept:
        if given is not None and given != had:
            raise UserError(
                f"{option} cannot change: the campaign in {out} was started with another value",
                remedy=f"leave {option} out to resume it, or choose another folder with --out",
            )
    return extend_campaign(out, blocks=asked.blocks, report=say, networks=written.networks if written else None)


def _begin(asked: Asked) -> Campaign:
    if asked.study is None:
        there = "" if asked.out is None else f", and there is no campaign in {asked.out} to resume"
        raise UserError(
            f"no study given{there}",
            remedy="`h123 run quick` runs the study quick; `h123 list studies` lists all studies",
        )
    path = find_study(asked.study)
    servers = load_study(path).resolved().get("servers", {})
    require_trust(servers, path, own=is_own(path), given=asked.trust)
    looks, width, blocks = _rule(asked)
    return start_campaign(
        path,
        asked.out or Path("campaigns") / f"{path.stem}-{dt.datetime.now():%Y%m%d-%H%M%S}",
        blocks=blocks,
        seed=asked.seed,
        only=asked.only,
        scale=1.0 if asked.scale is None else asked.scale,
        clock=asked.clock,
        transport=asked.transport,
        vouch=vouching(unverified=asked.allow_unverified),
        looks=looks,
        width=width,
        report=say,
    )


def _rule(asked: Asked) -> tuple[list[int], Width | None, int | None]:
    """The looks that a new campaign is planned with, the width that it is to have, and its first blocks."""
    if asked.until_decided:
        from h123.analysis import plan_looks

        looks = plan_looks(asked.max_blocks)
        return looks, None, looks[0]
    if asked.precision is not None:
        from h123.analysis.verdicts.width import FIRST

        return [], {"wanted": asked.precision, "at_most": asked.max_blocks}, min(FIRST, asked.max_blocks or FIRST)
    return [], None, asked.blocks


def _exposition(address: str | None) -> "Exposition | None":
    """What is to tell of the campaign from afar; late, for few ask for it and its library takes long to load."""
    if address is None:
        return None
    from h123.progress.exposition import Exposition, Listening

    return Exposition(Listening.read(address))


@contextmanager
def _watched(campaign: Campaign, exposition: "Exposition | None") -> Iterator[Callable[[], Display]]:
    """What makes a display for each stretch of the campaign; what it shows is told from afar too, if that is asked."""
    if exposition is None:
        yield lambda: display_for(err_console)
        return
    with exposition.of(campaign.plan.study.name, campaign.folder.path):
        say(f"Metrics, while it runs: {exposition.url}")
        yield lambda: exposition.beside(display_for(err_console))


def _run_to_its_end(campaign: Campaign, asked: Asked, display: Callable[[], Display]) -> Outcome:
    """Run what is planned, and go on as long as the campaign's rule says so."""
    while True:
        pool = LocalPool(campaign.folder.arrivals, campaign.folder.roots)
        outcome = run_campaign(campaign, pool, display(), asked.jobs, retry=asked.retry)
        # Whoever names the blocks has said when it ends.
        if outcome.failed or asked.blocks is not None or (blocks := _more(campaign.folder)) is None:
            return outcome
        campaign = extend_campaign(campaign.folder.path, blocks=blocks, report=say)


def _more(folder: CampaignFolder) -> int | None:
    """The number of blocks to go on to, by the campaign's rule."""
    if folder.looks:
        from h123.cli import gating

        if blocks := gating.later_look(folder):
            say(f"Not decided with {folder.blocks} blocks: going on to {blocks}")
        return blocks
    return _more_for_width(folder, folder.width) if folder.width else None


def _more_for_width(folder: CampaignFolder, width: Mapping[str, Any]) -> int | None:
    from h123.analysis import measure_width
    from h123.analysis.verdicts.width import next_blocks

    found = measure_width(folder)
    blocks = next_blocks(found, folder.blocks, width["at_most"])
    if blocks:
        reached = f"up to ±{format_share(found.widest)}" if found.widest is not None else "not bounded yet"
        more = f" of about {found.blocks} that seem needed" if found.blocks and found.blocks > blocks else ""
        say(f"Intervals are {reached} with {folder.blocks} blocks: going on to {blocks}{more}")
    return blocks


def _complain(outcome: Outcome, folder: CampaignFolder) -> None:
    """A campaign with holes ends with a non-zero status, after everything it has was shown."""
    if outcome.failed:
        some = ", ".join(outcome.failed[:3]) + (", ..." if len(outcome.failed) > 3 else "")
        raise UserError(
            f"{len(outcome.failed)} of {outcome.planned} trials have no valid result: {some}",
            remedy=f"the report says why; the logs are in {folder.path / 'trials'}. Fix the cause, then try again: "
            f"h123 run --out {typed(folder.path)} --retry",
            status=1,
        )
