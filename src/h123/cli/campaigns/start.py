"""Starts or resumes the campaign of `h123 run`."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.errors import UserError
from h123.base.terminal.console import say
from h123.cli.campaigns.run_arguments import RunArguments, of_another_study

if TYPE_CHECKING:
    from h123.campaign import Campaign
    from h123.documents.campaign_file import Precision
    from h123.store import CampaignFolder


def resume_campaign(arguments: RunArguments, folder: "CampaignFolder") -> "Campaign":
    """Open the campaign in the folder to continue it. Raises UserError if the arguments contradict it."""
    from h123.campaign import extend_campaign
    from h123.cli.campaigns.trust import require_trust
    from h123.study import find_study, load_study

    out, scale = folder.path, folder.study.get("scale", 1.0)
    require_trust(folder.study.get("servers", {}), out, own=False, trusted=arguments.trust)
    settled = {name: folder.study["settings"].get(name) for name in ("clock", "transport")}
    settings = (
        None if arguments.study is None else load_study(find_study(arguments.study)).scaled(scale).settled(**settled)
    )
    if settings and settings.resolved() != folder.study:
        raise of_another_study(out)
    fixed = (
        ("--seed", arguments.seed, folder.seed),
        ("--filter", arguments.level_filter or None, folder.level_filter),
        ("--scale", arguments.scale, scale),
        ("--clock", arguments.clock, settled["clock"] or "wall"),
        ("--transport", arguments.transport, settled["transport"] or "deployed"),
        ("--shard", arguments.shard, folder.shard),
    )
    for option, value, had in fixed:
        if value is not None and value != had:
            raise UserError(
                f"{option} cannot change: the campaign in {out} was started with a different value",
                remedy=f"leave {option} out to resume it, or choose another folder with --out",
            )
    return extend_campaign(out, blocks=arguments.blocks, report=say, networks=settings.networks if settings else None)


def begin_campaign(arguments: RunArguments) -> "Campaign":
    """Create the campaign. Raises UserError if it cannot start."""
    from h123.campaign import start_campaign
    from h123.cli.campaigns.trust import is_own, require_trust
    from h123.cli.campaigns.verification_gate import verification_gate
    from h123.study import find_study, load_study

    if arguments.draft:
        return start_campaign(
            arguments.draft,
            arguments.out or Path("campaigns") / arguments.draft.study.name,
            blocks=arguments.blocks,
            seed=arguments.draft.seed,
            level_filter=arguments.draft.level_filter,
            vouch=verification_gate(allow_unverified=arguments.allow_unverified),
            shard=arguments.shard,
            report=say,
        )
    if arguments.study is None:
        there = "" if arguments.out is None else f", and there is no campaign in {arguments.out} to resume"
        raise UserError(
            f"no study given{there}",
            remedy="`h123 run quick` runs the study quick; `h123 list studies` lists all studies",
        )
    path = find_study(arguments.study)
    servers = load_study(path).resolved().get("servers", {})
    require_trust(servers, path, own=is_own(path), trusted=arguments.trust)
    looks, width, blocks = _rule(arguments)
    return start_campaign(
        path,
        arguments.out or Path("campaigns") / f"{path.stem}-{dt.datetime.now():%Y%m%d-%H%M%S}",
        blocks=blocks,
        seed=arguments.seed,
        level_filter=arguments.level_filter,
        scale=1.0 if arguments.scale is None else arguments.scale,
        clock=arguments.clock,
        transport=arguments.transport,
        vouch=verification_gate(allow_unverified=arguments.allow_unverified),
        looks=looks,
        precision=width,
        shard=arguments.shard,
        report=say,
    )


def _rule(arguments: RunArguments) -> "tuple[list[int], Precision | None, int | None]":
    """Return a new campaign's stopping rule (its planned looks, or the interval width to reach), and the number of
    blocks to start with."""
    if arguments.until_decided:
        from h123.analysis import plan_looks

        looks = plan_looks(arguments.max_blocks)
        return looks, None, looks[0]
    if arguments.precision is not None:
        from h123.analysis.verdicts.width import FIRST

        return (
            [],
            {"wanted": arguments.precision, "at_most": arguments.max_blocks},
            min(FIRST, arguments.max_blocks or FIRST),
        )
    return [], None, arguments.blocks
