"""Defines the arguments of `h123 run`, and checks for contradictions among them or with an existing campaign."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.cli.answer_form import AnswerForm

if TYPE_CHECKING:
    from h123.campaign import DraftedStudy
    from h123.documents.shard import Shard
    from h123.store import CampaignFolder


@dataclass(frozen=True)
class RunArguments:
    study: str | None = None
    draft: "DraftedStudy | None" = None
    """A study without a file. If there is one, a new campaign runs it instead of `study`."""
    out: Path | None = None
    blocks: int | None = None
    seed: int | None = None
    level_filter: dict[str, list[str]] = field(default_factory=dict)
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
    shard: "Shard | None" = None
    trust: bool = False
    engine: str = "local"
    address: str | None = None
    resume: str | None = None
    """The command that resumes the campaign. None: `h123 run --out DIR`."""
    interim: bool = True
    """Whether to show estimates while the campaign runs."""
    form: AnswerForm = AnswerForm.SCREEN
    most_lines: int = 30
    """The maximum number of lines of an answer on one screen."""


def check(arguments: RunArguments) -> "CampaignFolder | None":
    """Return the campaign in the folder `arguments.out`, or None if there is none. Raises UserError if the campaign
    cannot continue with these arguments, or if no campaign can start in the folder."""
    from h123.store import check_new

    there = campaign_in(arguments.out)
    _check(arguments, there)
    if arguments.out and there is None:
        check_new(arguments.out)
    return there


def _check(arguments: RunArguments, there: "CampaignFolder | None") -> None:
    """Refuse arguments that contradict each other or the existing campaign."""
    if arguments.address is not None and arguments.engine != "ray":
        raise UserError("--address needs --engine ray", remedy="add --engine ray, or leave --address out")
    if arguments.retry and there is None:
        raise UserError(
            "--retry runs failed trials of an existing campaign again", remedy="name the campaign's folder with --out"
        )
    rules = ["--until-decided"] * arguments.until_decided + ["--precision"] * (arguments.precision is not None)
    if rules and (arguments.shard or (there and there.shard)):
        raise UserError(
            f"{rules[0]} needs all blocks to decide when to stop, but a shard has only some of them",
            remedy="run a fixed number of blocks (--blocks), join the shards, and add blocks if necessary",
        )
    if len(rules) > 1:
        raise UserError("--until-decided and --precision cannot be combined: each decides when the campaign ends")
    if not rules:
        if arguments.max_blocks is not None:
            raise UserError(
                "--max-blocks needs --until-decided or --precision",
                remedy="use --blocks to run a fixed number of blocks",
            )
        return
    (rule,) = rules
    if arguments.blocks is not None:
        raise UserError(f"--blocks and {rule} cannot be combined", remedy="--max-blocks N limits the blocks")
    if there and not _began_so(arguments, there):
        raise UserError(
            f"{rule} must be given when a campaign starts: {arguments.out} started without it, or with another value",
            remedy="choose another folder with --out, or add blocks with --blocks, which makes the test stricter",
        )


def _began_so(arguments: RunArguments, folder: "CampaignFolder") -> bool:
    if arguments.until_decided:
        return bool(folder.looks)
    limits = (None, folder.precision["at_most"]) if folder.precision else ()
    return (
        folder.precision is not None
        and folder.precision["wanted"] == arguments.precision
        and arguments.max_blocks in limits
    )


def campaign_in(out: Path | None) -> "CampaignFolder | None":
    from h123.store import CampaignFolder

    return CampaignFolder.open(out) if out and (out / "campaign.json").exists() else None


def of_another_study(out: Path) -> UserError:
    """Return the error for a folder that holds a campaign of another study."""
    return UserError(
        f"{out} holds a campaign of another study, or of an earlier version of this study",
        remedy=f"resume that campaign with `h123 run --out {typed(out)}`, or choose another folder",
    )
